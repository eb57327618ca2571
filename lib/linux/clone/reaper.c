/*
 * The reaping of clones (clone.c), by the guard (guard.c).
 *
 * A clone is a child of the process that it is of.  When it has ended it is a
 * zombie that only its parent can reap, so the parent is stopped once more
 * for an instant and made to.
 *
 * Of the last clones we may not have been told: who made them was killed on the
 * way.  Its process then goes on with the call that makes the clone, or has
 * made it, and the clone ends by itself; but on a busy machine that takes as
 * long as it takes.  So the process is stopped to see whether the call is
 * behind it.
 */
#include "clock.h"
#include "cloning.h"
#include "linux/inject/inject.h"
#include "linux/stop/stop.h"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	TRIES = 20,		/* to run something in a process */
	NEVER = -2,
	ENDINGS = 20,		/* milliseconds for a clone to end */
	LOOKS = 40,		/* for a clone that is not known */
	LOOK_US = 500000	/* between two, at the most */
};

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
static int
ward_owns(const struct ward *w, struct procstat *c)
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
 * Return true, and set *left, if process pid is a clone of the process of ward
 * w that an earlier snapshot left behind.
 */
bool
ward_isleft(const struct ward *w, pid_t pid, struct ward *left)
{
	struct procstat c;
	struct rlimit lim;

	if (child_look(pid, &c) != 1 || c.state != 'Z' ||
	    !is_clone(&c, w->target) ||
	    prlimit(pid, RLIMIT_FSIZE, NULL, &lim) == -1 ||
	    lim.rlim_cur != mark.rlim_cur || lim.rlim_max != mark.rlim_max)
		return false;
	*left = (struct ward){ .target = w->target, .clone = pid,
	    .since = w->since, .start = c.v[STAT_START] };
	return true;
}

struct finding_clone {
	struct ward	*ward;
	uint64_t	 until;	/* in ticks */
	bool		 living; /* one may not have ended yet */
};

/*
 * Look whether process pid is the clone of a ward that we were not told of.
 * That ends by itself; it was made while all threads of its process were
 * stopped, or when the one that makes it was let go by our death.
 */
static int
find_pid(void *arg, long pid)
{
	struct finding_clone *f = arg;
	struct procstat c;
	int rc;

	if ((rc = child_look((pid_t)pid, &c)) == -1)
		f->living = true;
	if (rc != 1 || !is_clone(&c, f->ward->target) ||
	    c.v[STAT_START] + 1 < f->ward->since ||
	    c.v[STAT_START] > f->until)
		return 0;
	if (c.state == 'Z' || c.v[STAT_FLAGS] & PF_EXITING) {
		f->ward->clone = (pid_t)pid;
		f->ward->start = c.v[STAT_START];
	} else
		f->living = true;
	return 0;
}

/*
 * Return the number of a clone as its parent knows it, the last that NSpid
 * lists; 0 if it cannot be had.
 */
static pid_t
clone_nspid(pid_t clone)
{
	struct bytes b;
	uint64_t pid;

	pid = 0;
	if (proc_read(clone, 0, "status", &b) == -1)
		return 0;
	(void)status_inner(b.data, b.len, "NSpid", &pid);
	free(b.data);
	return (pid_t)pid;
}

/*
 * Return 1 if process p, whose first thread may be stopped, is past the call
 * that makes its clone; 0 if not, or if that cannot be seen.
 */
static int
past_call(const struct ward *w, const struct lproc *p)
{
	(void)w;
	return TAILQ_FIRST(&p->threads)->hold == HOLD_STOPPED &&
	    inject_willclone(p->pid) == 0;
}

/*
 * Make process p of ward w reap its clone, if all threads of p are stopped.
 * Return 1 when it is done, 0 when it is to be tried again, -1, or NEVER if
 * the process is to be left alone.
 */
