/*
 * What /proc and ptrace tell of a process and its threads while they are
 * stopped, kept with each thread until it is taken (take.c).
 */
#include "clock.h"
#include "linux/clone/clone.h"
#include "linux/stop/stop.h"
#include "taking.h"

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

	if (th->tid == lp->pid)
		task_finish(l, lp, rec);
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
 * Gather what is told of process lp, which leader leads, in its task and in the
 * record of that.  Return 0; or -1 with errstr when memory runs out.
 */
static int
leader_gather(struct live *l, struct snap *s, struct lproc *lp,
    struct lthread *leader)
{
	if (task_read(l, lp, leader) == -1) {
		if (errno == ESRCH || errno == ENOENT)
			lproc_leave(l, lp);
		else
			lproc_refuse(l, lp);
		return 0;
	}
	if (lp->mmtid == 0 && leader->state == 'Z') {
		l->incomplete = true;
		live_say(l, "process %d is a zombie: it has no memory and no "
		    "registers any more", lp->pid);
	}
	task_record(l, s, lp, leader);
	return leader->rec.failed ? errstr_set("out of memory") : 0;
}

/*
 * Gather what is told of process lp, all threads of which are stopped, and
 * choose those that are taken with it.  Without what is told of the first one,
 * lp is left out.  Return 0, or -1 with errstr.
 */
int
proc_gather(struct live *l, struct snap *s, struct lproc *lp)
{
	struct lthread *th;
	enum step before;
	int rc = 0;

	lp->when = now_ms();
	before = step_begin(&l->steps, STEP_RECORD);
	if ((th = lproc_leader(lp)) != NULL)
		rc = leader_gather(l, s, lp, th);
	TAILQ_FOREACH(th, &lp->threads, entry)
		th->later = th->tid != lp->pid && th->hold != HOLD_GONE;
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
		if (p->skip || p->clone != 0 ||
		    (leader = lproc_leader(p)) == NULL)
			continue;
		if (p->head != NULL)
			task_own(p, &leader->rec);
		else
			thread_finish(l, p, leader);
	}
}
