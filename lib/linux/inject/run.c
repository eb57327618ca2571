/*
 * A system call in a stopped thread, and waiting for it.
 *
 * A thread is where we left it when it has run a call: at its end, in
 * ptrace's syscall-exit-stop.  There the kernel would not look at registers
 * that mean "repeat the call I was in" (-ERESTARTSYS); so before they are
 * put back the thread is stopped again as it was at first, with
 * PTRACE_INTERRUPT.
 *
 * Nothing that the process can change decides what call is made.  Its code is
 * its own, for a file that it maps may be written to, another process may
 * share its memory, and a thread may have it jump elsewhere.  So each call is
 * looked at where it begins, when the kernel has taken its number and its
 * arguments, and one that is not what was loaded is not made.  Filters of
 * seccomp(2) come after that (syscall_trace_enter of include/linux/
 * entry-common.h, or kernel/entry/common.c), and are suspended from there to
 * the end of the call, for no longer: what code runs in between is under them.
 * When we die they are in force, for the options of a tracer go with it.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/audit.h>

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
 */
static void
stop_await(void)
{
	const struct timespec most = { 0, 100000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigtimedwait(&set, NULL, &most);
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
			stop_await();
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
 * Let the thread run up to the next edge of a system call, for ms
 * milliseconds at most, whatever else stops it: a stop of its process is
 * passed by, for it holds when we leave.  1 if what stopped it is the event
 * of ptrace that is waited for, 0 at the edge, or -1.
 */
int
inject_step(struct inject *in, int event, uint64_t ms)
{
	const uint64_t until = now_ms() + ms;
	uintptr_t sig;
	int status;

	for (sig = 0;; sig = status >> 16 == 0 ? SIGSTOP : 0) {
		if (ptrace(PTRACE_SYSCALL, in->tid, NULL, (void *)sig) == -1)
			return inject_refused(in, "to go on");
		if ((status = inject_await(in, until)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (event != 0 && status >> 16 == event)
			return 1;
		if (status >> 16 == PTRACE_EVENT_STOP ||
		    (status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP))
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
	uintptr_t sig;
	int status;

	if (ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "to stop");
	for (sig = 0;; sig = status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP ?
	    SIGSTOP : 0) {
		if (ptrace(PTRACE_CONT, in->tid, NULL, (void *)sig) == -1)
			return inject_refused(in, "to stop");
		if ((status = inject_await(in, until)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			in->stopped = WSTOPSIG(status) != SIGTRAP;
			return 0;
		}
	}
}

/*
 * Give the thread the registers for a system call.
 */
static int
inject_load(struct inject *in, long nr, const uint64_t arg[6])
{
	struct user_regs_struct r;
	uint64_t all;

	r = in->regs;
	r.rip = in->gadget.call;
	r.rsp = in->stack.call;
	r.rax = (uint64_t)nr;
	r.orig_rax = UINT64_MAX;	/* in no system call: repeat none */
	r.rdi = arg[0];
	r.rsi = arg[1];
	r.rdx = arg[2];
	r.r10 = arg[3];
	r.r8 = arg[4];
	r.r9 = arg[5];
	if (ptrace(PTRACE_SETREGS, in->tid, NULL, &r) == -1)
		return inject_refused(in, "registers");
	if (in->entered)
		return 0;
	/* its signals wait, now that it would get its mask back */
	all = UINT64_MAX;
	in->entered = true;
	if (ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof all, &all) == -1)
		return inject_refused(in, "signal mask");
	return 0;
}

/*
 * Let the thread run up to the entry of its next system call, and see what
 * that is.  A clone may have to come out of the call that made it before it
 * runs.
 */
static int
inject_reach(struct inject *in, struct __ptrace_syscall_info *si)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (inject_step(in, 0, START_MS) == -1)
			return -1;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, in->tid,
		    (void *)sizeof *si, si) == -1)
			return inject_refused(in, "system call");
		if (si->op != PTRACE_SYSCALL_INFO_EXIT ||
		    si->instruction_pointer != in->gadget.call)
			break;
	}
	return 0;
}

/*
 * Return whether a thread is about to make the system call that was loaded.
 */
static bool
inject_isours(const struct inject *in, const struct __ptrace_syscall_info *si,
    long nr, const uint64_t arg[6])
{
	return si->op == PTRACE_SYSCALL_INFO_ENTRY &&
	    si->arch == AUDIT_ARCH_X86_64 && si->entry.nr == (uint64_t)nr &&
	    si->instruction_pointer == in->gadget.call + CALL_LEN &&
	    si->stack_pointer == in->stack.call &&
	    memcmp(si->entry.args, arg, sizeof si->entry.args) == 0;
}

/*
 * Set the options of ptrace(2) for the thread: what they are by themselves,
 * and some more.
 */
int
inject_options(struct inject *in, uintptr_t more)
{
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL,
	    (void *)(in->options | more)) == -1)
		return inject_refused(in, "options");
	return 0;
}

