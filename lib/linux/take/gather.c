/*
 * What /proc and ptrace tell of a process and its threads while they are
 * stopped, kept with each thread until it is taken (take.c).
 */
#include "clock.h"
#include "linux/clone/clone.h"
#include "linux/stop/stop.h"
#include "taking.h"
#include "vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Have all of the record of thread th, and tell the user what could not be
 * read of it.  That of a clone is read when it is taken.
 */
void
thread_finish(struct live *l, struct lproc *lp, struct lthread *th)
{
	struct filelist *rec = &th->rec;
	const size_t n = rec->n;

	if (th->finished)
		return;
	th->finished = true;
	if (th->tid == lp->pid)
		task_finish(l, lp, th->task, rec);
	else if (lp->cgroup.data != NULL)
		cgroups_thread(l, rec, &lp->cgroup, lp->pid, th->tid);
	/* the files of one that was killed may be empty */
	for (; rec->n > n && clone_lost(lp); rec->n--) {
		free(rec->file[rec->n - 1].name);
		free(rec->file[rec->n - 1].data);
	}
	if (th->rec.why != 0)
		live_warn(l, "process %d: %s of thread %d could not be read: "
		    "%s", lp->pid, th->rec.lost, th->tid,
		    strerror(th->rec.why));
}

/*
 * Gather what is told of thread th, which is stopped, in its task and rec.
 * Without a task afterwards, it is left out.
 */
int
thread_gather(struct live *l, struct snap *s, struct lproc *lp,
    struct lthread *th)
{
	struct task *t;
	bool gone;

	if ((t = mem_new(1, sizeof *t)) == NULL)
		return -1;
	if (task_read(l, lp, th, t) == -1) {
		gone = errno == ESRCH || errno == ENOENT;
		task_free(t);
		free(t);
		if (gone && th->tid == lp->pid)
			lproc_leave(l, lp);
		else if (th->tid == lp->pid)
			lproc_refuse(l, lp);
		else if (!gone)
			live_warn(l, "thread %d of process %d is left out: %s",
			    th->tid, lp->pid, snap_errstr());
		return 0;
	}
	if (th->tid == lp->pid && lp->mmtid == 0 && th->state == 'Z') {
		l->incomplete = true;
		live_say(l, "process %d is a zombie: it has no memory and no "
		    "registers any more", lp->pid);
	}
	th->task = t;
	task_record(l, s, lp, th, t, &th->rec);
	if (th->tid == lp->pid && (!l->opts.clone || th->hold != HOLD_STOPPED))
		thread_finish(l, lp, th);
	return th->rec.failed ? errstr_set("out of memory") : 0;
}

/*
 * Gather what is told of process lp and its threads, all of which are stopped.
 * Without what is told of the first one, lp is left out.  Return 0, or -1 with
 * errstr.
 */
int
proc_gather(struct live *l, struct snap *s, struct lproc *lp)
{
	struct lthread *th;
	enum step before;
	int rc;

	lp->gathered = true;
	proc_peek(lp);
	lp->when = now_ms();
	before = step_begin(&l->steps, STEP_RECORD);
	rc = 0;
	TAILQ_FOREACH(th, &lp->threads, entry) {
		if (rc == -1 || lp->skip || (th->tid != lp->pid &&
		    th->hold == HOLD_GONE))
			continue;
		th->later = th->tid != lp->pid;
		if (!th->later)
			rc = thread_gather(l, s, lp, th);
	}
	(void)step_begin(&l->steps, before);
	return rc;
}

/*
 * Have all of the records of those processes of set l that have no clone: they
 * are read of themselves, while they are stopped.  Of those that will have that
 * of another, only what is not the same of both.
 */
void
procs_finish(struct live *l)
{
	struct lthread *leader;
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry) {
		leader = TAILQ_FIRST(&p->threads);
		if (!p->skip && p->clone == 0 && leader != NULL &&
		    leader->tid == p->pid && leader->task != NULL) {
			if (p->head != NULL)
				task_own(p, &leader->rec);
			else
				thread_finish(l, p, leader);
		}
	}
}