static int
reap_call(const struct ward *w, const struct lproc *p)
{
	uint64_t arg[6] = { 0, 0, WNOHANG | __WALL };
	struct inject *in;
	struct procstat c;
	int64_t got;
	pid_t nspid;
	int rc;

	got = 0;
	if ((rc = ward_owns(w, &c)) != 1)
		return rc == 0 ? 1 : -1;
	if (lproc_stands(p) == -1)
		return 0;
	if ((nspid = clone_nspid(w->clone)) == 0 ||
	    (in = inject_begin(p, false, NULL)) == NULL)
		return -1;
	arg[0] = (uint64_t)nspid;
	rc = inject_call(in, &got, SYS_wait4, arg);
	if (inject_end(in, rc) == -1)
		return errno == EPROTO ? NEVER : -1;
	return got == nspid || got == -ECHILD;
}

typedef int	(*ward_fn)(const struct ward *, const struct lproc *);

/*
 * Call run with w and fn in a process of its own: when that ends, whatever it
 * could not do, it traces nobody.  Return what run returned, -1 if it was
 * killed.
 */
static int
ward_apart(const struct ward *w, int (*run)(const struct ward *, ward_fn),
    ward_fn fn)
{
	int status;
	pid_t pid, rc;

	if ((pid = fork()) == 0)
		_exit(run(w, fn) - NEVER);
	if (pid == -1)		/* there is none to be had */
		return run(w, fn);
	while ((rc = waitpid(pid, &status, 0)) == -1 && errno == EINTR)
		continue;
	return rc == pid && WIFEXITED(status) ? WEXITSTATUS(status) + NEVER :
	    -1;
}

/*
 * Return true if a thread of process p is still traced by us: it has not
 * stopped, and until then it cannot be let go.
 */
static bool
threads_kept(const struct lproc *p)
{
	const struct lthread *t;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_ASKED || t->hold == HOLD_BUSY)
			return true;
	return false;
}

/*
 * Return true if all threads of process p can be expected to stop at once: none
 * sleeps uninterruptibly, and p is not traced by another.
 */
static bool
threads_willstop(const struct lproc *p)
{
	const struct lthread *t;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (proc_state(p->pid, t->tid) == 'D')
			return false;
	return proc_status(p->pid, 0, "TracerPid") <= 0;
}

/*
 * Stop the threads of process p, until there are no new ones.  Those that were
 * seen in a system call go on with it: call_look.
 */
static void
threads_hold(struct lproc *p)
{
	enum { ROUNDS = 8 };
	struct lthread *t;
	int i, rc;

	for (i = 0; i < ROUNDS && threads_list(p, false) == 0; i++) {
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->hold == HOLD_NONE)
				call_look(p, t);
		if (i == 0 && !threads_willstop(p))
			return;
		rc = threads_seize(p);
		attach_end();
		threads_stop(p);
		threads_await(p);
		if (rc != 1)
			return;
	}
}

/*
 * Stop all threads of the process of ward w that stop within milliseconds, call
 * fn, and let them go.  Return what fn returned, -1 if they cannot be listed.
 * *kept tells whether threads are traced on until this process ends: those that
 * have not stopped.
 */
static int
ward_hold(const struct ward *w, ward_fn fn, bool *kept)
{
	struct lproc p = { .pid = w->target };
	int rc;

	TAILQ_INIT(&p.threads);
	RB_INIT(&p.tids);
	if (threads_add(&p, w->target) == NULL)
		return -1;
	threads_hold(&p);
	rc = fn(w, &p);
	threads_release(&p);
	*kept = threads_kept(&p);
	threads_free(&p);
	return rc;
}

static int
ward_stop(const struct ward *w, ward_fn fn)
{
	bool ignored;

	return ward_hold(w, fn, &ignored);
}

/*
 * Kill the clone of ward w, and nobody else, as its tracer, which takes no
 * CAP_KILL.
 */
static int
clone_killtraced(const struct ward *w, ward_fn unused)
{
	struct procstat c;

	(void)unused;
	if (ptrace(PTRACE_SEIZE, w->clone, NULL, NULL) == 0 &&
	    ward_owns(w, &c) == 1)
		(void)ptrace(PTRACE_KILL, w->clone, NULL, NULL);
	return 0;
}

