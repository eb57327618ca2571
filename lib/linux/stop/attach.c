/*
 * Become the tracer of a thread: PTRACE_SEIZE, which leaves it running.
 *
 * While a process is inside execve(2), the kernel lets nobody attach to it:
 * PTRACE_SEIZE waits for cred_guard_mutex (ptrace_attach of kernel/ptrace.c)
 * until execve(2) has read the program, which takes forever if a file server is
 * dead. A signal interrupts the wait, but the kernel restarts the call when the
 * signal handler returns. So the handler of our timer does not return; it jumps
 * out with siglongjmp(3). The caller tries again later.
 */
#include "clock.h"
#include "stopping.h"

#include <sys/ptrace.h>

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id		/* glibc has no name for it */
#define sigev_notify_thread_id	_sigev_un._tid
#endif

enum { SEIZE_MS = 20 };		/* time limit, longer than most calls of
				   execve(2) take */

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
 * Seize thread tid (PTRACE_SEIZE), but give up when the timer of attach()
 * expires. Return 0, or -1 with errno set: ETIMEDOUT if the timer expired. The
 * request may have succeeded just before; a second attempt then finds that we
 * trace the thread.
 */
static int
attach_timed(pid_t tid)
{
	volatile int rc = -1, e = ETIMEDOUT;

	if (sigsetjmp(late, 0) == 0) {
		attaching = 1;
		rc = (int)ptrace(PTRACE_SEIZE, tid, NULL, NULL);
		e = errno;
	}
	attaching = 0;
	errno = e;
	return rc;
}

/*
 * Seize thread tid: become its tracer. Wait at most SEIZE_MS milliseconds.
 * Return 0, or -1 with errno set as by attach_timed().
 */
static int
attach(pid_t tid)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID,
	    .sigev_signo = SIGALRM };
	/* again and again: it may expire before attach_timed() is ready */
	const struct timespec ms = { .tv_nsec = SEIZE_MS * 1000000 };
	const struct itimerspec it = { .it_value = ms, .it_interval = ms };
	/* the jump out of the handler leaves the signal mask as it is */
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
 * Seize thread tid of process p: become its tracer. If another process traces
 * it, set *tracer to the ID of that tracer, otherwise to 0. The other tracer,
 * perhaps another snap, may have released the thread before the tracer's ID was
 * read; therefore try up to five more times. Do not retry if the thread is a
 * zombie, since other threads may already be stopped and waiting. Return 0, or
 * -1 with errno set.
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
 * Check whether the memory of process pid, which may be traced, can be read.
 * Check only the permissions of /proc/PID/mem: opening the file might wait for
 * execve(2). Return 0, or -1 with errstr set if the permissions forbid it.
 */
static int
mem_refused(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
		return 0;
	return errno != EACCES ? 0 : errstr_set("process %d belongs to "
	    "another user, or is not dumpable: CAP_DAC_READ_SEARCH is needed "
	    "in addition to CAP_SYS_PTRACE", pid);
}

/*
 * Seize thread t of process p: become its tracer, while it keeps running. It is
 * not an error if t has ended or has another tracer. If t is the first thread
 * and has another tracer, set p->tracer to that tracer. Return 0; SEIZE_WAITS,
 * with nothing changed, if p is inside execve(2); or -1 with errstr set if p
 * cannot be captured.
 */
int
thread_seize(struct lproc *p, struct lthread *t)
{
	long tracer;

	if (p->kernel)
		return 0;
	/* after execve(2) a thread that we trace may have this ID */
	if (seize_patiently(p, t->tid, &tracer) == 0 || tracer == gettid()) {
		late_forget(t->tid);
		t->hold = HOLD_SEIZED;
		return t->tid == p->pid ? mem_refused(p->pid) : 0;
	}
	if (errno == ETIMEDOUT)
		return SEIZE_WAITS;
	/* a thread that cannot be traced may have just become a zombie */
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
