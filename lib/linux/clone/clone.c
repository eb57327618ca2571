/*
 * Clones of the address spaces of stopped processes, so that these can go on
 * before their memory is read, as snap(1) does without -s.
 *
 * A stopped process is made to clone itself without an exit signal; its
 * memory is then shared with the clone until one of them writes to it, and
 * the clone never runs.  What it lacks of the memory of the process is copied
 * meanwhile (lacks.c).  Clones are made of all processes or of none (make.c):
 * where one cannot be made, all stay stopped until their memory was read.
 *
 * A clone is a child of the process, and would be its zombie in the end; it
 * is the guard (guard.c) that sees to that.
 *
 * A clone that dies while it is read, as all processes of a container do when
 * the first of them dies, is waited for at once by a thread that does nothing
 * else: until its tracer has done that, its parent cannot, and the first
 * process of the container waits for both (zap_pid_ns_processes of
 * kernel/pid_namespace.c).
 */
#include "clock.h"
#include "cloning.h"
#include "linux/inject/inject.h"
#include "state/state.h"
#include "worker.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Kill a clone, if we trace it: its number is that of no other process then.
 * PTRACE_KILL takes no CAP_KILL.
 */
static void
clone_kill(pid_t clone)
{
	siginfo_t si;

	if (clone > 0 && (waitid(P_PID, (id_t)clone, &si, WEXITED | WSTOPPED |
	    WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD) &&
	    kill(clone, SIGKILL) == -1)
		(void)ptrace(PTRACE_KILL, clone, NULL, NULL);
}

/*
 * Wait, for five seconds at the most, until a clone that was killed has ended:
 * what is left of it then, the kernel kills when we end.
 */
static void
clone_await(pid_t clone)
{
	enum { PATIENCE_MS = 5000 };
	uint64_t start;
	int status;
	pid_t rc;

	for (start = now_ms(); now_ms() - start < PATIENCE_MS; nap_us(50)) {
		rc = waitpid(clone, &status, WNOHANG | __WALL);
		if (rc == -1 ? errno != EINTR : rc > 0 && !WIFSTOPPED(status))
			return;
	}
}

/*
 * Wait for the clone of process p if it has ended.  A stop of it is left to
 * the thread that traces it.
 */
static void
clone_reap(struct lproc *p)
{
	enum { ENDED = WEXITED | WNOHANG | __WALL };
	siginfo_t si = { 0 };

	if (waitid(P_PID, (id_t)p->clone, &si, ENDED | WNOWAIT) == -1 ||
	    si.si_pid == 0 || si.si_code == CLD_TRAPPED)
		return;
	p->ended = true;
	(void)waitid(P_PID, (id_t)p->clone, &si, ENDED);
}

static void *
clones_reap(void *arg)
{
	enum { NAP_US = 20000 };
	struct live *l = arg;
	struct lproc *p;

	for (; l->watched; nap_us(NAP_US))
		TAILQ_FOREACH(p, &l->procs, entry)
			if (p->clone > 0 && p->head == NULL && !p->ended)
				clone_reap(p);
	return NULL;
}

/*
 * Wait for the clones of set l as they end, in a thread, up to clones_end.
 * Where no thread can be had, clones_end does.
 */
void
clones_watch(struct live *l)
{
	l->watched = true;
	l->watched = worker_start(&l->watcher, clones_reap, l) == 0;
}

/*
 * End the thread of clones_watch.
 */
static void
clones_unwatch(struct live *l)
{
	if (!l->watched)
		return;
	l->watched = false;
	(void)pthread_join(l->watcher, NULL);
}

/*
 * Return true if the clone of process p still stands where it was stopped.  One
 * that cannot be looked at at all counts as killed: nothing that is read of it
 * is certain.
 */
static bool
clone_stands(const struct lproc *p)
{
	enum { TRIES = 3 };
	const struct lproc *head = p->head == NULL ? p : p->head;
	char state;
	int i;

	for (state = '\0', i = 0; state == '\0' && i < TRIES; i++)
		state = proc_state(p->clone, p->clone);
	/* once it has been waited for, another process may have its number */
	return state == 't' && !head->ended;
}

/*
 * Return true, with errstr, if the clone of process p was killed, by the
 * kernel most likely, for want of memory.  Its pages go as soon as it does not
 * stand still any more: what was read of it, or learnt of its pages, is right
 * if this returns false afterwards.
 */
bool
clone_lost(struct lproc *p)
{
	if (p->clone <= 0 || clone_stands(p))
		return false;
	p->lost = true;
	errstr_set("its clone was killed%s%s", p->limit == NULL ? "" : ": ",
	    p->limit == NULL ? "" : p->limit);
	return true;
}

/*
 * Return true if a clone of set l was killed before all was read of it, or what
 * was copied in the stop could not be written.
 */
bool
live_lost(const struct live *l)
{
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (p->lost)
			return true;
	return l->lost;
}

/*
 * Kill all clones of set l, and have the processes themselves in their place.
 * As long as its process is stopped, each clone is a zombie.
 */
void
clones_kill(struct live *l)
{
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		clone_kill(p->clone);
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->clone > 0)
			clone_await(p->clone);
		(void)inject_relinquish(p->calls, 0);
		p->calls = NULL;
		p->clone = 0;
		p->ended = false;
		p->mmtid = p->origin;
		p->head = NULL;
	}
}

/*
 * Return how many bytes clone pid alone has: those that its process has
 * written to since, each of which was copied for that.  0 if that is not told:
 * proc_pid_smaps(5).
 */
static uint64_t
clone_own(pid_t pid)
{
	struct bytes b;
	uint64_t kb;

	if (proc_read(pid, 0, "smaps_rollup", &b) == -1)
		return 0;
	kb = status_first(b.data, b.len, "Private_Clean", 10) +
	    status_first(b.data, b.len, "Private_Dirty", 10);
	free(b.data);
	return kb * KB;
}

/*
 * Kill all clones of set l and have the guard reap them; tell the user if
 * something of them is left.
 */
void
clones_end(struct live *l)
{
	const struct lproc *p;

	clones_unwatch(l);
	TAILQ_FOREACH(p, &l->procs, entry)
		if (l->opts.verbose && p->clone > 0 && p->head == NULL &&
		    !p->ended)
			l->copied += clone_own(p->clone);
	clones_kill(l);
	if (l->guard == NULL)
		return;
	switch (guard_end(l->guard)) {
	case 0:
		live_warn(l, "a clone could not be reaped yet: process "
		    "snap-guard sees to it");
		break;
	case -1:
		live_warn(l, "a clone could not be reaped: it is a zombie as "
		    "long as its process runs");
	}
	l->guard = NULL;
	huge_join(l);
}
