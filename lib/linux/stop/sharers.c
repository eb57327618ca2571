/*
 * Processes that have the memory of one of a set and are not of the set:
 * clone(2) with CLONE_VM makes such, and vfork(2) for a while.  They are not
 * stopped, and may write to the memory while it is read.
 *
 * All processes are looked at once, before any is stopped.  Which of them may
 * share is told by where their stacks begin: a few words of stat, which a copy
 * of a process has, too.  kcmp(2) tells which do.
 */
#include "bisect.h"
#include "clock.h"
#include "stopping.h"
#include "vec.h"

#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <stdlib.h>
#include <unistd.h>

enum {
	SPAWNING_MS = 200,	/* for a child of vfork(2) to call execve(2) */
	MAX_TELL = 20		/* lines */
};

struct sharer {			/* a process that may share memory */
	uint64_t	 stack;	/* where it begins */
	pid_t		 pid;
	pid_t		 with;	/* of the set; 0: it is of it itself */
};

struct sharers {
	struct live	*live;
	struct sharer	*v;	/* owned */
	size_t		 n;
	struct sharer	*set;	/* owned; those of the set, in order */
	size_t		 nset;
};

/*
 * Return where the stack of a process begins: proc_pid_stat(5). 0 if it has no
 * memory, or that is not told.
 */
static uint64_t
stack_start(pid_t pid)
{
	struct procstat st;

	return proc_readstat(pid, 0, &st) == -1 ? 0 : st.v[STAT_STARTSTACK];
}

/*
 * Order processes by their stacks, and those with the same by their memories,
 * which kcmp(2) puts into an order.
 */
static int
sharer_cmp(const void *a, const void *b)
{
	const struct sharer *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	switch (syscall(SYS_kcmp, x->pid, y->pid, KCMP_VM, 0L, 0L)) {
	case 1:
		return -1;
	case 2:
		return 1;
	default:
		return 0;
	}
}

/*
 * Return true if two processes share their memory.
 */
static bool
is_shared(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0L, 0L) == 0;
}

static int
sharer_add(struct sharer **v, size_t *n, const struct sharer *sh)
{
	if (VEC_ROOM(*v, *n) == -1)
		return -1;
	(*v)[(*n)++] = *sh;
	return 0;
}

/*
 * Set sharer of all processes of the set that share memory with process sh.
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
 * Note process pid if it shares memory with one of the set.  Copies of a
 * process, whose stacks begin where its own does, may be many.
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
	return sharer_add(&s->v, &s->n, &sh);
}

/*
 * Gather those of the set, in order.
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
		    sharer_add(&s->set, &s->nset, &sh) == -1)
			return -1;
	}
	SORT(s->set, s->nset, sharer_cmp);
	return 0;
}

/*
 * Drop those that do not share any more: the child of a posix_spawn(3) runs
 * its program after a moment.
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
 * Warn the user about processes that share the memory of a process of set l and
 * run while it is read, and set its sharer.  Nothing is stopped yet.  Return 0,
 * or -1 with errstr.
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
		live_warn(l, "process %d shares the memory of process %d and "
		    "is not taken: it goes on, and may change that while it "
		    "is read", s.v[i].pid, s.v[i].with);
	if (i < s.n && rc == 0)
		live_warn(l, "%zu more processes share memory and go on",
		    s.n - i);
	free(s.v);
	free(s.set);
	return rc;
}