/*
 * Kill the clone of ward w, and nobody else.
 */
static void
clone_kill(const struct ward *w)
{
	struct procstat c;
	int fd;

	if ((fd = (int)syscall(SYS_pidfd_open, w->clone, 0)) == -1)
		return;
	if (ward_owns(w, &c) == 1 && syscall(SYS_pidfd_send_signal, fd,
	    SIGKILL, NULL, 0) == -1 && errno == EPERM)
		(void)ward_apart(w, clone_killtraced, NULL);
	close(fd);
}

/*
 * Reap the clone of ward w, however long that takes.  Return false if it
 * stays.  When the process is gone, so is the clone, or it has another parent.
 */
static bool
clone_reap(const struct ward *w)
{
	struct procstat c;
	int failed, rc;
	long nap;

	failed = 0;
	for (nap = 100; (rc = ward_owns(w, &c)) != 0 && failed < TRIES;
	    nap += nap < 500000 ? nap : 0) {
		if (rc == 1 && c.state == 'Z') {
			if ((rc = ward_apart(w, ward_stop, reap_call)) == 1)
				return true;
		} else if (rc == 1) {
			clone_kill(w);
			rc = 0;
		}
		failed = rc == NEVER ? TRIES : failed + (rc == -1);
		nap_us(nap);
	}
	return failed < TRIES;
}

/*
 * Find the clone of ward w, of which we were not told.  It is looked for until
 * its process is past the call that makes it, and what may be the clone has
 * ended.
 */
static void
clone_search(struct ward *w)
{
	struct finding_clone f = { .ward = w };
	bool past;
	long nap;
	int i;

	for (i = 0, nap = 1000; i < LOOKS; i++) {
		past = ward_apart(w, ward_stop, past_call) == 1 ||
		    proc_died(w->target, w->target);
		f.living = false;
		f.until = ticks_now();
		if (proc_list(0, NULL, find_pid, &f) == -1)
			f.living = true;
		if (w->clone != 0 || (past && !f.living))
			break;
		nap_us(nap);
		nap = nap * 2 < LOOK_US ? nap * 2 : LOOK_US;
	}
}

/*
 * Reap what is left of ward w.  Return false if a clone stays.  What is found
 * by looking may be the clone of another who was killed, and whose guard found
 * this one: all are reaped that are found.
 */
bool
ward_reap(struct ward *w)
{
	if (w->clone != 0)
		return w->clone < 0 || clone_reap(w);
	for (clone_search(w); w->clone != 0; clone_search(w)) {
		if (!clone_reap(w))
			return false;
		w->clone = 0;
	}
	return true;
}

/*
 * Begin to know ward w: the number of its process, target, and of its clone,
 * which we trace, and mark; 0 if that is to be made now, -1 if there will be
 * none.  Return 0, or -1 with errstr if the clone could not be looked at.
 */
int
ward_set(struct ward *w, pid_t target, pid_t clone)
{
	struct procstat c = { 0 };

	w->target = target;
	w->clone = clone;
	w->since = ticks_now();
	if (clone > 0 && child_look(clone, &c) == -1)
		return errstr_sys("/proc/%d/stat", clone);
	w->start = c.v[STAT_START];
	if (clone > 0)
		clone_mark(clone);
	return 0;
}

/*
 * Reap the clone of ward w if that goes at once: it has ended, its process
 * stops within milliseconds and does what it is made to.  Return false if not,
 * or if the clone is not known.  *kept tells whether threads of the process
 * stay traced until this one ends.
 */
bool
ward_sweep(const struct ward *w, bool *kept)
{
	struct procstat c;
	int i, rc;

	*kept = false;
	if (w->clone <= 0)
		return w->clone < 0;
	for (i = 0; (rc = ward_owns(w, &c)) == 1 && c.state != 'Z'; i++) {
		if (i == ENDINGS)
			return false;
		nap_us(1000);
	}
	return rc == 0 || (rc == 1 && ward_hold(w, reap_call, kept) == 1);
}
