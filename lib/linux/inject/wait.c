/*
 * Wait for a thread that was resumed to run system calls.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {				/* numbers of iterations of inject_wait() */
	SPINS = 30,
	WAITS = 40, /* iterations before checking that the process is alive */
	WAITS_LOOK = 8
};

/*
 * Record that the process of inj has died. Set errstr and return -1.
 */
int
inject_gone(struct inject *inj)
{
	inj->gone = true;
	return errstr_set("process %d exited", inj->pid);
}

/*
 * Set errstr to say that a ptrace(2) request for the thread of inj failed with
 * errno. The request is described by the text in what. Return -1. ESRCH means
 * that the process has died.
 */
int
inject_refused(struct inject *inj, const char *what)
{
	return errno == ESRCH ? inject_gone(inj) :
	    errstr_sys("thread %d: %s", inj->tid, what);
}

/*
 * Set errstr to say that thread tid has died. This is the thread of inj or its
 * clone. Return -1.
 */
static int
inject_over(struct inject *inj, pid_t tid)
{
	return tid == inj->tid ? inject_gone(inj) : errstr_set("process %d: "
	    "its clone was killed", inj->pid);
}

/*
 * Sleep until a thread that we trace stops (which raises SIGCHLD), but at most
 * for a tenth of a millisecond. If SIGCHLD is not blocked, always sleep that
 * long. A SIGCHLD that may be about another process is kept for
 * inject_resignal(). Calling sched_yield(2) instead would cost milliseconds
 * when other processes want the processor.
 */
static void
stop_await(struct inject *inj)
{
	const struct timespec most = { 0, 100000 };
	siginfo_t si;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigtimedwait(&set, &si, &most) == -1)
		return;
	if (!inj->sigchld || si.si_pid != inj->tid)
		inj->child = si;
	inj->sigchld = true;
}

/*
 * Send ourselves the SIGCHLD that stop_await() consumed. It may also have
 * reported on another child of the program, because only one SIGCHLD can be
 * pending at a time. The kernel lets a thread send such a signal only to its
 * own ID, but directs it to the whole process.
 */
void
inject_resignal(struct inject *inj)
{
	if (inj->sigchld)
		(void)syscall(SYS_rt_sigqueueinfo, gettid(), SIGCHLD,
		    &inj->child);
	inj->sigchld = false;
}

/*
 * Wait until thread tid of inj stops, and return its wait status, as waitpid(2)
 * gives it. Return 0 if the thread does not stop within ms milliseconds, or
 * within CALL_MS as long as it is running or runnable. Return -1 with errstr
 * set if the thread is gone.
 */
int
inject_wait(struct inject *inj, pid_t tid, uint64_t ms)
{
	uint64_t start, took;
	bool late = false;
	int i, status;
	pid_t rc;

	for (start = now_ms(), i = 0;; i++) {
		rc = waitpid(tid, &status, __WALL | WNOHANG);
		if (rc == tid)
			return WIFSTOPPED(status) ? status :
			    inject_over(inj, tid);
		if (rc == -1 && errno != EINTR)
			return inject_over(inj, tid);
		if (late)
			return 0;
		if (i >= SPINS)
			stop_await(inj);
		if (i < WAITS || i % WAITS_LOOK != 0)
			continue;
		/*
		 * waitpid(2) does not report the death of a main thread before
		 * all other threads that we trace have been waited for
		 */
		if (proc_died(inj->pid, inj->tid))
			return inject_gone(inj);
		/* check once more: we may not have run ourselves */
		took = now_ms() - start;
		late = took > CALL_MS || (took > ms && proc_state(tid ==
		    inj->tid ? inj->pid : tid, tid) != 'R');
	}
}

/*
 * Wait until the running thread of inj stops, and return its wait status. After
 * deadline, a time on the clock of now_ms(), stop the thread with
 * PTRACE_INTERRUPT: it could not run, for example because its cgroup is frozen.
 * It may also have stopped before the deadline, while this process did not run;
 * return that status then. Return -1 with errstr set if the thread is gone, or
 * does not stop. In the latter case mark it lost: it will continue its program
 * from its return frame after we are gone.
 */
int
inject_await(struct inject *inj, uint64_t deadline)
{
	const uint64_t now = now_ms();
	int status;

	status = now >= deadline ? 0 : inject_wait(inj, inj->tid, deadline -
	    now);
	if (status != 0)
		return status;
	if (ptrace(PTRACE_INTERRUPT, inj->tid, NULL, NULL) == -1)
		return inject_refused(inj, "to stop");
	if ((status = inject_wait(inj, inj->tid, START_MS)) != 0)
		return status;
	inj->lost = true;
	return errstr_set("thread %d does not return from a system call",
	    inj->tid);
}
