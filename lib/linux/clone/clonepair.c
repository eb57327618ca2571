/*
 * The list of clones that the guard must reap (reaper.c): those that it was
 * told of, and those that it finds.
 *
 * If we are killed while clones are made, the guard was not told of the last
 * ones. Their processes still return from the call that makes the clone, and
 * the clones end by themselves, but on a busy machine nobody knows when. So the
 * guard stops such a process to see whether it has returned from the call.
 */
#include "cloning.h"
#include "bisect.h"
#include "clock.h"

#include <sys/resource.h>

#include <unistd.h>

enum { LOOKS = 40 };		/* maximum number of searches for a clone */

/*
 * File size limit, "snap" in ASCII, that marks a clone as ours for another snap
 * and its guard. A later guard needs the mark if our guard is killed together
 * with us. The clone then stays a zombie, and only the mark distinguishes it
 * from a child that its process made itself. A zombie keeps the limit. The
 * limit is harmless, since a clone writes no files.
 */
static const struct rlimit mark = { 0x736e6170, 0x736e6170 };

/*
 * Read the stat file of process pid into *c. Return 1 on success, 0 if the
 * process is gone, or -1 if the file cannot be read now.
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
 * Return true if c describes a child of process target that clone(2) made
 * without an exit signal.
 */
static bool
is_clone(const struct procstat *c, pid_t target)
{
	return c->v[STAT_PPID] == (uint64_t)target &&
	    c->v[STAT_EXITSIGNAL] == 0;
}

/*
 * Return the time since boot in clock ticks, as in proc_pid_stat(5).
 */
static uint64_t
ticks_now(void)
{
	const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), ns = boot_ns();

	return ns / 1000000000 * hz + ns % 1000000000 * hz / 1000000000;
}

/*
 * Read the stat of the clone of pair w into *c. Return 1 if the clone still
 * exists. Return 0 if it is gone, even if another process now has its process
 * ID. Return -1 if that cannot be determined now.
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
 * Append pair w, a process and its clone, to the list of guard g. Increase the
 * count only when the entry is complete, since we or the guard may be killed at
 * any time.
 */
static int
pair_add(struct guard *g, const struct clonepair *w)
{
	if (g->n == MAX_PAIRS)
		return errstr_set("too many clones (limit %d)", MAX_PAIRS);
	g->v[g->n] = *w;
	__atomic_store_n(&g->n, g->n + 1, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Record in the list of guard g that process target is being cloned. Before
 * cloning, call this function with clone set to 0. After cloning, call it with
 * the process ID of the clone, which we trace, or with -1 if no clone was made.
 * Return 0, or -1 with errstr set.
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
		(void)prlimit(clone, RLIMIT_FSIZE, &mark, NULL);
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
 * Return true if process pid has the mark of a clone.
 */
static bool
is_marked(pid_t pid)
{
	struct rlimit lim;

	return prlimit(pid, RLIMIT_FSIZE, NULL, &lim) == 0 &&
	    lim.rlim_cur == mark.rlim_cur && lim.rlim_max == mark.rlim_max;
}

/*
 * Return true if process pid, perhaps a zombie, is a clone of this or another
 * snap. A process can imitate one.
 */
bool
clone_is(pid_t pid)
{
	struct procstat c;

	return is_marked(pid) && child_look(pid, &c) == 1 &&
	    c.v[STAT_EXITSIGNAL] == 0;
}

struct finding_clones {
	struct guard	*guard;
	uint64_t	 until;	/* latest start time of a clone, in ticks after
				   boot */
	bool		 failed;
};

/*
 * Add process pid to the guard's list if it is a clone of a listed process, and
 * is of one of two kinds: (a) a marked zombie left by an earlier snapshot; (b)
 * a clone that snap could not record before it died. Clones of kind (b) are
 * exiting, and started after their process was listed. The process cannot have
 * made such a child itself, since all of its threads were stopped until snap
 * died. Do not read the stat of other processes: if one is inside execve(2),
 * the read may wait for a file server.
 */
static int
find_pid(void *arg, long pid)
{
	struct finding_clones *f = arg;
	struct guard *g = f->guard;
	struct procstat c;
	struct clonepair *w;
	const size_t n = g->n;
	const long parent = proc_status((pid_t)pid, 0, "PPid");
	size_t i;
	bool ends, ours;
	int rc;

	if (parent != -1 && SEEK(g->v, n, x->target == parent) == NULL)
		return 0;
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
		if (((ours && ends) || (c.state == 'Z' &&
		    is_marked((pid_t)pid))) &&
		    SEEK(g->v, g->n, x->clone == pid &&
		    x->start == c.v[STAT_START]) == NULL)
			(void)pair_add(g, &(struct clonepair){
			    .target = w->target, .clone = (pid_t)pid,
			    .start = c.v[STAT_START] });
	}
	return 0;
}

/*
 * Search all processes for clones, and add them to the list of guard g. Each
 * call looks for every clone that was not recorded. The search for a clone ends
 * after LOOKS calls. It ends earlier if no candidate is left and the process
 * has returned from the call that makes the clone. All candidates are added,
 * even those that another snap, now killed, may have made: the guard of that
 * snap may have added ours.
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
