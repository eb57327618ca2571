/*
 * Lay out a process as a minidump, the format of Breakpad and Crashpad. It has
 * the registers and stacks of the threads, and the build IDs of mapped files:
 *
 *	header		number of streams, offset of the directory
 *	directory	type, size and offset of each stream
 *	contexts	registers of the threads
 *	modules		their names in UTF-16, and their build IDs
 *	streams
 *	stacks
 *	all memory, in a full minidump
 *
 * All numbers are little-endian. The names of streams and members are those of
 * Microsoft's minidumpapiset.h; Breakpad added the streams of Linux.
 */
#include "bisect.h"
#include "minidump.h"
#include "record/record.h"
#include "vec.h"
#include "model.h"

enum {
	MAX_STREAMS = 11,
	THREAD = 48,		/* bytes of an entry of the thread list */
	STACK_MAX = 1024 * KB,	/* bytes of a stack from the stack pointer on */
	RED_ZONE = 128		/* bytes below it that a function may use */
};

/*
 * Choose the memory of thread number i, whose stack pointer is sp: from the red
 * zone to the end of the mapping, but at most STACK_MAX bytes.
 */
static int
stack_choose(struct dump *d, size_t i, uint64_t sp)
{
	const struct coreloads *all = &d->all;
	const struct vma *v = vmas_find(d->v, sp);
	const struct corepart *p;
	struct corepart s;
	uint64_t end;
	size_t k;

	d->stack[i] = SIZE_MAX;
	k = BISECT_WHILE(n, all->npart, all->part[n].addr +
	    (all->part[n].len - 1) < sp);
	if (v == NULL || k == all->npart || all->part[k].addr > sp)
		return 0;
	p = &all->part[k];
	s.addr = sp - p->addr > RED_ZONE ? sp - RED_ZONE : p->addr;
	end = p->addr + p->len;
	if (end > v->end)
		end = v->end;
	s.len = end - s.addr < STACK_MAX ? end - s.addr : STACK_MAX;
	s.off = 0;
	d->stack[i] = d->core->npart;
	return VEC_ADD(d->core->part, d->core->npart, s);
}

/*
 * Add the contexts of all threads, and choose their stacks.
 */
static int
threads_add(struct dump *d, struct image *mem)
{
	enum { SP_AT = 152 };
	const struct taskstate *st;
	struct coreregs regs;
	size_t i;
	int rc;

	d->contexts = d->b->len;
	rc = coreloads_make(&d->all, mem, d->v);
	for (i = 0; rc == 0 && i < d->t->n; i++) {
		if ((st = state_get(d->t->p[i])) == NULL) {
			rc = -1;
			break;
		}
		(void)corearch_regs(d->t->arch, d->t->p[i], st, &regs);
		context_add(d->b, &regs);
		rc = stack_choose(d, i, num_get(regs.gp + SP_AT, 8));
	}
	return rc;
}

/*
 * If a signal ended the first thread in the list, add it.
 */
static void
exception_add(struct dump *d)
{
	enum { PARAMETERS = 15 * 8, ADDRESS = 16 };
	const uint8_t *sig = state_signal(state_get(d->t->p[0]));
	const size_t at = d->b->len;

	if (sig == NULL)
		return;
	num_add(d->b, d->t->p[0]->pid, 4);
	num_add(d->b, 0, 4);
	num_add(d->b, num_get(sig, 4), 4);		/* ExceptionCode */
	num_add(d->b, num_get(sig + 8, 4), 4);		/* ExceptionFlags */
	num_add(d->b, 0, 8);
	num_add(d->b, num_get(sig + ADDRESS, 8), 8);
	add_zeros(d->b, 4 + 4 + PARAMETERS);
	num_add(d->b, CONTEXT, 4);
	num_add(d->b, d->contexts, 4);
	stream_add(d, EXCEPTION, at);
}

static void
system_add(struct dump *d, uint64_t pid)
{
	enum { AMD64 = 9, LINUX = 0x8201, HAS_PID = 1, MISC_SIZE = 24 };
	size_t name, at;

	name = d->b->len;
	string_add(d->b, "Linux");
	pad_add(d->b);
	at = d->b->len;
	num_add(d->b, AMD64, 2);
	add_zeros(d->b, 2 + 2 + 1 + 1 + 4 + 4 + 4);
	num_add(d->b, LINUX, 4);
	num_add(d->b, name, 4);
	add_zeros(d->b, 2 + 2 + 24);
	stream_add(d, SYSTEM_INFO, at);

	at = d->b->len;
	num_add(d->b, MISC_SIZE, 4);
	num_add(d->b, HAS_PID, 4);
	num_add(d->b, pid, 4);
	add_zeros(d->b, MISC_SIZE - 12);
	stream_add(d, MISC_INFO, at);
}

/*
 * Add files of /proc from the Linux record of p.
 */
static int
files_add(struct dump *d, const struct proc *p)
{
	static const struct {
		enum stream	 type;
		const char	*name;
	} files[] = {
		{ LINUX_STATUS, "status" },
		{ LINUX_CMDLINE, "cmdline" },
		{ LINUX_AUXV, "auxv" },
		{ LINUX_MAPS, "maps" }
	};
	struct linuxrec r;
	struct recfile f;
	size_t i, at;

	if (linuxrec_open(&r, proc_file(p, "proc")) == -1)
		return -1;
	for (i = 0; i < sizeof files / sizeof *files; i++)
		if (linuxrec_find(&r, files[i].name, &f)) {
			at = d->b->len;
			buf_add(d->b, f.data, f.len);
			stream_add(d, files[i].type, at);
		}
	linuxrec_close(&r);
	return 0;
}

