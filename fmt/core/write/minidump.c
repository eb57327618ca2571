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
 *
 * All numbers are little-endian. The names of streams and members are those of
 * Microsoft's minidumpapiset.h; Breakpad added the streams of Linux.
 */
#include "bisect.h"
#include "write.h"
#include "record/record.h"
#include "vec.h"
#include "model.h"

enum {
	HEADER = 32,
	ENTRY = 12,		/* bytes of an entry of the directory */
	MAX_STREAMS = 10,
	CONTEXT = 1232,		/* bytes of an amd64 context */
	THREAD = 48,		/* bytes of an entry of the thread list */
	STACK_MAX = 1024 * KB,	/* bytes of a stack from the stack pointer on */
	RED_ZONE = 128		/* bytes below it that a function may use */
};

enum stream {
	THREAD_LIST = 3,
	MODULE_LIST = 4,
	MEMORY_LIST = 5,
	EXCEPTION = 6,
	SYSTEM_INFO = 7,
	MISC_INFO = 15,
	LINUX_STATUS = 0x47670004,
	LINUX_CMDLINE = 0x47670006,
	LINUX_AUXV = 0x47670008,
	LINUX_MAPS = 0x47670009
};

struct module {			/* a mapped ELF file */
	uint64_t	 base;
	uint64_t	 size;
	size_t		 name;	/* offset of its name */
	size_t		 id;	/* offset of its build ID */
	size_t		 idlen;
};

struct dump {
	struct core	*core;	/* borrowed; core->part has the stacks, in the
				   order of the threads that have one */
	struct buf	*b;	/* borrowed; core->head */
	const struct corethreads *t; /* borrowed */
	const struct vmas *v;	/* borrowed */
	size_t		*stack;	/* owned; index of the part with the stack of
				   each thread, or SIZE_MAX */
	size_t		 contexts; /* offset of the first context */
	size_t		 nstream;
};

static void
add_zeros(struct buf *b, size_t n)
{
	uint8_t *p = buf_room(b, n);

	if (p != NULL) {
		memset(p, 0, n);
		b->len += n;
	}
}

/*
 * Add zeros up to a multiple of eight bytes.
 */
static void
pad_add(struct buf *b)
{
	add_zeros(b, (8 - b->len % 8) % 8);
}

/*
 * Write v at offset at, as a number of n bytes.
 */
static void
put_at(struct buf *b, size_t at, uint64_t v, size_t n)
{
	if (!b->failed)
		num_put(b->data + at, v, n);
}

/*
 * Enter what follows offset at into the directory, as a stream of this type.
 */
static void
stream_add(struct dump *d, enum stream type, size_t at)
{
	const size_t e = HEADER + d->nstream++ * ENTRY;

	put_at(d->b, e, type, 4);
	put_at(d->b, e + 4, d->b->len - at, 4);
	put_at(d->b, e + 8, at, 4);
	pad_add(d->b);
}

/*
 * Add the context of a thread with registers r: Microsoft's CONTEXT of amd64.
 */
static void
context_add(struct buf *b, const struct coreregs *r)
{
	/* offsets of a register in both structures, and its bytes; the second
	   is struct user_regs_struct of <sys/user.h> */
	static const struct { uint16_t to, from, n; } reg[] = {
		{ 0x38, 136, 2 }, { 0x3a, 184, 2 }, { 0x3c, 192, 2 },
		{ 0x3e, 200, 2 }, { 0x40, 208, 2 }, { 0x42, 160, 2 },
		{ 0x44, 144, 4 }, { 0x78, 80, 8 }, { 0x80, 88, 8 },
		{ 0x88, 96, 8 }, { 0x90, 40, 8 }, { 0x98, 152, 8 },
		{ 0xa0, 32, 8 }, { 0xa8, 104, 8 }, { 0xb0, 112, 8 },
		{ 0xb8, 72, 8 }, { 0xc0, 64, 8 }, { 0xc8, 56, 8 },
		{ 0xd0, 48, 8 }, { 0xd8, 24, 8 }, { 0xe0, 16, 8 },
		{ 0xe8, 8, 8 }, { 0xf0, 0, 8 }, { 0xf8, 128, 8 }
	};
	enum { ALL_FLAGS = 0x10000f, FLAGS_AT = 0x30, MXCSR_AT = 0x34,
	    FXSAVE_AT = 0x100 };
	uint8_t c[CONTEXT] = { 0 };
	size_t i;

	num_put(c + FLAGS_AT, ALL_FLAGS, 4);
	for (i = 0; i < sizeof reg / sizeof *reg; i++)
		memcpy(c + reg[i].to, r->gp + reg[i].from, reg[i].n);
	if (r->nfp >= FXSAVE) {
		memcpy(c + FXSAVE_AT, r->fp, FXSAVE);
		memcpy(c + MXCSR_AT, r->fp + 24, 4);
	}
	buf_add(b, c, sizeof c);
}

