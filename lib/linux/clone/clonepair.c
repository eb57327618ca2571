/*
 * Which clones are to be reaped (reaper.c): those that the guard is told of,
 * and those that it finds.
 *
 * Of the last clones it may not have been told: who made them was killed on the
 * way.  Their process then goes on with the call that makes the clone, or has
 * made it, and the clone ends by itself; but on a busy machine that takes as
 * long as it takes.  So the process is stopped to see whether the call is
 * behind it.
 */
#include "cloning.h"

#include <sys/resource.h>

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 40 };		/* for a clone that is not known */

/* "snap", which is nobody's limit of the size of files */
static const struct rlimit mark = { 0x736e6170, 0x736e6170 };

/*
 * Look at process pid: 1; 0 if it is gone; -1 if that cannot be told now.
 */
static int
child_look(pid_t pid, struct procstat *c)
{
	int last;

	if ((last = proc_readstat(pid, 0, c)) == -1)
		return proc_islost(errno) ? -1 : 0;
	return last >= STAT_EXITSIGNAL ? 1 : -1;
}

/*
 * Return whether c is the child of target that clone(2) makes without a signal.
 */
static bool
is_clone(const struct procstat *c, pid_t target)
{
	return c->v[STAT_PPID] == (uint64_t)target &&
	    c->v[STAT_EXITSIGNAL] == 0;
}

/*
 * Return how long this system runs, in ticks of proc_pid_stat(5).
 */
static uint64_t
ticks_now(void)
{
	struct timespec ts;
	uint64_t hz;

	hz = (uint64_t)sysconf(_SC_CLK_TCK);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * hz + (uint64_t)ts.tv_nsec * hz /
	    1000000000;
}

/*
 * Look at the clone of ward w: 1 if it is still there, 0 if it is gone or
 * another process by now, -1 if that cannot be told now.
 */
int
pair_owns(const struct clonepair *w, struct procstat *c)
{
	int rc;

	if ((rc = child_look(w->clone, c)) != 1)
		return rc;
	return is_clone(c, w->target) && c->v[STAT_START] == w->start;
}

/*
 * Mark a clone as ours, for the guard of a later snapshot: should this guard be
 * killed together with us, the clone stays a zombie, and nothing else tells it
 * from a child that its process made itself, and waits for.  A clone writes no
 * files, so the limit changes nothing.  A zombie keeps it.
 */
static void
clone_mark(pid_t clone)
{
	(void)prlimit(clone, RLIMIT_FSIZE, &mark, NULL);
}

/*
 * Add ward w to those of guard g.  Return 0, or -1 with errstr.  Either of us
 * may be killed on the way: a ward is there when all of it is.
 */
static int
pair_add(struct guard *g, const struct clonepair *w)
{
	if (g->n == MAX_PAIRS)
		return errstr_set("more than %d processes", MAX_PAIRS);
	g->v[g->n] = *w;
	__atomic_store_n(&g->n, g->n + 1, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Tell guard g that process target will be cloned now (clone is 0), then which
 * clone it has, which we trace, or that it has none (-1).  Return 0, or -1
 * with errstr.
 */
int
guard_send(struct guard *g, pid_t target, pid_t clone)
{
	struct procstat c = { 0 };
	struct clonepair *w;
	size_t i;

	if (clone > 0) {
		if (child_look(clone, &c) == -1)
			return errstr_sys("/proc/%d/stat", clone);
		clone_mark(clone);
	}
	for (i = g->n; clone != 0 && i-- > 0;) {
		w = &g->v[i];
		if (w->target != target || w->clone != 0)
			continue;
		w->start = c.v[STAT_START];
		__atomic_store_n(&w->clone, clone, __ATOMIC_RELEASE);
		return 0;
	}
	return pair_add(g, &(struct clonepair){ .target = target,
	    .clone = clone, .since = ticks_now(), .start = c.v[STAT_START] });
}

/*
 * Return true if process pid, of which c tells, is a clone that an earlier
 * snapshot left behind.
 */
static bool
is_left(pid_t pid, const struct procstat *c)
{
	struct rlimit lim;

	return c->state == 'Z' && prlimit(pid, RLIMIT_FSIZE, NULL, &lim) == 0 &&
	    lim.rlim_cur == mark.rlim_cur && lim.rlim_max == mark.rlim_max;
}

static bool
is_pair(const struct guard *g, pid_t pid, uint64_t start)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->v[i].clone == pid && g->v[i].start == start)
			return true;
	return false;
}

struct finding_clones {
	struct guard	*guard;
	uint64_t	 until;	/* in ticks */
	bool		 failed;
};

/*
 * Add process pid to the wards if it is a clone of one of their processes which
 * an earlier snapshot left behind, or which we were not told of.  The latter
 * ends by itself; it was made while all threads of its process were stopped, or
 * when the one that makes it was let go by our death.
 */
static int
find_pid(void *arg, long pid)
{
	struct finding_clones *f = arg;
	struct guard *g = f->guard;
	struct procstat c;
	struct clonepair *w;
	const size_t n = g->n;
	size_t i;
	bool ends, ours;
	int rc;

	if ((rc = child_look((pid_t)pid, &c)) == -1)
		f->failed = true;
	ends = rc == 1 && (c.state == 'Z' || c.v[STAT_FLAGS] & PF_EXITING);
	for (i = 0; rc == 1 && i < n; i++) {
		w = &g->v[i];
		if (!is_clone(&c, w->target))
			continue;
		ours = w->clone == 0 && c.v[STAT_START] + 1 >= w->since &&
		    c.v[STAT_START] <= f->until;
		w->seen |= ours;
		if (((ours && ends) || is_left((pid_t)pid, &c)) &&
		    !is_pair(g, (pid_t)pid, c.v[STAT_START]))
			(void)pair_add(g, &(struct clonepair){
			    .target = w->target, .clone = (pid_t)pid,
			    .start = c.v[STAT_START] });
	}
	return 0;
}

/*
 * Add to the wards of guard g the clones that are found by looking.  A clone
 * that is not known is looked for until its process is past the call that makes
 * it, and what may be the clone is reaped.  That may be the clone of another
 * who was killed, and whose guard found this one: all are reaped that are
 * found.
 */
void
pairs_find(struct guard *g)
{
	struct finding_clones f = { .guard = g, .until = ticks_now() };
	struct clonepair *w;

	for (w = g->v; w < g->v + g->n; w++)
		w->seen = false;
	if (proc_list(0, NULL, find_pid, &f) == -1)
		f.failed = true;
	for (w = g->v; w < g->v + g->n; w++)
		if (w->clone == 0 && ((w->past && !w->seen && !f.failed) ||
		    ++w->tries == LOOKS))
			w->clone = -1;
}
