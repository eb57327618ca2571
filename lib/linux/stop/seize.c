/*
 * One thread: judge it before it is seized, interrupt it, and see whether it
 * has stopped. attach.c makes us its tracer.
 */
#include "clock.h"
#include "stopping.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * Return true if thread tid of process pid has a child. If the kernel cannot
 * list children (proc_pid_children(5)), return false.
 */
bool
thread_haschild(pid_t pid, pid_t tid)
{
	ssize_t n;
	char c;
	int fd;

	if ((fd = proc_open(pid, tid, "children", O_RDONLY)) == -1)
		return false;
	n = read(fd, &c, 1);
	close(fd);
	return n == 1;
}

/*
 * Set the state and the rank of thread t of process p, before t is seized. Keep
 * the state if an earlier attempt to seize t has stopped it (attach.c). Fail if
 * the status of t cannot be read, or if p is dumping core: an interrupt would
 * cut the core short (dump_interrupted of fs/coredump.c). Return 0, or -1 with
 * errstr set.
 */
int
thread_judge(const struct lproc *p, struct lthread *t)
{
	struct bytes b;
	bool dumps, leads, ours;
	char state;

	leads = t->tid == p->pid || thread_haschild(p->pid, t->tid);
	if (proc_read(p->pid, t->tid, "status", &b) == -1) {
		if (errno != ESRCH && errno != ENOENT)
			return errstr_sys("/proc/%d/task/%d/status", p->pid,
			    t->tid);
		t->hold = HOLD_GONE;
		t->state = '\0';
		t->caught = false;
		return 0;
	}
	state = status_state(b.data, b.len);
	ours = status_first(b.data, b.len, "TracerPid", 10) ==
	    (uint64_t)gettid();
	dumps = status_first(b.data, b.len, "CoreDumping", 10) == 1;
	free(b.data);
	t->caught = state == 't' && t->state != '\0' && ours;
	if (!t->caught)
		t->state = state;
	if (dumps)
		return errstr_set("process %d is dumping core", p->pid);
	/* it may have gained a child since */
	if (leads || thread_haschild(p->pid, t->tid))
		t->rank = RANK_SIGNALED;
	else
		t->rank = t->state == 'S' ? RANK_IDLE : RANK_RUNS;
	return 0;
}

/*
 * Make the ptrace(2) request that resumes or interrupts thread tid, with data
 * as its last argument. If the request fails although the thread exists, repeat
 * it; otherwise the thread would not be resumed or interrupted. Return 0, or -1
 * with errno set.
 */
int
thread_ptrace(int request, pid_t tid, uintptr_t data)
{
	enum { TRIES = 3 };
	int i, rc;

	for (rc = -1, i = 0; rc == -1 && i < TRIES; i++) {
		rc = (int)ptrace(request, tid, NULL, (void *)data);
		if (rc == -1 && errno == ESRCH)
			break;
	}
	return rc;
}

/*
 * Return true if thread t, the first of its process, is stopped, and we have
 * already waited for that stop.
 */
static bool
thread_stands(const struct lthread *t)
{
	siginfo_t si = { 0 };

	return t->hold == HOLD_STOPPED && proc_state(t->tid, t->tid) == 't' &&
	    waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOHANG | WNOWAIT |
	    __WALL) == 0 && si.si_pid == 0;
}

/*
 * Handle the disappearance of thread t of process p. t must be seized. It may
 * have called execve(2). Then it now has the thread ID of the first thread, and
 * we still trace it. In that case mark the first thread as seized; if t was
 * interrupted, interrupt the first thread.
 */
static void
thread_lost(struct lproc *p, struct lthread *t)
{
	struct lthread *first = lproc_leader(p);
	enum hold was = t->hold;

	t->hold = HOLD_GONE;
	if (first == NULL || t == first || thread_stands(first) ||
	    proc_died(p->pid, p->pid))
		return;
	if (was != HOLD_SEIZED &&
	    thread_ptrace(PTRACE_INTERRUPT, p->pid, 0) == -1)
		return;
	first->hold = was == HOLD_SEIZED ? HOLD_SEIZED : HOLD_INTERRUPTED;
	if (was != HOLD_SEIZED && p->since == 0)
		p->since = now_ns();
}

