/*
 * The priority of this process: real-time while other processes are stopped for
 * it, and a raised nice value when they run again.
 */
#include "linux/proxy/proxy.h"
#include "live.h"

#include <sys/resource.h>

#include <sched.h>
#include <unistd.h>

enum {
	YIELD_NICE = 10		/* at 19 we would hardly run on a busy machine,
				   and clones would live too long */
};

/*
 * Give this thread real-time priority until live_unboost(). The threads that it
 * starts, and the proxy, get it too. Without it, the stop could last for
 * seconds on a busy machine while we wait for a processor. If neither
 * CAP_SYS_NICE nor RLIMIT_RTPRIO permits it, do nothing. The thread should not
 * work for long with this priority.
 */
void
live_boost(struct live *l)
{
	const struct sched_param first = {
	    .sched_priority = sched_get_priority_min(SCHED_RR) };
	struct sched_boost *h = &l->sched_boost;

	if (h->tid != 0)
		return;
	h->tid = gettid();
	h->policy = sched_getscheduler(h->tid);
	/* leave a policy that was chosen on purpose */
	if ((h->policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER ||
	    sched_setscheduler(h->tid, SCHED_RR, &first) == -1)
		h->tid = 0;
	else
		proxy_boost(true);
}

/*
 * Restore the scheduling policy that live_boost() changed.
 */
void
live_unboost(struct live *l)
{
	const struct sched_param none = { 0 };
	struct sched_boost *h = &l->sched_boost;

	if (h->tid == 0)
		return;
	(void)sched_setscheduler(h->tid, h->policy, &none);
	proxy_boost(false);
	h->tid = 0;
}

static int
thread_nice(void *arg, long tid)
{
	(void)setpriority(PRIO_PROCESS, (id_t)tid, *(const int *)arg);
	return 0;
}

/*
 * Set the nice value of all threads of this process. Threads that they start
 * inherit it. Ignore errors: lowering the value may need CAP_SYS_NICE.
 */
static void
nice_set(int nice)
{
	(void)proc_list(getpid(), "task", thread_nice, &nice);
}

/*
 * Raise the nice value of this process, so that it takes no processor from the
 * released processes. Do this for every thread, since some may already run.
 */
void
live_yield(struct live *l)
{
	struct sched_boost *h = &l->sched_boost;

	h->nice = getpriority(PRIO_PROCESS, 0);
	if (h->nice < YIELD_NICE) {
		nice_set(YIELD_NICE);
		h->yields = true;
	}
}

/*
 * Restore the nice value that live_yield() raised. Without CAP_SYS_NICE it
 * stays raised (setpriority(2)).
 */
void
live_unyield(struct live *l)
{
	if (l->sched_boost.yields)
		nice_set(l->sched_boost.nice);
	l->sched_boost.yields = false;
}
