/*
 * What threads tell that sleep, asked one at a time before all are stopped, so
 * that in the stop of a process with a thousand threads only those are asked
 * that have run since.
 *
 * A thread that is asked is stopped for less than a millisecond, while all
 * others run, and uses the dead part of its own stack (inject.c).  So only
 * one is that sleeps on a stack of its own, and that no signals are sent to:
 * stop/threads.c tells why.
 *
 * What it told is changed by the thread alone: sigaltstack(2),
 * set_tid_address(2), prctl(2), unshare(2) have no way to name another one.
 * So it holds in the stop if the thread has run none of its own code since.
 * That is seen by three signs together.
 *
 *	how often it came onto a processor (schedstat; kernel/sched/stats.h
 *	counts each time): once more, to be stopped, than when it slept
 *	again after it was asked; and as often as then right before it was
 *	made to stop
 *	how long it was on a processor: not longer than it takes to go back
 *	to sleep, and to stop
 *	its registers: those that it had when it was asked
 *
 * What these do not show: that what it waited for came while it was stopped
 * to be asked, and that it then changed one of these, and waited for the same
 * again in the same place with the same registers, all within that time.
 */
#include "asking.h"
#include "clock.h"
#include "linux/stop/stop.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct ahead {			/* a process whose threads are asked */
	struct lproc	*proc;	/* borrowed */
	struct vmas	 vma;	/* owned */
	struct asking	 ask;
};

/*
 * Return true if thread t sleeps, has done so since it was looked at, and is
 * one of those that the process made, not of the kernel's workers in it.
 */
static bool
ahead_sleeps(struct ahead *a, struct lthread *t)
{
	struct procstat st = { 0 };
	const struct file *f;
	struct ran now;

	if ((f = filelist_find(&t->seen, "stat")) == NULL ||
	    stat_parse(&st, f->data, f->len) < STAT_FLAGS)
		return false;
	return st.state == 'S' &&
	    !(st.v[STAT_FLAGS] & (PF_IO_WORKER | PF_USER_WORKER)) &&
	    thread_ran(a->proc, t, &now) && now.times == t->ran.times &&
	    thread_judge(a->proc, t) == 0 && t->hold == HOLD_NONE &&
	    t->rank == RANK_IDLE;
}

/*
 * Stop thread t.  Return true if it has stopped; else it is not held, or, if
 * it does not stop in time, it is when it does.
 */
static bool
ahead_stop(struct ahead *a, struct lthread *t)
{
	enum { SPINS = 200, NAPS = 200, NAP_US = 50 };
	int i;

	if (thread_seize(a->proc, t) == -1 || t->hold != HOLD_SEIZED) {
		t->hold = HOLD_NONE;
		return false;
	}
	thread_stop(t);
	for (i = 0; t->hold == HOLD_ASKED && i < SPINS + NAPS; i++)
		if (thread_halted(t))
			break;
		else if (i < SPINS)
			sched_yield();
		else
			nap_us(NAP_US);
	return t->hold == HOLD_STOPPED;
}

/*
 * Ask thread t, which has stopped.  Return 0, also if it has no room for that;
 * -1 if others of its process, too, would not do what they are made to: it
 * was odd, or its cgroup is frozen, and each would be waited for.
 */
static int
ahead_tell(struct ahead *a, struct lthread *t)
{
	int rc;

	a->ask.to = &t->told;
	if (inject_enterone(a->ask.in, t->tid) == -1) {
		(void)inject_leaveone(a->ask.in, -1);
		return 0;
	}
	rc = ask_thread(&a->ask);
	if (inject_leaveone(a->ask.in, rc) == -1)
		return -1;
	regs_remember(t);
	t->asked = t->before.data != NULL && thread_ran(a->proc, t, &t->ran);
	return 0;
}

/*
 * Ask thread t, if it sleeps.  Return 0, also if that cannot be done; -1 if no
 * other thread of its process is to be asked.
 */
static int
ahead_ask(struct ahead *a, struct lthread *t)
{
	int rc;

	if (!ahead_sleeps(a, t))
		return 0;
	rc = ahead_stop(a, t) ? ahead_tell(a, t) : 0;
	if (t->hold == HOLD_STOPPED)
		thread_release(t);
	else if (t->hold == HOLD_GONE)
		t->hold = HOLD_NONE;
	if (t->asked) {
		thread_apart(a->proc, t, a->proc->pid, &t->told);
		thread_names(a->proc, t, &t->told);
	} else
		filelist_free(&t->told);
	return rc;
}

/*
 * Note of all threads that were asked how they have run until they slept
 * again.  One that has run for longer than that takes may have changed what
 * it told.
 */
static void
ahead_settle(struct lproc *p)
{
	struct lthread *t;
	struct ran now;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->asked) {
			t->asked = thread_ran(p, t, &now) &&
			    ran_briefly(&t->ran, &now);
			t->ran = now;
		}
}

/*
 * Ask the threads of process p that sleep.
 */
static void
proc_askahead(struct lproc *p)
{
	struct ahead a = { .proc = p };
	const struct vmas *l = &p->vma;
	struct lthread *t;
	struct bytes maps;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (!thread_ran(p, t, &t->ran))
			return;
	if (l->n == 0) {
		if (proc_read(p->pid, 0, "maps", &maps) == -1)
			return;
		if (vmas_parse(&a.vma, maps.data, maps.len) == 0)
			l = &a.vma;
		free(maps.data);
	}
	if (l->n > 0 && (a.ask.in = inject_alone(p->pid, l)) != NULL) {
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->tid != p->pid && ahead_ask(&a, t) == -1)
				break;
		inject_free(a.ask.in);
		ahead_settle(p);
	}
	vmas_free(&a.vma);
}

/*
 * Ask all threads of set l that sleep, before any is to stay stopped, where
 * something may be run in them.  What cannot be asked now is asked in the stop.
 */
void
state_readahead(struct live *l)
{
	const struct lthread *t;
	struct lproc *p;

	if (l->opts.observe)
		return;
	TAILQ_FOREACH(p, &l->procs, entry) {
		t = TAILQ_FIRST(&p->threads);
		if (!p->skip && !p->kernel && t != NULL &&
		    TAILQ_NEXT(t, entry) != NULL)
			proc_askahead(p);
	}
}
