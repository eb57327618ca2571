/*
 * Clones of the address spaces of stopped processes. With them, snap(1) can
 * release processes before it reads their memory; -s makes none.
 *
 * A stopped process is made to clone itself by an injected clone(2) without an
 * exit signal. Memory is then shared with the clone until one of the two writes
 * to it; the clone never runs. Memory that a clone does not inherit is copied
 * before the release (gaps.c). Clones are made of all processes or of none
 * (make.c): if one cannot be made, all processes stay stopped until their
 * memory has been read.
 *
 * A clone is a child of its process, which would be left with a zombie; the
 * guard (guard.c) makes the process reap it.
 *
 * A clone may be killed while it is read, as all processes of a container are
 * when its first process dies. A thread of ours therefore waits for such
 * clones: the parent cannot reap a clone before its tracer has waited for it,
 * and the container's first process waits for both (zap_pid_ns_processes of
 * kernel/pid_namespace.c). The same holds for a process that was seized, and
 * then left out because it was dumping core.
 */
#include "bisect.h"
#include "clock.h"
#include "cloning.h"
#include "linux/inject/inject.h"
#include "state/state.h"
#include "worker.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <signal.h>

/*
 * Kill the clone with this process ID if we trace it. If we do not, the process
 * ID may belong to another process. If kill(2) fails, use PTRACE_KILL, which
 * needs no CAP_KILL.
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
 * Wait up to five seconds for a killed clone to end. If it takes longer, the
 * kernel kills it when we exit (PTRACE_O_EXITKILL).
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
 * If pid, a thread that we trace, has ended, set *ended to true and wait for it
 * with waitid(2), so that its parent can reap it. Leave its ptrace stops to the
 * thread that traces it.
 */
static void
ended_reap(pid_t pid, atomic_bool *ended)
{
	enum { ENDED = WEXITED | WNOHANG | __WALL };
	siginfo_t si = { 0 };

	if (waitid(P_PID, (id_t)pid, &si, ENDED | WNOWAIT) == -1 ||
	    si.si_pid == 0 || si.si_code == CLD_TRAPPED)
		return;
	*ended = true;
	(void)waitid(P_PID, (id_t)pid, &si, ENDED);
}

/*
 * Return true if process pid has ended, with all its threads. Unlike
 * proc_ended(), do not wait for a thread inside execve(2).
 */
static bool
is_over(pid_t pid)
{
	const char state = proc_state(pid, 0);

	return state == '\0' ? errno == ESRCH :
	    state == 'Z' && proc_status(pid, 0, "Threads") <= 1;
}

/*
 * Kill the clones of set l that are read for no process that still runs. The
 * cgroup of an ended process, its memory and its PID namespace would wait for
 * the clone.
 */
static void
orphans_kill(struct live *l)
{
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		p->orphan = p->clone > 0 && p->head == NULL && !p->ended &&
		    is_over(p->pid);
	TAILQ_FOREACH(p, &l->procs, entry)
		if (p->head != NULL && p->head->orphan && !is_over(p->pid))
			p->head->orphan = false;
	TAILQ_FOREACH(p, &l->procs, entry)
		if (p->orphan)
			clone_kill(p->clone);
}

static void *
clones_reap(void *arg)
{
	enum { NAP_US = 20000, SECOND = 50 };
	struct live *l = arg;
	struct lproc *p;
	struct lthread *t;
	unsigned int i;

	for (i = 0; l->watched; i++, nap_us(NAP_US)) {
		/* the next moment may be hours away */
		if (l->kept && i % SECOND == 0)
			orphans_kill(l);
		TAILQ_FOREACH(p, &l->procs, entry) {
			if (p->clone > 0 && p->head == NULL && !p->ended)
				ended_reap(p->clone, &p->ended);
			if (!p->skip)
				continue;
			/* it was left out because it was dumping core */
			TAILQ_FOREACH(t, &p->threads, entry)
				if (t->hold == HOLD_BUSY && !t->ended)
					ended_reap(t->tid, &t->ended);
		}
	}
	return NULL;
}

/*
 * Start a thread that reaps each clone of set l when it ends, and each ended
 * thread of processes that were left out. After live_keep() it also kills
 * clones whose processes have ended. It runs until clones_end() is called.
 * If the thread cannot be started, clones_end() reaps the clones.
 */
void
clones_watch(struct live *l)
{
	l->watched = true;
	l->watched = worker_start(&l->watcher, clones_reap, l) == 0;
}

/*
 * Return true if the clone of process p is still stopped. If its state cannot
 * be read, return false: data read from it could not be trusted.
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
	/* after it was waited for, its number may be reused */
	return state == 't' && !head->ended;
}

/*
 * Return true with errstr set if the clone of process p was killed. Most likely
 * the kernel killed it for lack of memory. A clone loses its pages as it dies.
 * The caller must therefore call this function after each read from the clone;
 * the data read are valid only if the result is false.
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
 * Return true if pid is a clone that belongs to set l or to an earlier set of
 * the same snapshot (opts.before). l may be NULL.
 */
bool
live_isclone(const struct live *l, pid_t pid)
{
	const struct lproc *p, *head;

	for (; l != NULL; l = l->opts.before)
		TAILQ_FOREACH(p, &l->procs, entry) {
			head = p->head == NULL ? p : p->head;
			/* the ID of a reaped clone may be reused */
			if (p->clone == pid && (!head->ended ||
			    proc_state(pid, pid) == 'Z'))
				return true;
		}
	return false;
}

/*
 * Return true if the processes of set l, which were captured, have clones.
 */
bool
live_hasclones(const struct live *l)
{
	return LSEEK(&l->procs, x->clone > 0) != NULL;
}

/*
 * Return true if data of set l were lost. Either a clone was killed before it
 * was read completely, or copies made while the processes were stopped could
 * not be written.
 */
bool
live_lost(const struct live *l)
{
	return l->lost || LSEEK(&l->procs, x->lost) != NULL;
}

/*
 * Kill all clones of set l. From now on, the processes themselves are read.
 * Each clone stays a zombie as long as its process is stopped.
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
 * Return the number of bytes of memory that only clone pid has, in the pages
 * that the kernel copied when the cloned process wrote to them. Return 0 if the
 * number cannot be read from proc_pid_smaps(5).
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
 * Kill all clones of set l, and have the guard reap them. If a clone remains,
 * warn the user.
 */
void
clones_end(struct live *l)
{
	const struct lproc *p;

	if (l->watched) {
		l->watched = false;
		(void)pthread_join(l->watcher, NULL);
	}
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
		    "snap-guard keeps trying");
		break;
	case -1:
		live_warn(l, "a clone could not be reaped: it stays a zombie "
		    "as long as its process runs");
	}
	l->guard = NULL;
	huge_join(l);
}