/*
 * The thread is not where it was to be.  If it is at the entry of a system
 * call, that is not made.  Number -1 is none, but a filter of seccomp(2) might
 * kill for it.
 */
static int
inject_astray(struct inject *in, const struct __ptrace_syscall_info *si)
{
	in->odd = true;
	if (si->op != PTRACE_SYSCALL_INFO_ENTRY)
		return errstr_set("thread %d: in no system call, where it was "
		    "to make one", in->tid);
	if (ptrace(PTRACE_POKEUSER, in->tid,
	    offsetof(struct user, regs.orig_rax), (void *)-1L) == -1)
		return inject_refused(in, "system call");
	if (inject_options(in, in->suspend) == -1 || inject_leave(in) == -1)
		return -1;
	return errstr_set("thread %d: in another system call than it was to "
	    "make", in->tid);
}

/*
 * Let the thread begin a system call, up to its entry, with the options of
 * ptrace(2) in with, until it leaves it.  One that is not what was loaded is
 * not made: -1.
 */
int
inject_enter(struct inject *in, long nr, const uint64_t arg[6], uintptr_t with)
{
	struct __ptrace_syscall_info si;

	if (inject_load(in, nr, arg) == -1 || inject_reach(in, &si) == -1)
		return -1;
	if (!inject_isours(in, &si, nr, arg))
		return inject_astray(in, &si);
	with |= in->suspend;
	return with == 0 ? 0 : inject_options(in, with);
}

/*
 * Let the thread come to the end of the system call that it has begun.
 */
int
inject_leave(struct inject *in)
{
	int rc;

	rc = inject_step(in, 0, CALL_MS);
	/* what is still in the call has them on, but comes no further */
	if (!in->gone && !in->lost && inject_options(in, 0) == -1)
		rc = -1;
	return rc;
}

int
inject_result(struct inject *in, int64_t *ret)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, in->tid, NULL, &r) == -1)
		return inject_refused(in, "registers");
	*ret = (int64_t)r.rax;
	return 0;
}

/*
 * Run a system call with six arguments, whatever was before: *ret is what it
 * returned, from -4095 to -1 an error.  -1 if it could not be run.
 */
int
inject_make(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	if (inject_enter(in, nr, arg, 0) == -1 || inject_leave(in) == -1)
		return -1;
	return inject_result(in, ret);
}

/*
 * Nothing more is asked of a process that did what it was not made to do.
 */
int
inject_trust(const struct inject *in)
{
	return !in->odd ? 0 : errstr_set("process %d: it did not make the "
	    "system call that it was to make", in->pid);
}

/*
 * The same, for who asks for one.
 */
int
inject_call(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	return inject_trust(in) == -1 ? -1 : inject_make(in, ret, nr, arg);
}

/*
 * Write to the memory of a process, or a clone, that we have stopped.  Unlike
 * to /proc/PID/mem, that takes no right to write the files of another user.
 */
int
inject_put(pid_t pid, const void *buf, size_t len, uint64_t at)
{
	struct iovec from, to;

	memcpy(&from.iov_base, &buf, sizeof buf);
	memcpy(&to.iov_base, &at, sizeof at);
	from.iov_len = to.iov_len = len;
	if (process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)len)
		return errstr_sys("memory of %d", pid);
	return 0;
}

/*
 * Where in the process bytes are for what calls take and give: INJECT_ROOM
 * that it has mapped for us, else INJECT_LEAST on the dead part of its stack,
 * where a frame that unmaps nothing has none (frame.c); FRAME_SPARE in a thread
 * alone.
 */
uint64_t
inject_scratch(const struct inject *in)
{
	return in->map != 0 ? in->map : in->dead;
}

/*
 * Read what a call left for us: inject_scratch.
 */
int
inject_read(struct inject *in, void *buf, size_t len)
{
	if (pread(in->mem, buf, len, (off_t)inject_scratch(in)) !=
	    (ssize_t)len)
		return errstr_sys("/proc/%d/mem", in->pid);
	return 0;
}

/*
 * Write there.
 */
int
inject_write(struct inject *in, const void *buf, size_t len)
{
	return inject_put(in->pid, buf, len, inject_scratch(in));
}

#endif
