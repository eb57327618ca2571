/*
 * What of a set is taken, now that all are stopped: who is gone, and which
 * threads others trace.
 */
#include "clock.h"
#include "linux/stop/stop.h"
#include "live.h"

enum { ENDING_MS = 20 };	/* for a process that ends to be a zombie */

/*
 * Return true if process p, which has ended since it was looked at, is a
 * zombie now.  Then so it was when the others were stopped, and what was seen
 * of it is not true.  One that is about to end is waited for, for a moment.
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
			thread_look(p, t);
			return true;
		}
		if (t->state == '\0')
			return false;
		nap_us(1000);
	}
	return false;
}

/*
 * Tell the user which threads of process p others trace: but not of a process
 * whose first thread is one of them, for that was told when it was to be
 * seized.
 */
static void
live_tellforeign(struct live *l, const struct lproc *p)
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
	    "taken without stopping it, and without the registers that only "
	    "its tracer sees", first->tid, p->pid, first->tracer,
	    n > 1 ? ", and so are others" : "");
}

/*
 * Now that all are stopped, choose the thread of each process that can be
 * asked about its memory, and leave out who is gone.  A process that is left
 * out goes on.
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
			if (t->hold == HOLD_NONE)	/* before its turn */
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
		live_tellforeign(l, p);
		if (p->mmtid == 0 && !lproc_iszombie(p))
			lproc_leave(l, p);
	}
}
