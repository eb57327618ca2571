/*
 * Whether a thread has run, of which something was learnt before all were
 * stopped: take/ahead.c.
 */
#include "stop.h"

#include <stdlib.h>

enum { BRIEFLY_NS = 50000 };	/* to go back to sleep, or to stop */

/*
 * Return true if between two looks at a thread, from and to, it has been on a
 * processor for no longer than it takes to go back to sleep, or to stop.
 */
bool
ran_briefly(const struct ran *from, const struct ran *to)
{
	return to->ns - from->ns < BRIEFLY_NS;
}

/*
 * Set *r to how thread t of process p has run so far, as schedstat tells
 * (Documentation/scheduler/sched-stats.rst).  Return false, and set it to
 * never, where the kernel does not tell.
 */
bool
thread_ran(struct lproc *p, const struct lthread *t, struct ran *r)
{
	char text[80], *s;
	ssize_t n;

	r->ns = r->times = 0;
	n = thread_read(p, t, HELD_SCHEDSTAT, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	r->ns = strtoull(text, &s, 10);
	(void)strtoull(s, &s, 10);
	r->times = strtoull(s, NULL, 10);
	return r->times > 0;
}

/*
 * Return true if thread t of process p, which is not stopped yet, was asked
 * before and has slept since.
 */
bool
thread_still(struct lproc *p, struct lthread *t)
{
	struct ran now;

	t->still = t->asked && thread_ran(p, t, &now) &&
	    now.times == t->ran.times && now.ns == t->ran.ns;
	return t->still;
}

/*
 * Return true if thread t of process p, which is stopped, slept until then and
 * has run nothing of its own since it was asked.
 */
bool
thread_stayed(struct lproc *p, struct lthread *t)
{
	struct ran now;

	return t->asked && t->still && t->same && thread_ran(p, t, &now) &&
	    now.times == t->ran.times + 1 &&
	    ran_briefly(&t->ran, &now);
}
