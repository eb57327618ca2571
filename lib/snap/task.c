/*
 * Registers, mappings, memory and records of a task.
 */
#include "handle.h"
#include "bisect.h"
#include "core/write/write.h"
#include "record/record.h"
#include "vec.h"

/*
 * Names of the words of the general registers, as NT_PRSTATUS has them:
 * struct user_regs_struct of asm/ptrace.h and sys/user.h.
 */
static const struct regnames {
	const char	*machine;
	const char	*const name[36]; /* names of registers; the last is
					    NULL */
} machines[] = {
	{ "amd64",
	    { "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9",
	    "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax", "rip", "cs",
	    "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs",
	    "gs", NULL } },
	{ "386",
	    { "ebx", "ecx", "edx", "esi", "edi", "ebp", "eax", "ds", "es",
	    "fs", "gs", "orig_eax", "eip", "cs", "eflags", "esp", "ss",
	    NULL } },
	{ "arm64",
	    { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
	    "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
	    "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
	    "x28", "x29", "x30", "sp", "pc", "pstate", NULL } },
	{ "arm",
	    { "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9",
	    "r10", "r11", "r12", "r13", "r14", "r15", "cpsr", "orig_r0",
	    NULL } }
};

/*
 * Read the general registers of thread t into r. Set *m to the machine whose
 * layout they have. Return the names of the registers, or NULL with errstr set.
 */
static const struct regnames *
registers_get(struct snap_task *t, struct coreregs *r, const struct machine **m)
{
	const struct taskstate *st = state_get(t->proc);
	const struct regnames *names;

	if (st == NULL || corearch_find(t->of->snap, t->proc, st, m) == -1)
		return NULL;
	names = *m == NULL ? NULL : SEEK_IN(machines, strcmp(x->machine,
	    (*m)->name) == 0 && corearch_regs(*m, t->proc, st, r));
	if (names == NULL)
		errstr_set("task %ju: no registers", (uintmax_t)t->proc->pid);
	return names;
}

int
snap_register(struct snap_task *t, const char *name, uint64_t *value)
{
	const struct regnames *names;
	const struct machine *m;
	struct coreregs r;
	size_t at, i;

	if ((names = registers_get(t, &r, &m)) == NULL)
		return -1;
	if (strcmp(name, "pc") == 0)
		at = m->pc;
	else if (strcmp(name, "sp") == 0)
		at = m->sp;
	else {
		for (i = 0; names->name[i] != NULL; i++)
			if (strcmp(names->name[i], name) == 0)
				break;
		if (names->name[i] == NULL)
			return errstr_set("%s: %s has no such register", name,
			    names->machine);
		at = i * m->word;
	}
	*value = machine_get(m, r.gp + at, m->word);
	return 0;
}

const char *
snap_register_name(struct snap_task *t, size_t i)
{
	const struct regnames *names;
	const struct machine *m;
	struct coreregs r;
	size_t k;

	if ((names = registers_get(t, &r, &m)) == NULL)
		return NULL;
	for (k = 0; k < i && names->name[k] != NULL; k++)
		continue;
	return names->name[k];
}

/*
 * List the mappings of the process of t, unless they have already been listed.
 * After an error the list is empty, and snap_error() reports it.
 */
static void
mappings_list(struct snap_task *t)
{
	struct vmas l = { 0 };
	size_t i;

	if (t->mapping != NULL)
		return;
	if (proc_vmas(t->proc, &l) == -1 ||
	    (t->mapping = mem_new(l.n, sizeof *t->mapping)) == NULL)
		t->of->failed = true;
	else
		for (i = 0; i < l.n; i++) {
			t->mapping[i].vma = l.v[i];
			vma_perms(&l.v[i], t->mapping[i].perms);
			l.v[i].name = NULL;
			t->nmapping++;
		}
	vmas_free(&l);
}

struct snap_mapping *
snap_mapping_next(struct snap_task *t, const struct snap_mapping *prev)
{
	struct snap_task *p = t->process;
	size_t i;

	mappings_list(p);
	i = prev == NULL ? 0 : (size_t)(prev - p->mapping) + 1;
	return i < p->nmapping ? &p->mapping[i] : NULL;
}

struct snap_mapping *
snap_mapping_find(struct snap_task *t, uint64_t addr)
{
	struct snap_task *p = t->process;
	size_t at;

	mappings_list(p);
	at = BISECT_WHILE(i, p->nmapping, p->mapping[i].vma.end <= addr);
	return at < p->nmapping && p->mapping[at].vma.start <= addr ?
	    &p->mapping[at] : NULL;
}

uint64_t
snap_mapping_start(const struct snap_mapping *m)
{
	return m->vma.start;
}

uint64_t
snap_mapping_end(const struct snap_mapping *m)
{
	return m->vma.end;
}

uint64_t
snap_mapping_offset(const struct snap_mapping *m)
{
	return m->vma.off;
}

const char *
snap_mapping_perms(const struct snap_mapping *m)
{
	return m->perms;
}

const char *
snap_mapping_name(const struct snap_mapping *m)
{
	return m->vma.name;
}

ssize_t
snap_read(struct snap_task *t, uint64_t addr, void *buf, size_t size)
{
	const struct proc *p = t->process->proc;

	if (p->mem == NULL)
		return errstr_set("process %ju: the snapshot has none of its "
		    "memory", (uintmax_t)p->pid);
	return image_readsome(p->mem, addr, buf, size);
}

int
snap_memory_next(struct snap_task *t, uint64_t addr, uint64_t *start,
    uint64_t *size)
{
	struct image *im = t->process->proc->mem;
	struct piece *p = im == NULL ? NULL : image_next(im, addr);

	if (p == NULL)
		return 0;
	*start = p->first > addr ? p->first : addr;
	do {
		*size = p->last - *start + 1;
		p = piece_next(p);
	} while (p != NULL && p->first - *start == *size);
	return 1;
}

/*
 * List the records of t, unless they have already been listed. After an error
 * the list is empty or lacks the last records, and snap_error() reports it.
 */
static void
records_list(struct snap_task *t)
{
	struct linuxrec r;
	struct snap_record *v;
	size_t i;

	if (t->record != NULL)
		return;
	if (linuxrec_open(&r, proc_file(t->proc, "proc")) == -1) {
		t->of->failed = true;
		return;
	}
	v = t->record = mem_new(r.n, sizeof *v);
	for (i = 0; v != NULL && i < r.n; i++, t->nrecord++) {
		linuxrec_get(&r, i, &v[i].file);
		v[i].name = mem_dup(v[i].file.name, v[i].file.namelen);
		if (v[i].name == NULL)
			break;
	}
	if (v == NULL || t->nrecord < r.n)
		t->of->failed = true;
	linuxrec_close(&r);
}

struct snap_record *
snap_record_next(struct snap_task *t, const struct snap_record *prev)
{
	size_t i;

	records_list(t);
	i = prev == NULL ? 0 : (size_t)(prev - t->record) + 1;
	return i < t->nrecord ? &t->record[i] : NULL;
}

struct snap_record *
snap_record_find(struct snap_task *t, const char *name)
{
	size_t at;

	records_list(t);
	at = BISECT_WHILE(i, t->nrecord, strcmp(t->record[i].name, name) < 0);
	return at < t->nrecord && strcmp(t->record[at].name, name) == 0 ?
	    &t->record[at] : NULL;
}

const char *
snap_record_name(const struct snap_record *r)
{
	return r->name;
}

const void *
snap_record_data(const struct snap_record *r, size_t *size)
{
	*size = r->file.len;
	return r->file.data;
}
