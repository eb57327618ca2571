/*
 * Find processes outside a set that share the memory of a process in it, as
 * clone(2) with CLONE_VM makes them, and vfork(2) for a while. They are not
 * stopped, and may write to the memory while it is read.
 *
 * All processes are searched once, before any is stopped. Those whose stack
 * starts at the same address as that of a process of the set are candidates:
 * this is cheap to read from stat, but is true of forked copies as well.
 * kcmp(2) then decides.
 */
#include "bisect.h"
#include "clock.h"
#include "stopping.h"
#include "vec.h"

#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <unistd.h>

enum {
	SPAWNING_MS = 200, /* time allowed for a child of vfork(2) to call
			      execve(2) */
	MAX_TELL = 20		/* maximum number of warnings */
};

struct sharer {			/* a process that may share memory */
	uint64_t	 stack;	/* start address of the process's stack */
	pid_t		 pid;
	pid_t		 with;	/* process of the set that this one shares
				   memory with; 0: this one is in the set */
};

struct sharers {
	struct live	*live;
	struct sharer	*v;	/* owned; sharers found */
	size_t		 n;
	struct sharer	*set;	/* owned; processes of the set, sorted by
				   sharer_cmp() */
	size_t		 nset;
};

/*
 * Return the start address of the stack of process pid (proc_pid_stat(5)).
 * Return 0 if it has no memory or the address is hidden.
 */
static uint64_t
stack_start(pid_t pid)
{
	struct procstat st;

	return proc_readstat(pid, 0, &st) == -1 ? 0 : st.v[STAT_STARTSTACK];
}

/*
 * Compare two processes by the start addresses of their stacks. If these are
 * equal, compare their memory, in the order that kcmp(2) defines.
 */
static int
sharer_cmp(const void *a, const void *b)
{
	const struct sharer *x = a, *y = b;
	long order;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	order = syscall(SYS_kcmp, x->pid, y->pid, KCMP_VM, 0L, 0L);
	return order == 1 ? -1 : order == 2;
}

/*
 * Return true if processes a and b share their memory.
 */
static bool
is_shared(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0L, 0L) == 0;
}

/*
 * For each process of the set that shares memory with the process of sh, set
 * the sharer member to the ID of the process of sh.
 */
static void
set_note(struct sharers *s, const struct sharer *sh)
{
	struct lproc *p;
	size_t i;

	for (i = 0; i < s->nset; i++)
		if (s->set[i].stack == sh->stack &&
		    is_shared(s->set[i].pid, sh->pid) &&
		    (p = lproc_find(s->live, s->set[i].pid)) != NULL)
			p->sharer = sh->pid;
}

/*
 * Add process pid to the list if it shares memory with a process of the set.
 * Use a binary search: a process may have many forked copies, all with the same
 * stack address.
 */
static int
sharer_look(void *arg, long pid)
{
	struct sharers *s = arg;
	struct sharer sh = { .pid = (pid_t)pid };
	const struct sharer *with;
	const struct lproc *p;

	p = lproc_find(s->live, (pid_t)pid);
	if ((p != NULL && !p->skip) || pid == getpid() ||
	    (sh.stack = stack_start((pid_t)pid)) == 0)
		return 0;
	with = FIND_BY(&sh, s->set, s->nset, sharer_cmp);
	if (with == NULL || !is_shared(with->pid, sh.pid))
		return 0;
	sh.with = with->pid;
	return VEC_ADD(s->v, s->n, sh);
}

/*
 * Set the member "alone" of each process of the set that shares memory with no
 * other process of the set.
 */
static void
set_alone(struct sharers *s)
{
	struct lproc *p;
	bool after, before;
	size_t i;

	for (before = false, i = 0; i < s->nset; i++, before = after) {
		after = i + 1 < s->nset &&
		    sharer_cmp(&s->set[i], &s->set[i + 1]) == 0;
		p = lproc_find(s->live, s->set[i].pid);
		if (p != NULL)
			p->alone = !before && !after;
	}
}

/*
 * Collect the processes of the set in s->set, and sort them.
 */
static int
set_gather(struct sharers *s)
{
	const struct lproc *p;
	struct sharer sh = { 0 };

	TAILQ_FOREACH(p, &s->live->procs, entry) {
		if (!lproc_istaken(p))
			continue;
		sh.pid = p->pid;
		if ((sh.stack = stack_start(p->pid)) != 0 &&
		    VEC_ADD(s->set, s->nset, sh) == -1)
			return -1;
	}
	SORT(s->set, s->nset, sharer_cmp);
	set_alone(s);
	return 0;
}

/*
 * Wait up to 200 ms until the sharers no longer share memory, and drop from the
 * list those for which this is so. For example, a child of posix_spawn(3)
 * shares memory only until it calls execve(2).
 */
static void
sharers_settle(struct sharers *s)
{
	uint64_t start;
	size_t i, n;

	for (start = now_ms(); s->n > 0 && now_ms() - start < SPAWNING_MS;) {
		nap_us(5000);
		for (i = n = 0; i < s->n; i++)
			if (is_shared(s->v[i].with, s->v[i].pid))
				s->v[n++] = s->v[i];
		s->n = n;
	}
}

/*
 * Find the processes outside set l that share the memory of a process of the
 * set, and keep running while the memory is read. Warn the user about them. In
 * each process of the set whose memory is shared, set the sharer member to the
 * ID of a process that shares it. The caller must not have stopped anything
 * yet. Return 0, or -1 with errstr set.
 */
int
sharers_record(struct live *l)
{
	struct sharers s = { .live = l };
	size_t i;
	int rc;

	rc = set_gather(&s);
	if (rc == 0 && s.nset > 0 &&
	    (rc = proc_list(0, NULL, sharer_look, &s)) == 0)
		sharers_settle(&s);
	for (i = 0; i < s.n; i++)
		set_note(&s, &s.v[i]);
	for (i = 0; i < s.n && i < MAX_TELL && rc == 0; i++)
		live_warn(l, "process %d shares the memory of process %d but "
		    "is not captured: it keeps running, and may change the "
		    "memory during the capture", s.v[i].pid, s.v[i].with);
	if (i < s.n && rc == 0)
		live_warn(l, "%zu more processes share memory and keep running",
		    s.n - i);
	free(s.v);
	free(s.set);
	return rc;
}
