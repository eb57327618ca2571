/*
 * Whether a thread has run, of which something was learnt before all were
 * stopped: take/ahead.c.
 */
#include "stop.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { BRIEFLY_NS = 50000 };	/* to go back to sleep, or to stop */

/*
 * Return true if between two looks at a thread it has been on a processor for
 * no longer than it takes to go back to sleep, or to stop.
 */
bool
ran_briefly(const struct ran *from, const struct ran *to)
{
	return to->ns - from->ns < BRIEFLY_NS;
}

/*
 * Set *r to how thread t of process p has run so far, as schedstat tells
 * (Documentation/scheduler/sched-stats.rst).  Return false where the kernel
 * does not tell.
 */
bool
thread_ran(struct lproc *p, const struct lthread *t, struct ran *r)
{
	char name[32], text[80];
	ssize_t n;
	int fd;

	if (p->taskdir <= 0) {
		snprintf(name, sizeof name, "/proc/%d/task", p->pid);
		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd <= 0)
			return false;
		p->taskdir = fd;
	}
	snprintf(name, sizeof name, "%d/schedstat", t->tid);
	if ((fd = openat(p->taskdir, name, O_RDONLY | O_CLOEXEC)) == -1)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%" SCNu64 " %*u %" SCNu64, &r->ns, &r->times) ==
	    2 && r->times > 0;
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
