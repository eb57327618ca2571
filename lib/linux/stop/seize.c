/*
 * One thread: look at it and at its system call before it is stopped, as its
 * registers may not show the call afterwards (linux/machine/); interrupt it;
 * and see whether it has stopped. attach.c makes us its tracer.
 */
#include "clock.h"
#include "bisect.h"
#include "restart.h"
#include "stopping.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { NAP_US = 1000 };		/* microseconds between two looks at a thread */

/*
 * Return the number of the system call in which a thread waits. nr is the
 * number in /proc/TID/syscall. If that is restart_syscall(2), determine the
 * resumed call from arg, its first argument, and from wchan in l, which was
 * read just after nr. Before Linux 5.16, wchan is 0 on amd64; then use stack,
 * which only root can read. If nr is another call, or the resumed call is
 * unknown, return nr.
 */
static int64_t
call_first(int64_t nr, const struct filelist *l, uint64_t arg)
{
	static const struct timed {
		const char	*name;
		int64_t		 nr;
	} timed[] = {
#ifdef SYS_poll
		{ "poll", SYS_poll },
#endif
		{ "nanosleep", SYS_nanosleep },
		{ "clock_nanosleep", SYS_clock_nanosleep },
		{ "futex", SYS_futex }
	};
	const struct file *f = filelist_find(l, "wchan");
	const struct timed *t;
	const char *name;
	char in[1024];

	if (nr != SYS_restart_syscall)
		return nr;
	if (f == NULL || (f->len == 1 && memcmp(f->data, "0", 1) == 0))
		f = filelist_find(l, "stack");
	if (f == NULL)
		return nr;
	snprintf(in, sizeof in, "%.*s", (int)f->len, (const char *)f->data);
	name = restart_name(in, arg);
	t = name == NULL ? NULL : SEEK_IN(timed, strcmp(x->name, name) == 0);
	return t == NULL ? nr : t->nr;
}

/*
 * Return the system call of the thread whose files are in l: status, syscall,
 * wchan and stack, which were read in this order.
 */
static struct seencall
call_seen(const struct filelist *l)
{
	const struct file *status = filelist_find(l, "status"),
	    *f = filelist_find(l, "syscall");
	struct seencall c = { .nr = -1 };
	char text[256];

	if (f == NULL)
		return c;
	snprintf(text, sizeof text, "%.*s", (int)f->len, (const char *)f->data);
	if (sscanf(text, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %"
	    SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &c.nr,
	    &c.arg[0], &c.arg[1], &c.arg[2], &c.arg[3], &c.arg[4], &c.arg[5],
	    &c.sp, &c.pc) != 9)
		c.nr = -1;
	c.nr = call_first(c.nr, l, c.arg[0]);
	if (restart_counts(c.nr) && status != NULL)
		c.sleeps = status_first(status->data, status->len,
		    "voluntary_ctxt_switches", 10);
	return c;
}

/*
 * Return the system call that thread tid of process pid is in. The thread must
 * not be stopped.
 */
struct seencall
call_look(pid_t pid, pid_t tid)
{
	struct filelist l = { 0 };
	struct seencall c;

	filelist_read(&l, pid, tid, "status");
	filelist_read(&l, pid, tid, "syscall");
	filelist_read(&l, pid, tid, "wchan");
	filelist_read(&l, pid, tid, "stack");
	c = call_seen(&l);
	filelist_free(&l);
	return c;
}

/*
 * Read those files of thread t of process p that must be read before t is
 * stopped. Later they would show a thread that sleeps in ptrace_stop(). Discard
 * what was read earlier. If p is dumping core, omit the kernel stack: only root
 * can read it, and it would only show the writing of the core.
 */
void
thread_look(struct lproc *p, struct lthread *t)
{
	static const char *const name[] = {
		"comm", "stat", "status", "syscall", "wchan", "stack"
	};
	const size_t n = sizeof name / sizeof *name - (p->core != NULL);
	size_t i;

	filelist_free(&t->seen);
	for (i = 0; i < n; i++)
		filelist_read(&t->seen, p->pid, t->tid, name[i]);
	t->seencall = call_seen(&t->seen);
}

