/*
 * Load a system call into a thread, and let the thread run to the next entry or
 * exit of a call, or until it stops as it did at first, whatever signals
 * arrive.
 *
 * The thread first goes to the entry of rt_sigreturn(2), with its return frame.
 * There it gets the number and arguments of our call instead. If we die before
 * that, or the thread is frozen and cannot be stopped again (the freezer of
 * cgroups, version 1), then the thread returns to its program and makes no call
 * of ours.
 *
 * The process must not be able to choose which call is made. Its code may
 * change: files that it maps may be written to, another process may share its
 * memory, and another thread may change where it jumps. Therefore each entry is
 * checked, and the call cancelled if it is not the loaded one. Filters of
 * seccomp(2) run after that (syscall_trace_enter of
 * include/linux/entry-common.h, or kernel/entry/common.c). They are suspended
 * from the entry to the exit of the call only, so other code that runs in
 * between is under them. If we die they apply again, because options of
 * ptrace(2) end with the tracer.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <signal.h>

/*
 * Set errstr to say that the thread of inj does not run, and return -1.
 */
static int
inject_frozen(struct inject *inj)
{
	inj->frozen = true;
	return errstr_set("it is not running (is its cgroup frozen?)");
}

/*
 * Load registers into the thread of inj that bring it to the entry of a system
 * call. arg has the arguments of the call that it will make there. Return 0, or
 * -1 with errstr set.
 */
int
inject_load(struct inject *inj, const uint64_t arg[6])
{
	struct gregs r = inj->regs;
	uint64_t most;

	call_back(&r, &inj->gadget, inj->stack.call, arg);
	if (gregs_write(inj->tid, &r) == -1)
		return inject_refused(inj, "registers");
	if (inj->entered)
		return 0;
	/*
	 * Block its signals, now that the return frame would restore its mask.
	 * Do not block signals of faults: if one of them is blocked, the kernel
	 * resets its handler (force_sig_info_to_task of kernel/signal.c).
	 */
	most = ~SIG_FAULTS;
	inj->entered = true;
	return ptrace(PTRACE_SETSIGMASK, inj->tid, (void *)sizeof most,
	    &most) == -1 ? inject_refused(inj, "signal mask") : 0;
}

/*
 * Set the ptrace(2) options of the thread of inj: its usual options and, in
 * addition, the options in the bit mask more. Return 0, or -1 with errstr set.
 */
int
inject_options(struct inject *inj, uintptr_t more)
{
	return ptrace(PTRACE_SETOPTIONS, inj->tid, NULL,
	    (void *)(inj->options | more)) == -1 ?
	    inject_refused(inj, "options") : 0;
}

/*
 * Return true if signal sig would have no effect on the process of inj.
 */
static bool
is_ignored(const struct inject *inj, int sig)
{
	const uint64_t nothing = SIG_BIT(SIGCHLD) | SIG_BIT(SIGCONT) |
	    SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH);
	uint64_t caught, ignored;

	return proc_signals(inj->pid, inj->tid, &caught, &ignored) &&
	    (((nothing & ~caught) | ignored) & SIG_BIT(sig)) != 0;
}

/*
 * Return true if sig is a signal that a fault can cause.
 */
static bool
is_fault(int sig)
{
	return sig <= SIGSYS && (SIG_BIT(sig) & SIG_FAULTS) != 0;
}

/*
 * Return true if signal sig was not caused by a fault of the thread of inj.
 * Either a process sent it, or it reports a memory error that can be handled
 * later.
 */
static bool
is_sent(const struct inject *inj, int sig)
{
	siginfo_t si;

	return ptrace(PTRACE_GETSIGINFO, inj->tid, NULL, &si) == 0 &&
	    (si.si_code <= 0 ||
	    (sig == SIGBUS && si.si_code == BUS_MCEERR_AO));
}

/*
 * Choose how to resume the thread of inj, which stopped before it reached the
 * entry or exit of our call. status is its wait status. Return the signal to
 * resume it with, or 0 for no signal. Return -1 for a stop that we do not
 * expect, such as a fault.
 *
 * A fault signal that a process sent is passed on. All signals are blocked
 * here, so the kernel queues it again (ptrace_signal of kernel/signal.c).
 */
static int
inject_pass(const struct inject *inj, int status)
{
	const uint64_t all = UINT64_MAX;
	const int sig = WSTOPSIG(status);

	if (status >> 16 != 0)
		return status >> 16 == PTRACE_EVENT_STOP ? 0 : -1;
	if (sig == SIGSTOP)
		return sig;
	if (!is_fault(sig) || !is_sent(inj, sig) ||
	    ptrace(PTRACE_SETSIGMASK, inj->tid, (void *)sizeof all, &all) == -1)
		return -1;
	return sig;
}

