/*
 * Interrupt all threads of a set, and wait until they have stopped.
 */
#include "clock.h"
#include "linux/stop/stop.h"
#include "live.h"

enum {
	PATIENCE_MS = 3000,	/* time limit for one round of stopping */
	SLEEPER_MS = 300,	/* time for which all threads that have not
				   stopped may be in state D */
	LONG_US = 1000		/* nap after which to look why threads do not
				   stop */
};

/*
 * Call threads_poll() for all processes of set l. Return the number of
 * interrupted threads that have not stopped yet.
 */
size_t
live_poll(struct live *l)
{
	struct lproc *p;
	size_t pending = 0;

	TAILQ_FOREACH(p, &l->procs, entry)
		pending += threads_poll(p);
	return pending;
}

/*
 * Find reasons why threads of set l do not stop: leave out the processes that
 * are dumping core, and wait no longer for first threads that have ended. If
 * threads may wait in vfork(2) for children that have stopped, release these,
 * and set *released to true. Return true if all threads that have not stopped
 * are in uninterruptible sleep.
 */
static bool
live_seekreasons(struct live *l, bool *released)
{
	bool asleep = true;
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry) {
		threads_leaderless(p);
		if (!lproc_has(p, HOLD_INTERRUPTED))
			continue;
		if (threads_dumping(p)) {
			if (!p->skip)
				lproc_refuse(l, p);
		} else if (threads_asleep(p))
			*released |= spawning_release(l, p);
		else
			asleep = false;
	}
	return asleep;
}

/*
 * Handle thread t of process p, which was interrupted and did not stop: capture
 * it without its registers. If it is inside execve(2), leave p out, since what
 * is read about p, also by system calls such as kcmp(2), would wait for it.
 */
static void
live_busy(struct live *l, struct lproc *p, struct lthread *t)
{
	t->hold = HOLD_BUSY;
	if (p->skip)
		return;
	if (thread_executes(p, t)) {
		(void)exec_refused(p->pid);
		lproc_refuse(l, p);
		return;
	}
	live_warn(l, "thread %d of process %d does not stop (it was in state "
	    "%c): captured without its registers", t->tid, p->pid,
	    proc_state(p->pid, t->tid));
}

/*
 * Wait, up to a time limit, until all interrupted threads have stopped. A
 * thread that does not stop may be in uninterruptible sleep, because of a dead
 * disk or vfork(2). Return true if children in vfork(2) were released; they
 * must be seized again.
 */
static bool
live_await(struct live *l)
{
	const uint64_t start = now_ms();
	uint64_t awake = start;	/* when a thread was last found awake */
	struct lproc *p;
	struct lthread *t;
	long nap = 20;
	bool released = false;

	for (; live_poll(l) > 0 && now_ms() - start <= PATIENCE_MS &&
	    now_ms() - awake <= SLEEPER_MS; nap_us(nap)) {
		if (nap < LONG_US)
			nap += nap / 4;
		else if (!live_seekreasons(l, &released))
			awake = now_ms();
	}
	TAILQ_FOREACH(p, &l->procs, entry)
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->hold == HOLD_INTERRUPTED &&
			    proc_died(p->pid, t->tid))
				t->hold = HOLD_GONE;
			else if (t->hold == HOLD_INTERRUPTED)
				live_busy(l, p, t);
	return released;
}

/*
 * Interrupt all seized threads of set l, and wait until they have stopped.
 * Return true if some must be seized again.
 */
bool
live_halt(struct live *l)
{
	struct lproc *p;

	(void)step_begin(&l->steps, STEP_STOP);
	TAILQ_FOREACH(p, &l->procs, entry)
		threads_stop(p);
	(void)step_begin(&l->steps, STEP_REGS);
	return live_await(l);
}
