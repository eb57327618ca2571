/*
 * To become the tracer of a thread: PTRACE_SEIZE, which leaves it running.
 *
 * The kernel lets nobody attach to a process while it is inside execve(2): who
 * tries waits for cred_guard_mutex (ptrace_attach of kernel/ptrace.c), and that
 * is until a file server has delivered the program, or for ever.  A signal ends
 * the wait, but the kernel makes the call again when its handler returns.  So
 * the handler of our timer does not return: it jumps out.  The caller tries
 * again later.
 */
#include "clock.h"
#include "stopping.h"

#include <sys/ptrace.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id		/* glibc has no name for it */
#define sigev_notify_thread_id	_sigev_un._tid
#endif

enum { SEIZE_MS = 20 };		/* longer than most calls of execve(2) take */

static _Thread_local sigjmp_buf late;
static _Thread_local volatile sig_atomic_t attaching;

static void
on_late(int sig)
{
	(void)sig;
	if (attaching)
		siglongjmp(late, 1);
}

/*
 * Seize thread tid.  Return 0, or -1 with errno: ETIMEDOUT if the kernel did
 * not let us in time.  It may have, all the same, just then: who tries again
 * finds that we trace the thread.
 */
static int
attach_timed(pid_t tid)
{
	volatile int rc = -1, e = ETIMEDOUT;

	attaching = 1;
	if (sigsetjmp(late, 0) == 0) {
		rc = (int)ptrace(PTRACE_SEIZE, tid, NULL, NULL);
		e = errno;
	}
	attaching = 0;
	errno = e;
	return rc;
}

/*
 * Call attach_timed with a timer that ends it.
 */
static int
attach(pid_t tid)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID,
	    .sigev_signo = SIGALRM };
	const struct itimerspec it = { .it_value = {
	    .tv_nsec = SEIZE_MS * 1000000 } };
	/* what is blocked when we jump stays as it is */
	const struct sigaction sa = { .sa_handler = on_late,
	    .sa_flags = SA_NODEFER };
	struct sigaction was;
	sigset_t set, mask;
	timer_t timer;
	int e, rc;

	ev.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) == -1)
		return -1;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaction(SIGALRM, &sa, &was);
	pthread_sigmask(SIG_UNBLOCK, &set, &mask);
	(void)timer_settime(timer, 0, &it, NULL);
	rc = attach_timed(tid);
	e = errno;
	(void)timer_delete(timer);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGALRM, &was, NULL);
	errno = e;
	return rc;
}

/*
 * Seize thread tid: 0, or -1 with errno, and in *tracer who else traces it, 0
 * if nobody is seen to.  That may be over, another snap's work perhaps, before
 * one can ask who it is: then it is tried again.  A zombie is not waited for:
 * others stand still meanwhile.
 */
static int
seize_patiently(const struct lproc *p, pid_t tid, long *tracer)
{
	int e, i;

	*tracer = 0;
	for (i = 0; attach(tid) == -1; i++) {
		e = errno;
		if (e == EPERM)
			*tracer = proc_status(p->pid, tid, "TracerPid");
		if (e != EPERM || i == 5 || *tracer != 0 ||
		    proc_died(p->pid, tid)) {
			errno = e;
			return -1;
		}
		nap_us(1000);
	}
	return 0;
}

/*
 * Return 0, or -1 with errstr if process pid may be traced but its files in
 * /proc are for its user alone, so that its memory cannot be had.  They are
 * not opened for that: that might wait, as attach does.
 */
static int
mem_refused(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
		return 0;
	return errno != EACCES ? 0 : errstr_set("process %d belongs to "
	    "another user, or is not dumpable: beside CAP_SYS_PTRACE, "
	    "CAP_DAC_READ_SEARCH is needed", pid);
}

/*
 * Seize thread t, which runs on.  Return 0; SEIZE_WAITS if process p is inside
 * execve(2): nothing has changed then; -1 with errstr only where p cannot be
 * taken.  Who traces the thread that leads p is left in p->tracer.
 */
int
thread_seize(struct lproc *p, struct lthread *t)
{
	long tracer;

	if (p->kernel)
		return 0;
	/* a thread that we traced may have its number, by execve(2) */
	if (seize_patiently(p, t->tid, &tracer) == 0 || tracer == gettid()) {
		t->hold = HOLD_SEIZED;
		return t->tid == p->pid ? mem_refused(p->pid) : 0;
	}
	if (errno == ETIMEDOUT)
		return SEIZE_WAITS;
	/* whom no one can trace any more is a zombie, perhaps since now */
	if (errno == ESRCH || proc_died(p->pid, t->tid)) {
		t->hold = HOLD_GONE;
		return 0;
	}
	if (tracer > 0) {
		t->hold = HOLD_FOREIGN;
		t->tracer = tracer;
		if (t->tid == p->pid)
			p->tracer = tracer;
		return 0;
	}
	return proc_refused(p->pid);
}
