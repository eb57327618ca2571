/*
 * Read what /proc and ptrace(2) show of a process and its threads while they
 * are stopped, and keep it in the thread until it is taken (take.c).
 */
#include "clock.h"
#include "linux/clone/clone.h"
#include "linux/stop/stop.h"
#include "taking.h"

/*
 * Complete the record of thread th of process lp. Warn the user about files
 * that could not be read. If the process has a clone, read the clone; the
 * process must then have been released.
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
	/* drop files read from a clone that was killed: they may be empty */
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
 * Read facts about process lp into lp->task and the record of leader, its first
 * thread. Leave the process out if it has gone or cannot be read. Return 0,
 * even if it was left out, or -1 with errstr set if memory runs out.
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
	/* in a later moment of a series it has only ended */
	if (lp->mmtid == 0 && leader->state == 'Z' && l->opts.moment <= 1) {
		l->incomplete = true;
		live_say(l, "process %d is a zombie: it no longer has "
		    "memory or registers", lp->pid);
	}
	task_record(l, s, lp, leader);
	return leader->rec.failed ? errstr_set("out of memory") : 0;
}

/*
 * Read facts about process lp, which is stopped. Mark those of its threads that
 * will be captured later; an early copy has none. If the first thread cannot be
 * read, leave lp out. Return 0, or -1 with errstr set.
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
		th->later = th->tid != lp->pid && th->hold != HOLD_GONE &&
		    l->opts.early == 0;
	(void)step_begin(&l->steps, before);
	return rc;
}

/*
 * Complete the records of those processes of set l that have no clone. Read the
 * processes themselves, while they are stopped. If a process will be read from
 * the clone of another process, complete only the parts that may differ between
 * the two. An early copy has no records.
 */
void
procs_finish(struct live *l)
{
	struct lthread *leader;
	struct lproc *p;

	if (l->opts.early != 0)
		return;
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
