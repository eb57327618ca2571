/*
 * Make files of a Linux record from the data of another format, so that its
 * processes look as if they were captured live.
 */
#include "record.h"

#include <sys/sysmacros.h>

/*
 * Set the members of st that come from task t, and those that are the same for
 * all processes read from another format.
 */
static void
state_task(struct taskstate *st, const struct task *t)
{
	enum { TICK = 10, PRIORITY = 20, CHILD = 17 };
	uint64_t *v = st->stat.v;

	st->tgid = (uint64_t)t->pid;
	st->pid = v[STAT_PID] = (uint64_t)t->tid;
	st->ppid = v[STAT_PPID] = (uint64_t)t->ppid;
	st->pgrp = v[STAT_PGRP] = (uint64_t)t->pgrp;
	st->session = v[STAT_SESSION];
	v[STAT_TPGID] = UINT64_MAX;	/* -1, which means no terminal */
	v[STAT_UTIME] = t->utime / TICK; /* convert ms to clock ticks */
	v[STAT_STIME] = t->stime / TICK;
	v[STAT_CUTIME] = t->cutime / TICK;
	v[STAT_CSTIME] = t->cstime / TICK;
	v[STAT_PRIORITY] = (uint64_t)(PRIORITY + t->nice);
	v[STAT_NICE] = (uint64_t)t->nice;
	v[STAT_RSSLIM] = UINT64_MAX;
	v[STAT_PENDING] = st->pending;
	v[STAT_BLOCKED] = st->blocked;
	v[STAT_EXITSIGNAL] = CHILD;
	st->stat.state = t->state;
	strlcpy(st->stat.comm, t->comm, sizeof st->stat.comm);
	snprintf(st->name, sizeof st->name, "%.16s", t->comm);
}

/*
 * Append to b a line of /proc/PID/status with key and the four numbers at v.
 */
static void
ids_print(struct buf *b, const char *key, const uint64_t *v)
{
	buf_printf(b, "%s:\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
	    "\n", key, v[0], v[1], v[2], v[3]);
}

/*
 * Append to b the text of /proc/PID/status, with those lines of
 * proc_pid_status(5) that are known.
 */
static void
status_print(struct buf *b, const struct taskstate *st)
{
	buf_printf(b, "Name:\t%s\n", st->stat.comm);
	if (st->has_umask)
		buf_printf(b, "Umask:\t%04o\n", st->umask);
	buf_printf(b, "State:\t%c\nTgid:\t%" PRId64 "\nPid:\t%" PRId64
	    "\nPPid:\t%" PRId64 "\n", st->stat.state, (int64_t)st->tgid,
	    (int64_t)st->pid, (int64_t)st->ppid);
	ids_print(b, "Uid", st->uid);
	ids_print(b, "Gid", st->gid);
	buf_printf(b, "Threads:\t%" PRIu64 "\nSigPnd:\t%016" PRIx64
	    "\nSigBlk:\t%016" PRIx64 "\n", st->stat.v[STAT_THREADS],
	    st->pending, st->blocked);
}

/*
 * Add to r the files that describe the state st of p, a process or thread.
 * First set those members of st that come from task t.
 */
void
record_state(struct filelist *r, const struct proc *p, const struct task *t,
    struct taskstate *st)
{
	struct buf b = { 0 };

	state_task(st, t);
	if (p->leader != 0)
		filelist_text(r, "thread", "%" PRIu64 "\n", p->leader);
	stat_print(&b, &st->stat);
	filelist_buf(r, "stat", &b);
	status_print(&b, st);
	filelist_buf(r, "status", &b);
	filelist_text(r, "comm", "%s\n", t->comm);
}

/*
 * Add to r the file "maps", which lists the mappings l in the format of
 * proc_pid_maps(5).
 */
void
record_maps(struct filelist *r, const struct vmas *l)
{
	enum { COLUMN = 73 };	/* column in which a mapping's name begins; see
				   fs/proc/task_mmu.c of Linux */
	struct buf b = { 0 };
	const struct vma *v;
	char perm[5];
	const char *s;
	size_t i, at;

	for (i = 0; i < l->n; i++) {
		v = &l->v[i];
		at = b.len;
		vma_perms(v, perm);
		buf_printf(&b, "%08" PRIx64 "-%08" PRIx64 " %s %08" PRIx64
		    " %02x:%02x %" PRIu64 " ", v->start, v->end, perm, v->off,
		    major(v->dev), minor(v->dev), v->ino);
		while (*v->name != '\0' && b.len - at < COLUMN && !b.failed)
			buf_puts(&b, " ");
		for (s = v->name; *s != '\0'; s++)
			if (*s == '\n')
				buf_puts(&b, "\\012");
			else
				buf_add(&b, s, 1);
		buf_puts(&b, "\n");
	}
	filelist_buf(r, "maps", &b);
}

/*
 * Set the registers of task t from record r. Then give p, a process or thread,
 * the record r, the state st, and the small files of Plan 9, made from t.
 * Return 0, or -1 with errstr set.
 */
int
record_pack(struct filelist *r, struct proc *p, const struct taskstate *st,
    struct task *t)
{
	const struct file *f;
	size_t i;

	if (r->failed)
		return errstr_set("out of memory");
	for (i = 0; i < REGSET_MAX; i++)
		if ((f = filelist_find(r, regset_file[i])) != NULL)
			t->reg[i] = (struct bytes){ f->data, f->len };
	if (plan9_files(p, st->cputype, t) == -1 ||
	    linuxrec_pack(p, st->cputype, r->file, r->n) == -1)
		return -1;
	return state_give(p, st);
}