/*
 * Choose how to resume the thread of inj, which stopped on the way to the call
 * that it restarts (repeat_learn()). status is its wait status. The thread
 * still has its own registers and signal mask. Return the signal to resume
 * with, or 0 for no signal. Return -1 after a fault, or with errstr set on an
 * error.
 *
 * A signal without effect is dropped, as the kernel would do. For any other
 * signal, load our registers, which blocks signals, so that the signal stays
 * pending. The registers are loaded before signals are blocked: if we died in
 * between, they would stay blocked for good.
 */
static int
inject_defer(struct inject *inj, int status)
{
	static const uint64_t none[6];
	const int sig = WSTOPSIG(status);

	if (status >> 16 != 0 || sig == SIGSTOP)
		return inject_pass(inj, status);
	if (is_fault(sig) && !is_sent(inj, sig))
		return -1;
	if (is_ignored(inj, sig))
		return 0;
	return inject_load(inj, none) == -1 ? -1 :
	    is_fault(sig) ? inject_pass(inj, status) : sig;
}

/*
 * Set errstr to say that signal sig stopped the thread of inj before the call
 * that it should have made. Return -1. Before Linux 6.4, only this shows that
 * the thread redirects its system calls (see is_dispatched() in enter.c).
 */
static int
inject_unexpected(struct inject *inj, int sig)
{
	enum { USER_DISPATCH = 2 };	/* asm-generic/siginfo.h */
	siginfo_t si;

	inj->unexpected = true;
	if (sig == SIGSYS && ptrace(PTRACE_GETSIGINFO, inj->tid, NULL, &si) ==
	    0 && si.si_code == USER_DISPATCH)
		return errstr_set(INJECT_DISPATCHED);
	return errstr_set("thread %d: signal %d during an injected system call",
	    inj->tid, sig);
}

/*
 * Resume the thread of inj with signal sig, or with none if sig is 0. It will
 * stop at the next entry or exit of a system call; inject_step() waits for
 * that. Return 0, or -1 with errstr set.
 */
int
inject_go(struct inject *inj, int sig)
{
	if (ptrace(PTRACE_SYSCALL, inj->tid, NULL, (void *)(uintptr_t)sig) ==
	    -1)
		return inject_refused(inj, "to go on");
	inj->going = true;
	inj->since = now_ms();
	return 0;
}

/*
 * Return the time, on the clock of now_ms(), when waiting for the thread of inj
 * should end. That is ms milliseconds after the thread was resumed, which may
 * be some time ago, but at least LEAST_MS from now.
 */
static uint64_t
inject_until(const struct inject *inj, uint64_t ms)
{
	enum { LEAST_MS = 20 };	/* minimum time to wait from now on, however
				   long ago the thread was resumed */
	const uint64_t now = now_ms();

	if (!inj->going)
		return now + ms;
	return inj->since + ms > now + LEAST_MS ? inj->since + ms :
	    now + LEAST_MS;
}

/*
 * Let the thread of inj run to the next entry or exit of a system call, for at
 * most ms milliseconds. Resume the thread after any other stop; a group-stop
 * takes effect when we leave. Return 0 at an entry or exit. If the argument
 * event is a ptrace(2) event, not 0, return 1 if the thread stopped with that
 * event. Return -1 with errstr set on failure.
 */
int
inject_step(struct inject *inj, int event, uint64_t ms)
{
	const uint64_t until = inject_until(inj, ms);
	int sig, status;

	for (sig = 0;;) {
		if (!inj->going && inject_go(inj, sig) == -1)
			return -1;
		inj->going = false;
		if ((status = inject_await(inj, until)) == -1)
			return -1;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (event != 0 && status >> 16 == event)
			return 1;
		if (status >> 16 == PTRACE_EVENT_STOP && now_ms() >= until)
			return inject_frozen(inj);
		sig = inj->entered ? inject_pass(inj, status) :
		    inject_defer(inj, status);
		if (sig != -1)
			continue;
		return inject_unexpected(inj, WSTOPSIG(status));
	}
}

/*
 * Stop the thread of inj, as live_halt() does, before the thread runs code of
 * its own. Return 0, or -1 with errstr set.
 */
