/*
 * A system call in a stopped thread, and waiting for it.
 *
 * A thread is where we left it when it has run a call: at its end, in
 * ptrace's syscall-exit-stop.  There the kernel would not look at registers
 * that mean "repeat the call I was in" (-ERESTARTSYS); so before they are
 * put back the thread is stopped again as it was at first, with
 * PTRACE_INTERRUPT.
 */
#include "injectrun.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <linux/audit.h>

#ifdef __x86_64__

enum { YIELDS = 100 };

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
 * Wait until a thread stops.  Its status, as waitpid(2) gives it; 0 if that
 * takes longer than ms milliseconds; -1 when it is gone.
 */
int
inject_wait(struct inject *in, pid_t tid, uint64_t ms)
{
	const struct timespec nap = { 0, 50000 };
	uint64_t start;
	int i, status;
	pid_t rc;

	for (start = now_ms(), i = 0;; i++) {
		rc = waitpid(tid, &status, __WALL | WNOHANG);
		if (rc == tid)
			return WIFSTOPPED(status) ? status :
			    inject_over(in, tid);
		if (rc == -1 && errno != EINTR)
			return inject_over(in, tid);
		if (i < YIELDS) {
			sched_yield();
			continue;
		}
		/*
		 * waitpid(2) does not tell of one that leads its process
		 * before all others that we trace have been waited for
		 */
		if (proc_died(in->pid, in->tid))
			return inject_gone(in);
		if (now_ms() - start > ms)
			return 0;
		nanosleep(&nap, NULL);
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
 * Let the thread run up to the next edge of a system call, for ms
 * milliseconds at most, whatever else stops it: a stop of its process is
 * passed by, for it holds when we leave.  1 if what stopped it is the event
 * of ptrace that is waited for, 0 at the edge, or -1.
 */
int
inject_step(struct inject *in, int event, uint64_t ms)
{
	uintptr_t sig;
	int status;

	for (sig = 0;; sig = status >> 16 == 0 ? SIGSTOP : 0) {
		if (ptrace(PTRACE_SYSCALL, in->tid, NULL, (void *)sig) == -1)
			return inject_refused(in, "to go on");
		if ((status = inject_wait(in, in->tid, ms)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (event != 0 && status >> 16 == event)
			return 1;
		if (status >> 16 == PTRACE_EVENT_STOP ||
		    (status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP))
			continue;
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
	uintptr_t sig;
	int status;

	if (ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "to stop");
	for (sig = 0;; sig = status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP ?
	    SIGSTOP : 0) {
		if (ptrace(PTRACE_CONT, in->tid, NULL, (void *)sig) == -1)
			return inject_refused(in, "to stop");
		if ((status = inject_wait(in, in->tid, START_MS)) <= 0)
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
 * Is the thread, which is at the edge of a system call, where it is about to
 * make the one that was loaded?
 */
static int
inject_isours(struct inject *in, long nr, const uint64_t arg[6])
{
	struct __ptrace_syscall_info si;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, in->tid, (void *)sizeof si, &si) ==
	    -1)
		return inject_refused(in, "system call");
	return si.op == PTRACE_SYSCALL_INFO_ENTRY &&
	    si.arch == AUDIT_ARCH_X86_64 && si.entry.nr == (uint64_t)nr &&
	    si.instruction_pointer == in->gadget.call + CALL_LEN &&
	    si.stack_pointer == in->stack.call &&
	    memcmp(si.entry.args, arg, sizeof si.entry.args) == 0;
}

/*
 * Let the thread begin a system call, up to its entry.  One that is not what
 * was loaded is not made: -1.
 */
int
inject_enter(struct inject *in, long nr, const uint64_t arg[6])
{
	int rc;

	if (inject_load(in, nr, arg) == -1 ||
	    inject_step(in, 0, START_MS) == -1 ||
	    (rc = inject_isours(in, nr, arg)) == -1)
		return -1;
	if (rc == 1)
		return 0;
	if (ptrace(PTRACE_POKEUSER, in->tid,
	    offsetof(struct user, regs.orig_rax), (void *)-1L) == -1)
		return inject_refused(in, "system call");
	if (inject_step(in, 0, CALL_MS) == -1)
		return -1;
	return errstr_set("thread %d: in another system call than it was to "
	    "make", in->tid);
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
 * Run a system call with six arguments: *ret is what it returned, from -4095
 * to -1 an error.  -1 if it could not be run.
 */
int
inject_call(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	if (inject_enter(in, nr, arg) == -1 ||
	    inject_step(in, 0, CALL_MS) == -1)
		return -1;
	return inject_result(in, ret);
}

#endif