/*
 * Add the address, length and offset of part p, which may be NULL.
 */
static void
memory_add(struct buf *b, const struct corepart *p)
{
	num_add(b, p == NULL ? 0 : p->addr, 8);
	num_add(b, p == NULL ? 0 : p->len, 4);
	num_add(b, p == NULL ? 0 : p->off, 4);
}

/*
 * Place all memory after the stacks, which end at offset *off, and add its
 * list. Set *off to its end.
 */
static int
memory64_add(struct dump *d, uint64_t *off)
{
	const size_t at = d->b->len;
	struct corepart p;
	size_t i;

	num_add(d->b, d->all.npart, 8);
	num_add(d->b, *off, 8);
	for (i = 0; i < d->all.npart; i++) {
		p = d->all.part[i];
		num_add(d->b, p.addr, 8);
		num_add(d->b, p.len, 8);
		p.off = *off;
		*off += p.len;
		if (VEC_ADD(d->core->part, d->core->npart, p) == -1)
			return -1;
	}
	stream_add(d, MEMORY64_LIST, at);
	return 0;
}

/*
 * Place the stacks after the head, which ends with lists: of the threads, of
 * their stacks and, in a full minidump, of all memory.
 */
static int
stacks_add(struct dump *d)
{
	struct core *c = d->core;
	const size_t threads = d->b->len;
	const size_t size = 4 + d->t->n * THREAD, pad = (8 - size % 8) % 8;
	uint64_t off;
	size_t i, at;

	c->size = threads + size + pad + 4 + c->npart * 16 + 4;
	c->size += (8 - c->size % 8) % 8;
	if (d->full)
		c->size += 16 + d->all.npart * 16;
	for (i = 0, off = c->size; i < c->npart; i++) {
		c->part[i].off = off;
		off += c->part[i].len;
	}
	if (off > UINT32_MAX)
		return errstr_set("its stacks are too large for a minidump");
	num_add(d->b, d->t->n, 4);
	for (i = 0; i < d->t->n; i++) {
		num_add(d->b, d->t->p[i]->pid, 4);
		add_zeros(d->b, 4 + 4 + 4 + 8);	/* SuspendCount to Teb */
		memory_add(d->b, d->stack[i] == SIZE_MAX ? NULL :
		    &c->part[d->stack[i]]);
		num_add(d->b, CONTEXT, 4);
		num_add(d->b, d->contexts + i * CONTEXT, 4);
	}
	stream_add(d, THREAD_LIST, threads);
	at = d->b->len;
	num_add(d->b, c->npart, 4);
	for (i = 0; i < c->npart; i++)
		memory_add(d->b, &c->part[i]);
	stream_add(d, MEMORY_LIST, at);
	if (d->full && memory64_add(d, &off) == -1)
		return -1;
	add_zeros(d->b, (size_t)c->size - d->b->len);
	c->size = off;
	return 0;
}

/*
 * Fill in d, the minidump of process p of s.
 */
static int
dump_fill(struct dump *d, struct snap *s, struct proc *p)
{
	struct header h;

	if (strcmp(d->t->arch->name, "amd64") != 0)
		return errstr_set("minidumps of %s processes are not supported",
		    d->t->arch->name);
	if ((d->stack = mem_new(d->t->n, sizeof *d->stack)) == NULL)
		return -1;
	header_parse(&h, s->header);
	add_zeros(d->b, HEADER + MAX_STREAMS * ENTRY);
	if (threads_add(d, p->mem) == -1 || modules_add(d, p->mem) == -1)
		return -1;
	system_add(d, p->pid);
	exception_add(d);
	if (files_add(d, p) == -1 || stacks_add(d) == -1)
		return -1;
	put_at(d->b, 0, 0x504d444d, 4);		/* "MDMP" */
	put_at(d->b, 4, 0xa793, 4);		/* version */
	put_at(d->b, 8, d->nstream, 4);
	put_at(d->b, 12, HEADER, 4);
	put_at(d->b, 20, h.timed ? h.time : 0, 4);
	return buf_check(d->b);
}

/*
 * Lay out d, the minidump of process p of s.
 */
static int
layout(struct dump d, struct snap *s, struct proc *p)
{
	int rc;

	d.b = &d.core->head;
	d.core->mem = p->mem;
	d.core->page = d.t->page;
	rc = dump_fill(&d, s, p);
	free(d.stack);
	free(d.all.load);
	free(d.all.part);
	return rc;
}

/*
 * Lay out c, the minidump of process p of s. t has the threads of p, and v its
 * mappings.
 */
static int
dump_layout(struct core *c, const struct corethreads *t, struct snap *s,
    struct proc *p, const struct vmas *v)
{
	return layout((struct dump){ .core = c, .t = t, .v = v }, s, p);
}

/*
 * Lay out a minidump with all memory, as dump_layout() does.
 */
static int
full_layout(struct core *c, const struct corethreads *t, struct snap *s,
    struct proc *p, const struct vmas *v)
{
	return layout((struct dump){ .core = c, .t = t, .v = v, .full = true },
	    s, p);
}

/*
 * Build the minidump of process p of s, with all its threads that have
 * registers. Return it as core_new() does. Return NULL with errstr set on
 * failure, for example if p is not an amd64 process.
 */
struct core *
minidump_new(struct snap *s, struct proc *p)
{
	return core_build(s, p, dump_layout);
}

/*
 * Build a minidump with all captured memory, as minidump_new() does.
 */
struct core *
minidump_full(struct snap *s, struct proc *p)
{
	return core_build(s, p, full_layout);
}