/*
 * Return true if thread t was in a tracing stop when it was looked at. A tracer
 * may have stopped or released it between the reads of the two files.
 */
static bool
seen_traced(const struct lthread *t)
{
	static const char line[] = "\nState:\tt";
	const struct file *stat = filelist_find(&t->seen, "stat");
	const struct file *status = filelist_find(&t->seen, "status");
	struct task seen;

	if (status != NULL && memmem(status->data, status->len, line,
	    sizeof line - 1) != NULL)
		return true;
	return (stat == NULL || task_stat(&seen, stat->data, stat->len) == -1 ?
	    t->state : seen.state) == 't';
}

static void
look_again(struct lproc *p, struct lthread *t)
{
	if (t->seen.n > 0)
		thread_look(p, t);
	else
		t->seencall = call_look(p->pid, t->tid);
	t->state = proc_state(p->pid, t->tid);
}

/*
 * Look again at thread t of process p, which another tracer held. If that
 * tracer is another snap, it releases t within some milliseconds, and t can
 * then be seized. The record of t must not show its stop by that tracer, nor
 * that it ran for a moment before it returned to a stop by SIGSTOP. Wait for
 * the first thread only: a snap releases all threads at once.
 */
static void
thread_outwait(struct lproc *p, struct lthread *t)
{
	enum { TRIES = 50 };
	int i, runs;

	for (i = runs = 0; i < TRIES && runs < 2; i++) {
		if (i > 0)
			nap_us(NAP_US);
		look_again(p, t);
		if (t->tid != p->pid)
			return;
		if (seen_traced(t) || t->state == 't')
			runs = 0;
		else
			runs = t->state == 'R' ? runs + 1 : 2;
	}
}

/*
 * Look again at thread t of process p if another tracer held it, or if its
 * system call is still unknown. There are two possible reasons for the latter:
 * t was not looked at yet, or another tracer had stopped t, which is now
 * returning into the call. Then let t run for a moment. The call must be known
 * before we inject another: if we were killed during the injected call, an
 * unknown call would fail with EINTR (frame_regs() in linux/machine/). The
 * caller must not have seized t yet: a signal sent to a traced thread may wake
 * another one (see threads.c). If an attempt to seize t has stopped it all the
 * same, do nothing: t would appear to be in a tracing stop.
 */
void
thread_relook(struct lproc *p, struct lthread *t)
{
	enum { TRIES = 5 };
	const int64_t *nr = &t->seencall.nr;
	int i;

	if (t->caught)
		return;
	if (seen_traced(t))
		thread_outwait(p, t);
	for (i = 0; i < TRIES && (*nr == -1 || *nr == SYS_restart_syscall);
	    i++) {
		if (i > 0)
			nap_us(NAP_US);
		look_again(p, t);
		if (t->state != 'R' || *nr == -1)
			return;
	}
}

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
 * the stat of t cannot be read, or if p is dumping core: interrupting it would
 * cut the core short (dump_interrupted of fs/coredump.c). Return 0, or -1 with
 * errstr set.
 */
int
thread_judge(const struct lproc *p, struct lthread *t)
{
	struct procstat st;
	bool leads;
	int last;

	leads = t->tid == p->pid || thread_haschild(p->pid, t->tid);
	last = proc_readstat(p->pid, t->tid, &st);
	t->caught = st.state == 't' && t->state != '\0' &&
	    proc_status(p->pid, t->tid, "TracerPid") == gettid();
	if (!t->caught)
		t->state = st.state;
	if (last == -1 && errno != ESRCH && errno != ENOENT)
		return errstr_sys("/proc/%d/task/%d/stat", p->pid, t->tid);
	if (t->state == '\0') {
		t->hold = HOLD_GONE;
		return 0;
	}
	if (last >= STAT_FLAGS && (st.v[STAT_FLAGS] & PF_DUMPCORE) != 0 &&
	    (st.v[STAT_FLAGS] & PF_EXITING) == 0)
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
