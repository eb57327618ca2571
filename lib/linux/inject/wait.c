/*
 * Waiting for a thread that is made to run system calls, and letting it run up
 * to the next edge of one.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__

enum {				/* while a thread is waited for */
	SPINS = 30,
	WAITS = 40,		/* until it is looked at */
	WAITS_LOOK = 8
};

int
inject_gone(struct inject *in)
{
	in->gone = true;
	return errstr_set("process %d exited", in->pid);
}

/*
 * An error of a request of ptrace(2) to the thread.
 */
int
inject_refused(struct inject *in, const char *what)
{
	if (errno == ESRCH)
		return inject_gone(in);
	return errstr_sys("thread %d: %s", in->tid, what);
}

/*
 * The thread, or a clone, is dead.
 */
static int
inject_over(struct inject *in, pid_t tid)
{
	return tid == in->tid ? inject_gone(in) : errstr_set("process %d: its "
	    "clone was killed", in->pid);
}

/*
 * Sleep until a thread that we trace stops, which the kernel tells by SIGCHLD,
 * or for a tenth of a millisecond, if that is not blocked.  To yield instead
 * (sched_yield(2)) costs milliseconds where others want the processor.
 * A signal that tells of another process, too, is kept for stop_retell.
 */
static void
stop_await(struct inject *in)
{
	const struct timespec most = { 0, 100000 };
	siginfo_t si;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigtimedwait(&set, &si, &most) == -1)
		return;
	if (!in->told || si.si_pid != in->tid)
		in->child = si;
	in->told = true;
}

/*
 * Send the SIGCHLD to ourselves that was taken from us, for it may stand for a
 * child of our program's, too: one that waits already tells of all.
 */
void
inject_retell(struct inject *in)
{
	if (in->told)
		(void)syscall(SYS_rt_sigqueueinfo, getpid(), SIGCHLD,
		    &in->child);
	in->told = false;
}

/*
 * Wait until a thread stops.  Its status, as waitpid(2) gives it; 0 if that
 * takes longer than ms milliseconds, or a minute where it runs, or could if
 * others let it; -1 when it is gone.
 */
int
inject_wait(struct inject *in, pid_t tid, uint64_t ms)
{
	uint64_t start, took;
	int i, status;
	pid_t rc;

	for (start = now_ms(), i = 0;; i++) {
		rc = waitpid(tid, &status, __WALL | WNOHANG);
		if (rc == tid)
			return WIFSTOPPED(status) ? status :
			    inject_over(in, tid);
		if (rc == -1 && errno != EINTR)
			return inject_over(in, tid);
		if (i >= SPINS)
			stop_await(in);
		if (i < WAITS || i % WAITS_LOOK != 0)
			continue;
		/*
		 * waitpid(2) does not tell of one that leads its process
		 * before all others that we trace have been waited for
		 */
		if (proc_died(in->pid, in->tid))
			return inject_gone(in);
		took = now_ms() - start;
		if (took > CALL_MS || (took > ms && proc_state(tid == in->tid ?
		    in->pid : tid, tid) != 'R'))
			return 0;
	}
}

/*
 * The thread does not do what it was let run for.  Where it was not let run
 * at all, by a cgroup that is frozen, it is stopped again; from within a
 * system call it comes back by itself when we are gone.
 */
static int
inject_stuck(struct inject *in)
{
	if (ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "to stop");
	switch (inject_wait(in, in->tid, START_MS)) {
	case -1:
		return -1;
	case 0:
		in->lost = true;
		return errstr_set("thread %d does not come back from a system "
		    "call", in->tid);
	}
	return errstr_set("it does not run: is its cgroup frozen?");
}

/*
 * Wait until the thread, which runs, stops, up to a time in milliseconds: as
 * inject_wait, but 0 if that time is over, even if it has stopped by now, as
 * one does that is sent signals without end.
 */
static int
inject_await(struct inject *in, uint64_t until)
{
	const uint64_t now = now_ms();

	return now >= until ? 0 : inject_wait(in, in->tid, until - now);
}

/*
 * The thread has stopped with a status where it was to go on.  Return the
 * signal to go on with, or 0; -1 if it is one of a fault of its own.  A signal
 * that somebody sent, of those that are not blocked, waits until the thread is
 * left: one that is blocked behind this stop is queued again (ptrace_signal of
 * kernel/signal.c).
 */
static int
inject_pass(const struct inject *in, int status)
{
	const uint64_t all = UINT64_MAX;
	const int sig = WSTOPSIG(status);
	siginfo_t si;

	if (status >> 16 != 0)
		return status >> 16 == PTRACE_EVENT_STOP ? 0 : -1;
	if (sig == SIGSTOP)
		return sig;
	if (sig > SIGSYS || (SIG_BIT(sig) & SIG_FAULTS) == 0 ||
	    ptrace(PTRACE_GETSIGINFO, in->tid, NULL, &si) == -1 ||
	    (si.si_code > 0 && !(sig == SIGBUS &&
	    si.si_code == BUS_MCEERR_AO)) ||
	    ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof all, &all) == -1)
		return -1;
	return sig;
}

/*
 * Let the thread run up to the next edge of a system call, for ms
 * milliseconds at most, whatever else stops it: a stop of its process is
 * passed by, for it holds when we leave.  1 if what stopped it is the event
 * of ptrace that is waited for, 0 at the edge, or -1.
 */
int
inject_step(struct inject *in, int event, uint64_t ms)
{
	const uint64_t until = now_ms() + ms;
	int sig, status;

	for (sig = 0;;) {
		if (ptrace(PTRACE_SYSCALL, in->tid, NULL,
		    (void *)(uintptr_t)sig) == -1)
			return inject_refused(in, "to go on");
		if ((status = inject_await(in, until)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (event != 0 && status >> 16 == event)
			return 1;
		if ((sig = inject_pass(in, status)) != -1)
			continue;
		in->odd = true;
		return errstr_set("thread %d: signal %d in a system call of "
		    "ours", in->tid, WSTOPSIG(status));
	}
}

/*
 * Stop the thread as live_stop does, before it runs anything of its own.
 */
int
inject_halt(struct inject *in)
{
	const uint64_t until = now_ms() + START_MS;
	int sig, status;

	if (ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "to stop");
	for (sig = 0;; sig = sig == -1 ? 0 : sig) {
		if (ptrace(PTRACE_CONT, in->tid, NULL,
		    (void *)(uintptr_t)sig) == -1)
			return inject_refused(in, "to stop");
		if ((status = inject_await(in, until)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			in->stopped = WSTOPSIG(status) != SIGTRAP;
			return 0;
		}
		sig = inject_pass(in, status);
	}
}

#endif