int
inject_halt(struct inject *inj)
{
	const uint64_t until = now_ms() + START_MS;
	int sig, status;

	if (!inj->halting &&
	    ptrace(PTRACE_INTERRUPT, inj->tid, NULL, NULL) == -1)
		return inject_refused(inj, "to stop");
	/* a thread that is running needs no PTRACE_CONT, and refuses it */
	inj->halting |= inj->going;
	inj->going = false;
	for (sig = 0;; sig = sig == -1 ? 0 : sig) {
		if (!inj->halting && ptrace(PTRACE_CONT, inj->tid, NULL,
		    (void *)(uintptr_t)sig) == -1)
			return inject_refused(inj, "to stop");
		inj->halting = false;
		if ((status = inject_await(inj, until)) == -1)
			return -1;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			inj->stopped = WSTOPSIG(status) != SIGTRAP;
			return 0;
		}
		sig = inject_pass(inj, status);
	}
}

/*
 * Let the thread of inj run to the exit of its current system call. Return 0,
 * or -1 with errstr set.
 */
int
inject_leave(struct inject *inj)
{
	int rc;

	rc = inject_step(inj, 0, CALL_MS);
	/* a lost thread keeps the options, but makes no further call */
	if (!inj->gone && !inj->lost && inject_options(inj, 0) == -1)
		rc = -1;
	return rc;
}

/*
 * Let the thread of inj run to the entry of its next system call. Describe that
 * call in *si. A clone may have to leave clone(2) first.
 */
static int
inject_reach(struct inject *inj, struct __ptrace_syscall_info *si)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (inject_step(inj, 0, START_MS) == -1)
			return -1;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, inj->tid,
		    (void *)sizeof *si, si) == -1)
			return inject_refused(inj, "system call");
		if (si->op != PTRACE_SYSCALL_INFO_EXIT ||
		    si->instruction_pointer != inj->gadget.call)
			break;
	}
	return 0;
}

/*
 * Return true if the thread of inj is at the entry to which inject_load()
 * brings it. *si describes where the thread stopped.
 */
static bool
inject_isours(const struct inject *inj, const struct __ptrace_syscall_info *si)
{
	static const uint64_t none[6];
	struct gregs r = inj->regs;

	call_back(&r, &inj->gadget, inj->stack.call, none);
	return si->op == PTRACE_SYSCALL_INFO_ENTRY &&
	    si->arch == isa.audit && si->entry.nr == SYS_rt_sigreturn &&
	    si->instruction_pointer == inj->gadget.call + isa.call &&
	    si->stack_pointer == gregs_sp(&r);
}

/*
 * Change the call at whose entry the thread of inj is to call nr with arguments
 * arg. Return 0, or -1 with errstr set.
 *
 * A frozen thread would make the call after we are gone, under its filters. It
 * is left as it is, to return to its program.
 */
static int
inject_change(struct inject *inj, long nr, const uint64_t arg[6])
{
	struct gregs r = inj->regs;

	if (inj->filtered && proc_state(inj->pid, inj->tid) == 'D') {
		inj->lost = true;
		return inject_frozen(inj);
	}
	/* after munmap(2) the thread must not unmap our memory again */
	call_load(&r, &inj->gadget, nr == SYS_munmap ? inj->stack.last :
	    inj->stack.call, nr, arg);
	call_enter(&r);
	return gregs_write(inj->tid, &r) == -1 ?
	    inject_refused(inj, "registers") : 0;
}

/*
 * Set errstr to say that the thread of inj is not at the entry of the loaded
 * call, and return -1. If the thread is at the entry of another call, cancel
 * that call. Suspend seccomp(2) filters for this, because a filter could kill
 * the thread even for a cancelled call.
 */
static int
inject_cancel(struct inject *inj, const struct __ptrace_syscall_info *si)
{
	inj->unexpected = true;
	if (si->op != PTRACE_SYSCALL_INFO_ENTRY)
		return errstr_set("thread %d: not in a system call, although "
		    "one was injected", inj->tid);
	if (call_cancel(inj->tid) == -1)
		return inject_refused(inj, "system call");
	if (inject_options(inj, inj->suspend) == -1 || inject_leave(inj) == -1)
		return -1;
	return errstr_set("thread %d: in a system call other than the injected "
	    "one", inj->tid);
}

/*
 * Bring the thread of inj to the entry of system call nr with arguments arg. If
 * inject_begincall() already let the thread run, only wait. Until the exit of
 * the call, the ptrace(2) options opts are set as well. If the thread reaches
 * another call, cancel that call and fail. Return 0, or -1 with errstr set.
 */
int
inject_start(struct inject *inj, long nr, const uint64_t arg[6], uintptr_t opts)
{
	struct __ptrace_syscall_info si;

	if ((!inj->going && inject_load(inj, arg) == -1) ||
	    inject_reach(inj, &si) == -1)
		return -1;
	if (!inject_isours(inj, &si))
		return inject_cancel(inj, &si);
	opts |= inj->suspend;
	return opts != 0 && inject_options(inj, opts) == -1 ? -1 :
	    inject_change(inj, nr, arg);
}
