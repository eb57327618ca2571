/*
 * Children in vfork(2), which posix_spawn(3) also uses. Their parent sleeps
 * uninterruptibly until they call execve(2) or exit. So it does not stop if a
 * child has stopped first.
 */
#include "stop.h"

/*
 * Return true if process c, all of whose threads have stopped, may be a child
 * for which a thread of process p waits in vfork(2). The stack of a child of
 * vfork(2) starts at the same address as the stack of p. So does the stack of a
 * child of fork(2). kcmp(2) would distinguish the two, but it waits while a
 * thread of p is inside execve(2).
 */
static bool
may_spawn(const struct lproc *p, const struct lproc *c)
{
	struct procstat parent, child;

	/* a process found before the stop that shared no memory then */
	if (c->alone || !lproc_has(c, HOLD_STOPPED) ||
	    lproc_has(c, HOLD_INTERRUPTED))
		return false;
	return proc_readstat(p->pid, 0, &parent) >= STAT_STARTSTACK &&
	    proc_readstat(c->pid, 0, &child) >= STAT_STARTSTACK &&
	    child.v[STAT_PPID] == (uint64_t)p->pid &&
	    child.v[STAT_STARTSTACK] == parent.v[STAT_STARTSTACK];
}

/*
 * Release the children in set l for which process p may wait in vfork(2), and
 * free the facts that were read about them. When p has stopped, the caller must
 * handle these children like new processes: look at them, seize and stop them.
 * Return true if there are any.
 */
bool
spawning_release(struct live *l, const struct lproc *p)
{
	struct lproc *c;
	bool any = false;

	TAILQ_FOREACH(c, &l->procs, entry) {
		if (!may_spawn(p, c))
			continue;
		threads_release(c);
		threads_free(c);
		mappings_free(c);
		any = true;
	}
	return any;
}
