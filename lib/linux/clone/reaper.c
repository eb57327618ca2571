/*
 * Reaping clones (clone.c), done by the guard (guard.c).
 *
 * A clone is a child of the process that it was made from. When it has ended it
 * is a zombie that only its parent can reap, so the parent is stopped once more
 * for an instant and made to call wait4(2).
 */
#include "bisect.h"
#include "cloning.h"
#include "linux/inject/inject.h"
#include "linux/stop/stop.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <signal.h>
#include <unistd.h>

enum {
	TRIES = 20, /* maximum number of failed attempts to reap a clone */
	NEVER = -2
};

/*
 * Return 1 if process p has returned from the call that makes its clone. Return
 * 0 if it has not, or if that cannot be determined. It cannot be determined if
 * the first thread of p is not stopped.
 */
static int
past_call(const struct lproc *p)
{
	return TAILQ_FIRST(&p->threads)->hold == HOLD_STOPPED &&
	    inject_willclone(p->pid) == 0;
}

/*
 * Make process p of pair w reap its clone, if all threads of p are stopped.
 * Return 1 if the clone was reaped, 0 to try again, or -1 if the attempt
 * failed. Return NEVER if the process must be left alone.
 */
static int
reap_call(const struct clonepair *w, const struct lproc *p)
{
	uint64_t arg[6] = { 0, 0, WNOHANG | __WALL };
	struct inject *in;
	struct procstat c;
	int64_t got;
	int rc;

	got = 0;
	if ((rc = pair_owns(w, &c)) != 1)
		return rc == 0 ? 1 : -1;
	if (lproc_stands(p) == -1)
		return 0;
	/* the clone's ID in the PID namespace of its parent */
	if (proc_inner(w->clone, 0, &arg[0]) == 0 || arg[0] == 0)
		return -1;
	errno = 0;
	if ((in = inject_begin(p, false, NULL)) == NULL)
		return errno == EAGAIN ? 0 : -1;
	rc = inject_call(in, &got, SYS_wait4, arg);
	if (inject_end(in, rc) == -1)
		return errno == EAGAIN ? 0 : errno == EPROTO ? NEVER : -1;
	return got == (int64_t)arg[0] || got == -ECHILD;
}

/*
 * Stop the threads of process p, and list them again until there are no new
 * ones. Do nothing if they will probably not stop at once: if one is in
 * uninterruptible sleep, or if p has a tracer.
 */
static void
threads_hold(struct lproc *p)
{
	enum { ROUNDS = 8 };
	int i, rc;

	for (i = 0; i < ROUNDS && threads_list(p, false) == 0; i++) {
		if (i == 0 && (LSEEK(&p->threads, proc_state(p->pid, x->tid) ==
		    'D') != NULL || proc_status(p->pid, 0, "TracerPid") > 0))
			return;
		rc = threads_seize(p);
		threads_stop(p);
		threads_await(p);
		if (rc != 1)
			return;
	}
}

/*
 * Stop the process of pair w, call past_call() if its clone is not known yet,
 * else reap_call(), and release the process. A thread that does not stop within
 * milliseconds is left as it is. Set *kept to true if we still trace such a
 * thread; it is released when this process exits. Return the result of the
 * call, or -1 if memory runs out.
 */
static int
pair_hold(const struct clonepair *w, bool *kept)
{
	struct lproc p = { .pid = w->target };
	int rc;

	TAILQ_INIT(&p.threads);
	RB_INIT(&p.tids);
	if (threads_add(&p, w->target) == NULL)
		return -1;
	threads_hold(&p);
	rc = w->clone == 0 ? past_call(&p) : reap_call(w, &p);
	threads_release(&p);
	/* only a stopped thread can be released */
	*kept = lproc_has(&p, HOLD_INTERRUPTED) || lproc_has(&p, HOLD_BUSY);
	threads_free(&p);
	return rc;
}

/*
 * Kill the clone of pair w, unless its process ID was reused. If kill(2) is not
 * permitted, become its tracer and use PTRACE_KILL, which needs no CAP_KILL.
 */
static void
clone_kill(const struct clonepair *w)
{
	struct procstat c;
	int fd;

	if ((fd = (int)syscall(SYS_pidfd_open, w->clone, 0)) == -1)
		return;
	if (pair_owns(w, &c) == 1 && syscall(SYS_pidfd_send_signal, fd,
	    SIGKILL, NULL, 0) == -1 && errno == EPERM &&
	    ptrace(PTRACE_SEIZE, w->clone, NULL, NULL) == 0 &&
	    pair_owns(w, &c) == 1)
		(void)ptrace(PTRACE_KILL, w->clone, NULL, NULL);
	close(fd);
}

/*
 * Reap the clone of pair w if it has ended; otherwise kill it. If its process
 * has gone, do nothing: the clone has gone too, or has another parent. Set
 * *kept as pair_hold() does. Return the result of reap_call().
 */
static int
clone_reap(const struct clonepair *w, bool *kept)
{
	struct procstat c;
	int rc;

	if ((rc = pair_owns(w, &c)) != 1)
		return rc == 0 ? 1 : -1;
	if (c.state == 'Z')
		return pair_hold(w, kept);
	clone_kill(w);
	return 0;
}

/*
 * Return true if nothing is left to do for pair w. If its clone could not be
 * reaped, w->clone is still set.
 */
bool
pair_isdone(const struct clonepair *w)
{
	return w->clone < 0 || (w->clone > 0 && w->tries >= TRIES);
}

/*
 * Try to reap the clone of pair w. If the clone is not known yet, check whether
 * its process has returned from the call that makes it. Return true if the
 * clone, or threads of the process, stay traced until this process exits.
 */
bool
pair_try(struct clonepair *w)
{
	bool kept;
	int rc;

	kept = false;
	if (pair_isdone(w))
		return false;
	if (w->clone == 0) {
		w->past = pair_hold(w, &kept) == 1 ||
		    proc_died(w->target, w->target);
		return kept;
	}
	if ((rc = clone_reap(w, &kept)) == 1)
		w->clone = -1;
	else if (rc == NEVER)
		w->tries = TRIES;
	else if (rc == -1)
		w->tries++;
	return kept;
}
