/*
 * Once all processes are stopped, decide which are taken: leave out processes
 * that are gone, and report threads that other processes trace.
 */
#include "clock.h"
#include "linux/stop/stop.h"
#include "live.h"

enum { ENDING_MS = 20 };	/* time for an exiting process to become a
				   zombie, in milliseconds */

/*
 * Return true if process p, whose threads have all ended, is a zombie. If it is
 * about to become one, wait a moment. If it is one, look at it again, since
 * what was read before the stop is outdated.
 */
static bool
lproc_iszombie(struct lproc *p)
{
	struct lthread *t;
	int i;

	if ((t = lproc_leader(p)) == NULL)
		return false;
	for (i = 0; i < ENDING_MS && proc_died(p->pid, p->pid); i++) {
		t->state = proc_state(p->pid, p->pid);
		if (t->state == 'Z') {
			regs_forget(t);
			(void)thread_look(p, t);
			return true;
		}
		if (t->state == '\0')
			return false;
		nap_us(1000);
	}
	return false;
}

/*
 * Return true if zombie p is left out of set l: a later moment of a series has
 * a zombie only if it has its parent.
 */
static bool
lproc_isover(struct live *l, const struct lproc *p)
{
	const struct lproc *parent;
	struct task now;

	if (l->opts.moment <= 1 || proc_stat(p->pid, 0, &now) == -1)
		return false;
	parent = lproc_find(l, now.ppid);
	return parent == NULL || parent->skip;
}

/*
 * Warn the user about threads of process p that other processes trace. Do
 * nothing if the first thread is one of them: that was reported when it could
 * not be seized.
 */
static void
live_warnforeign(struct live *l, const struct lproc *p)
{
	const struct lthread *t, *first;
	size_t n;

	first = NULL;
	n = 0;
	TAILQ_FOREACH(t, &p->threads, entry) {
		if (t->hold == HOLD_FOREIGN && t->tid == p->pid)
			return;
		if (t->hold == HOLD_FOREIGN && n++ == 0)
			first = t;
	}
	if (n == 0)
		return;
	live_warn(l, "thread %d of process %d is traced by process %ld%s: "
	    "captured without stopping it, and without its registers",
	    first->tid, p->pid, first->tracer,
	    n > 1 ? ", and so are others" : "");
}

/*
 * Decide which of the stopped processes to capture. For each of these, choose
 * the thread through which its memory can be read. Leave out processes that are
 * gone, and release all processes that are left out.
 */
void
live_settle(struct live *l)
{
	struct lproc *p;
	struct lthread *t;

	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->skip)
			threads_release(p);
		if (!lproc_istaken(p))
			continue;
		if (!lproc_isthere(p)) {
			threads_release(p);
			lproc_leave(l, p);
			continue;
		}
		TAILQ_FOREACH(t, &p->threads, entry) {
			/* it ended before it was seized */
			if (t->hold == HOLD_NONE)
				t->hold = HOLD_GONE;
			if ((t->hold == HOLD_STOPPED ||
			    t->hold == HOLD_DUMPED) && !t->regs &&
			    !proc_died(p->pid, t->tid))
				live_warn(l, "thread %d of process %d: its "
				    "registers could not be read", t->tid,
				    p->pid);
			if (p->mmtid == 0 && t->hold != HOLD_GONE)
				p->mmtid = p->origin = t->tid;
		}
		live_warnforeign(l, p);
		if (p->mmtid == 0 && !lproc_iszombie(p))
			lproc_leave(l, p);
		else if (p->mmtid == 0)
			p->skip = lproc_isover(l, p);
	}
}
