/*
 * The threads of a core as Plan 9's small files and as the files of the
 * Linux record, so that they look like those of a process that was taken
 * live.
 */
#include "coreread.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_MAX = CORE_SETS + 16 };

struct record {			/* files of a Linux record being made */
	struct file	 file[RECORD_MAX];
	char		 name[RECORD_MAX][32];
	size_t		 n;
	bool		 failed;
};

/*
 * Add a file to a record, which takes over the bytes.
 */
static void
record_take(struct record *rec, const char *name, struct buf *b)
{
	struct file *f;

	f = &rec->file[rec->n];
	strlcpy(rec->name[rec->n], name, sizeof *rec->name);
	f->name = rec->name[rec->n++];
	f->data = b->data;
	f->len = b->len;
	rec->failed |= b->failed;
}

static void
record_bytes(struct record *rec, const char *name, const void *p, size_t n)
{
	struct buf b = { 0 };

	buf_add(&b, p, n);
	record_take(rec, name, &b);
}

static void
record_free(struct record *rec)
{
	size_t i;

	for (i = 0; i < rec->n; i++)
		free(rec->file[i].data);
}

/*
 * stat: the 52 fields of proc_pid_stat(5), 0 where nothing is known.
 */
static void
record_stat(struct record *rec, const struct corereader *r,
    const struct facts *f)
{
	enum { TICK = 10 };	/* milliseconds */
	const struct elfcore *c = &r->core;
	const struct task *t = &f->task;
	struct buf b = { 0 };
	uint64_t flags;

	flags = c->psinfo == NULL ? 0 : get_le(c->psinfo + c->mach->wide,
	    c->mach->wide);
	/* 1 to 13 */
	buf_printf(&b, "%d (%s) %c %d %d %d 0 -1 %" PRIu64 " 0 0 0 0 ", t->tid,
	    t->comm, t->state, t->ppid, t->pgrp, f->sid, flags & UINT32_MAX);
	/* 14 to 22 */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %d %d %zu 0 0 ", t->utime / TICK, t->stime / TICK,
	    t->cutime / TICK, t->cstime / TICK, 20 + t->nice, t->nice,
	    r->nthread);
	/* 23 to 30; 0 and 1 for an rss without limit */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " %ju 0 0 %" PRIu64 " %" PRIu64
	    " %" PRIu64 " ", r->vmbytes, r->membytes / 4096, (uintmax_t)UINT64_MAX,
	    r->stack, f->sp, f->pc);
	/* 31 to 52 */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " 0 0 0 0 0 17 0 0 0 0 0 0 "
	    "0 0 0 0 0 0 0 0\n", f->pending, f->blocked);
	record_take(rec, "stat", &b);
}

static void
record_status(struct record *rec, const struct corereader *r,
    const struct facts *f)
{
	const struct task *t = &f->task;
	struct buf b = { 0 };
	unsigned int u, g;

	u = core_uid(&r->core);
	g = core_gid(&r->core);
	buf_printf(&b, "Name:\t%s\nState:\t%c\nTgid:\t%d\nPid:\t%d\n"
	    "PPid:\t%d\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
	    t->comm, t->state, t->pid, t->tid, t->ppid, u, u, u, u, g, g, g,
	    g);
	buf_printf(&b, "SigPnd:\t%016" PRIx64 "\nSigBlk:\t%016" PRIx64 "\n",
	    f->pending, f->blocked);
	record_take(rec, "status", &b);
}

/*
 * Registers and signals.  The first thread of a core is the one that it was
 * made for; its signal is told even where there is no NT_SIGINFO.
 */
static void
record_regs(struct record *rec, const struct elfcore *c,
    const struct facts *f)
{
	const struct corethread *th = f->th;
	uint8_t info[128] = { 0 };
	char name[32];
	size_t i;

	record_bytes(rec, "regset/prstatus", th->status +
	    prstatus_regs(c->mach), c->mach->regs);
	for (i = 0; i < th->nset; i++) {
		if (th->set[i].type == NT_PRFPREG)
			strlcpy(name, "regset/fpregs", sizeof name);
		else if (th->set[i].type == NT_X86_XSTATE)
			strlcpy(name, "regset/xstate", sizeof name);
		else
			snprintf(name, sizeof name, "regset/%" PRIx32,
			    th->set[i].type);
		record_bytes(rec, name, th->set[i].data, th->set[i].len);
	}
	snprintf(name, sizeof name, "%d\n", f->cursig);
	record_bytes(rec, "cursig", name, strlen(name));
	info[0] = (uint8_t)f->cursig;
	if (th->siginfo != NULL)
		record_bytes(rec, "siginfo", th->siginfo, sizeof info);
	else if (th == c->thread && f->cursig != 0)
		record_bytes(rec, "siginfo", info, sizeof info);
	for (i = 0; i < 8; i++)
		info[i] = (uint8_t)(f->blocked >> 8 * i);
	record_bytes(rec, "sigmask", info, 8);
}

/*
 * The arguments, as far as NT_PRPSINFO has them: it has blanks for the NULs
 * between them.
 */