/*
 * Interrupt thread t of process p. t must be seized.
 */
void
thread_stop(struct lproc *p, struct lthread *t)
{
	t->hold = HOLD_INTERRUPTED;
	if (thread_ptrace(PTRACE_INTERRUPT, t->tid, 0) == -1)
		thread_lost(p, t);
}

/*
 * Return true if the default action of signal sig is to stop the process.
 */
static bool
is_stop(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	    sig == SIGTTOU;
}

/*
 * Return true if the default action of signal sig is to dump core (signal(7)).
 */
static bool
is_core(int sig)
{
	return sig == SIGQUIT || sig == SIGILL || sig == SIGTRAP ||
	    sig == SIGABRT || sig == SIGBUS || sig == SIGFPE ||
	    sig == SIGSEGV || sig == SIGSYS || sig == SIGXCPU ||
	    sig == SIGXFSZ;
}

/*
 * Return the signal with which to resume a thread whose wait status is status:
 * the signal that the thread was about to receive, or 0 if it stopped for
 * another reason.
 */
uintptr_t
stop_signal(int status)
{
	enum { CALL = 0x80 };	/* bit set in the signal number of a system call
				   stop */
	const int sig = WSTOPSIG(status);

	return status >> 16 != 0 || sig == (SIGTRAP | CALL) ? 0 :
	    (uintptr_t)sig;
}

/*
 * Check whether thread t of process p, which must be seized, has stopped or
 * ended. If our interrupt has stopped t, keep its general registers. If a
 * signal has stopped t, resume t with that signal. If the signal may dump core,
 * first interrupt t: the kernel discards this interrupt when the dump begins
 * (zap_process of fs/coredump.c), while a later interrupt would end the dump.
 * If t has vanished in execve(2), let the first thread of p take its place, as
 * thread_lost() does.
 */
void
thread_poll(struct lproc *p, struct lthread *t)
{
	uintptr_t sig;
	int status;
	pid_t rc;

	rc = waitpid(t->tid, &status, WNOHANG | __WALL);
	if (rc == 0 || (rc == -1 && errno == EINTR))
		return;
	if (rc == -1) {
		thread_lost(p, t);
		return;
	}
	if (!WIFSTOPPED(status)) {
		t->hold = HOLD_GONE;
		return;
	}
	if (status >> 16 == PTRACE_EVENT_STOP) {
		t->hold = HOLD_STOPPED;
		/* if a stop signal stopped it, that has interrupted its
		   call, not we */
		regs_settle(t, WSTOPSIG(status) == SIGTRAP);
		return;
	}
	/*
	 * A signal arrived before our interrupt. Resume the thread with it, as
	 * if it were not traced; our stop follows at once. Unless it is a stop
	 * signal, restart the system call: an ignored signal interrupts a call
	 * only because the thread is traced.
	 */
	if (!is_stop(WSTOPSIG(status)))
		(void)restart_call(t->tid, &t->seencall);
	sig = stop_signal(status);
	if (t->hold == HOLD_SEIZED && is_core((int)sig))
		thread_stop(p, t);
	if (thread_ptrace(PTRACE_CONT, t->tid, sig) == -1 && errno == ESRCH)
		t->hold = HOLD_GONE;
}

/*
 * Release thread t, which is stopped. If that fails, t is about to die: mark it
 * as interrupted, so that we wait until it has ended.
 */
void
thread_release(struct lthread *t)
{
	uintptr_t sig;
	int status;
	pid_t rc;

	t->hold = HOLD_NONE;
	for (sig = 0; thread_ptrace(PTRACE_DETACH, t->tid, sig) == -1;) {
		do
			rc = waitpid(t->tid, &status, WNOHANG | __WALL);
		while (rc == -1 && errno == EINTR);
		if (rc == 0)
			t->hold = HOLD_INTERRUPTED;
		if (rc != t->tid || !WIFSTOPPED(status))
			break;
		/* it has resumed and stopped again */
		sig = stop_signal(status);
	}
}
