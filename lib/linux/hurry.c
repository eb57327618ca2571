/*
 * The thread that works while processes stand still, those that it starts, and
 * the proxy that it waits for, go before all others of the machine, where they
 * may (CAP_SYS_NICE, or RLIMIT_RTPRIO): how long they stand is not to depend on
 * what else runs there.  On a machine with ten times more to do than processors
 * it would wait for its turn for seconds.
 */
#include "linux/proxy/proxy.h"
#include "live.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Let this thread go before others, for set l, until live_unhurry.  It should
 * not work for long, nor need a processor that another thread has.
 */
void
live_hurry(struct live *l)
{
	const struct sched_param first = {
	    .sched_priority = sched_get_priority_min(SCHED_RR) };
	struct hurry *h = &l->hurry;

	if (h->tid != 0)
		return;
	h->tid = (pid_t)syscall(SYS_gettid);
	h->policy = sched_getscheduler(h->tid);
	/* who has another policy knows better */
	if ((h->policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER ||
	    sched_setscheduler(h->tid, SCHED_RR, &first) == -1)
		h->tid = 0;
	else
		proxy_hurry(true);
}

/*
 * End what live_hurry began for set l.
 */
void
live_unhurry(struct live *l)
{
	const struct sched_param none = { 0 };
	struct hurry *h = &l->hurry;

	if (h->tid == 0)
		return;
	(void)sched_setscheduler(h->tid, h->policy, &none);
	proxy_hurry(false);
	h->tid = 0;
}
