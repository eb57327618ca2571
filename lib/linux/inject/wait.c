/*
 * Waiting for a thread that is made to run system calls.
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

enum {				/* while a thread is waited for */
	SPINS = 30,
	WAITS = 40,		/* until it is looked at */
	WAITS_LOOK = 8
};

/*
 * Note that the process of in has died.  Return -1 with errstr.
 */
int
inject_gone(struct inject *in)
{
	in->gone = true;
	return errstr_set("process %d exited", in->pid);
}

/*
 * Tell of an error, errno, of a request of ptrace(2) to the thread of in: what
 * it was about.  Return -1 with errstr.
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
 * Send the SIGCHLD to ourselves that in took from us, for it may stand for a
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
 * Wait until thread tid of in stops.  Return its status, as waitpid(2) gives
 * it; 0 if that takes longer than ms milliseconds, or a minute where it runs,
 * or could if others let it; -1 with errstr when it is gone.
 */
int
inject_wait(struct inject *in, pid_t tid, uint64_t ms)
{
	uint64_t start, took;
	bool late = false;
	int i, status;
	pid_t rc;

	for (start = now_ms(), i = 0;; i++) {
		rc = waitpid(tid, &status, __WALL | WNOHANG);
		if (rc == tid)
			return WIFSTOPPED(status) ? status :
			    inject_over(in, tid);
		if (rc == -1 && errno != EINTR)
			return inject_over(in, tid);
		if (late)
			return 0;
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
		/* we may not have run either: it is waited for once more */
		took = now_ms() - start;
		late = took > CALL_MS || (took > ms && proc_state(tid ==
		    in->tid ? in->pid : tid, tid) != 'R');
	}
}

/*
 * Tell that the thread of in does not do what it was let run for.  Where it was
 * not let run at all, by a cgroup that is frozen, it is stopped again; from
 * within a system call it comes back by itself when we are gone.  Return -1
 * with errstr.
 */
int
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
 * Wait until the thread of in, which runs, stops, up to the time until, in
 * milliseconds as now_ms has it.  Return as inject_wait, but 0 if that time is
 * over, even if it has stopped by now, as one does that is sent signals without
 * end.
 */
int
inject_await(struct inject *in, uint64_t until)
{
	const uint64_t now = now_ms();

	return now >= until ? 0 : inject_wait(in, in->tid, until - now);
}