static void
record_cmdline(struct record *rec, const struct elfcore *c)
{
	const char *args;
	char text[81] = "";
	size_t i, n;

	args = (const char *)c->psinfo + 3 * c->mach->wide + 32;
	for (n = 0; n < 80 && args[n] != '\0'; n++)
		text[n] = args[n];
	while (n > 0 && text[n - 1] == ' ')
		n--;
	for (i = 0; i < n; i++)
		if (text[i] == ' ')
			text[i] = '\0';
	text[n] = '\0';
	record_bytes(rec, "cmdline", text, n == 0 ? 0 : n + 1);
}

/*
 * What only a whole process has.
 */
static void
record_proc(struct record *rec, const struct corereader *r)
{
	const struct elfcore *c = &r->core;
	struct buf b = { 0 };

	if (c->psinfo != NULL)
		record_cmdline(rec, c);
	if (c->auxv.data != NULL)
		record_bytes(rec, "auxv", c->auxv.data, c->auxv.len);
	if (core_mapstext(r, &b) == -1)
		rec->failed = true;
	record_take(rec, "maps", &b);
	if (r->exe != NULL)
		record_bytes(rec, "exe", r->exe, strlen(r->exe));
	else if (r->opts->exe != NULL)
		record_bytes(rec, "exe", r->opts->exe, strlen(r->opts->exe));
}

/*
 * Give a process or thread of the snapshot its small files.
 */
static int
make_files(const struct corereader *r, struct proc *p, struct facts *f)
{
	struct task *t = &f->task;
	struct record rec = { .n = 0 };
	struct bytes *set;
	char text[32];
	size_t i;
	int rc;

	if (p->leader != 0) {
		snprintf(text, sizeof text, "%" PRIu64 "\n", p->leader);
		record_bytes(&rec, "thread", text, strlen(text));
	}
	record_stat(&rec, r, f);
	record_status(&rec, r, f);
	snprintf(text, sizeof text, "%.16s\n", t->comm);
	record_bytes(&rec, "comm", text, strlen(text));
	if (f->th != NULL)
		record_regs(&rec, &r->core, f);
	if (p->leader == 0)
		record_proc(&rec, r);
	for (i = 0; i < rec.n; i++) {
		set = strcmp(rec.name[i], "regset/prstatus") == 0 ?
		    &t->reg[REGSET_PRSTATUS] :
		    strcmp(rec.name[i], "regset/fpregs") == 0 ?
		    &t->reg[REGSET_FPREGS] :
		    strcmp(rec.name[i], "regset/xstate") == 0 ?
		    &t->reg[REGSET_XSTATE] : NULL;
		if (set == NULL)
			continue;
		set->data = rec.file[i].data;
		set->len = rec.file[i].len;
	}
	t->vma = p->leader == 0 ? r->vma : (struct vmas){ 0 };
	t->memkb = r->membytes / KB;
	rc = rec.failed ? errstr_set("out of memory") : plan9_files(p, t);
	if (rc == 0)
		rc = linuxrec_pack(p, r->core.mach->cputype, rec.file, rec.n);
	record_free(&rec);
	return rc;
}

/*
 * Add a process under its number, or another one if that is taken.
 */
static struct proc *
add_proc(struct corereader *r, int pid)
{
	enum { PID_MOST = 4194304 };	/* proc_sys_kernel(5), pid_max */

	if (pid > 0 && snap_find(r->snap, (uint64_t)pid) == NULL)
		return snap_add(r->snap, (uint64_t)pid);
	if (r->spare == 0)
		r->spare = PID_MOST + 1;
	while (snap_find(r->snap, r->spare) != NULL)
		r->spare++;
	return snap_add(r->snap, r->spare);
}

static int
add_threads(struct corereader *r, const struct corethread *leader)
{
	const struct elfcore *c = &r->core;
	struct facts f;
	struct proc *p;
	size_t i, moved;
	int pid;

	for (i = moved = 0; i < c->nthread; i++) {
		if (&c->thread[i] == leader)
			continue;
		pid = corethread_pid(c, &c->thread[i]);
		if ((p = add_proc(r, pid)) == NULL)
			return -1;
		moved += p->pid != (uint64_t)pid;
		p->leader = r->proc->pid;
		corefacts_find(r, &c->thread[i], false, &f);
		if (make_files(r, p, &f) == -1)
			return -1;
	}
	if (moved > 0)
		core_warn(r, "%zu threads have other numbers: theirs are "
		    "taken", moved);
	return 0;
}

/*
 * Add the process and its threads to the snapshot.
 */
int
core_tasks(struct corereader *r)
{
	const struct corethread *leader;
	struct facts f;
	size_t i;
	int pid;

	pid = core_pid(&r->core);
	leader = core_leader(&r->core);
	r->nthread = r->core.nthread + (leader == NULL);
	for (i = 0; i < r->vma.n; i++)
		r->vmbytes += r->vma.v[i].end - r->vma.v[i].start;
	if ((r->proc = add_proc(r, pid)) == NULL)
		return -1;
	if (r->proc->pid != (uint64_t)pid)
		core_warn(r, "process %d is %" PRIu64 " in the snapshot: its "
		    "number is taken", pid, r->proc->pid);
	if (core_memory(r) == -1 || core_text(r) == -1)
		return -1;
	r->membytes = image_bytes(r->proc->mem);
	corefacts_find(r, leader, true, &f);
	if (make_files(r, r->proc, &f) == -1)
		return -1;
	return add_threads(r, leader);
}