/*
 * Choose the memory of thread number i, whose stack pointer is sp: from the red
 * zone to the end of the mapping. all has the captured memory.
 */
static int
stack_choose(struct dump *d, size_t i, const struct coreloads *all, uint64_t sp)
{
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
	struct coreloads all = { 0 };
	const struct taskstate *st;
	struct coreregs regs;
	size_t i;
	int rc;

	d->contexts = d->b->len;
	rc = coreloads_make(&all, mem, d->v);
	for (i = 0; rc == 0 && i < d->t->n; i++) {
		if ((st = state_get(d->t->p[i])) == NULL) {
			rc = -1;
			break;
		}
		(void)corearch_regs(d->t->arch, d->t->p[i], st, &regs);
		context_add(d->b, &regs);
		rc = stack_choose(d, i, &all, num_get(regs.gp + SP_AT, 8));
	}
	free(all.load);
	free(all.part);
	return rc;
}

/*
 * Add the name s as a MINIDUMP_STRING. Replace characters other than ASCII.
 */
static void
string_add(struct buf *b, const char *s)
{
	num_add(b, 2 * strlen(s), 4);
	for (; *s != '\0'; s++)
		num_add(b, (uint8_t)*s < 0x80 ? (uint8_t)*s : '?', 2);
	num_add(b, 0, 2);
}

/*
 * If mapping i is the beginning of an ELF file, set *m to the file, add its
 * name and build ID, and return true.
 */
static bool
module_make(struct dump *d, struct image *mem, size_t i, struct module *m)
{
	enum { HEAD = 4096, ELF_ID = 0x4270454c };	/* "LEpB" */
	const struct vma *v = &d->v->v[i];
	uint8_t head[HEAD];
	struct buildid id;
	ssize_t n;

	if (*v->name != '/' || v->off != 0 ||
	    (n = image_readsome(mem, v->start, head, sizeof head)) <= 0 ||
	    buildid_parse(&id, head, (size_t)n) == -1)
		return false;
	m->base = v->start;
	for (; i < d->v->n && strcmp(d->v->v[i].name, v->name) == 0; i++)
		m->size = d->v->v[i].end - m->base;
	m->name = d->b->len;
	string_add(d->b, v->name);
	m->id = d->b->len;
	num_add(d->b, ELF_ID, 4);
	buf_add(d->b, id.id, id.len);
	m->idlen = id.len == 0 ? 0 : d->b->len - m->id;
	return true;
}

/*
 * Add the module list. Readers take the first module for the program.
 */
static int
modules_add(struct dump *d, struct image *mem)
{
	struct module m, *all = NULL;
	size_t i, at, n = 0;
	int rc = 0;

	for (i = 0; i < d->v->n && rc == 0; i++)
		if (mem != NULL && module_make(d, mem, i, &m))
			rc = VEC_ADD(all, n, m);
	pad_add(d->b);
	at = d->b->len;
	num_add(d->b, n, 4);
	for (i = 0; i < n; i++) {
		num_add(d->b, all[i].base, 8);
		num_add(d->b, all[i].size, 4);
		num_add(d->b, 0, 4 + 4);	/* CheckSum, TimeDateStamp */
		num_add(d->b, all[i].name, 4);
		add_zeros(d->b, 52);		/* VersionInfo */
		num_add(d->b, all[i].idlen, 4);
		num_add(d->b, all[i].idlen == 0 ? 0 : all[i].id, 4);
		add_zeros(d->b, 8 + 8 + 8);	/* MiscRecord, reserved */
	}
	stream_add(d, MODULE_LIST, at);
	free(all);
	return rc;
}

/*
 * If a signal ended the first thread in the list, add it.
 */
static void
exception_add(struct dump *d)
{
	enum { PARAMETERS = 15 * 8, ADDRESS = 16 };
	const struct taskstate *st = state_get(d->t->p[0]);
	const uint8_t *sig = st == NULL ? NULL : state_signal(st);
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
 * Place the stacks after the head, which ends with two lists: of the threads,
 * and of their stacks.
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
 * Lay out c, the minidump of process p of s. t has the threads of p, and v its
 * mappings.
 */
static int
dump_layout(struct core *c, const struct corethreads *t, struct snap *s,
    struct proc *p, const struct vmas *v)
{
	struct dump d = { .core = c, .b = &c->head, .t = t, .v = v };
	int rc;

	c->mem = p->mem;
	rc = dump_fill(&d, s, p);
	free(d.stack);
	return rc;
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
