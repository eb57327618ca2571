/*
 * What a thread is given to make a system call, and letting it run up to the
 * next edge of one, or until it stops as it did at first, whatever signals come
 * meanwhile.
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
#include <sys/syscall.h>
#include <sys/wait.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*
 * Give the thread of in the registers for system call nr with arguments arg.
 * Return 0, or -1 with errstr.
 */
int
inject_load(struct inject *in, long nr, const uint64_t arg[6])
{
	struct gregs r;
	uint64_t most;

	r = in->regs;
	call_load(&r, &in->gadget, in->stack.call, nr, arg);
	if (gregs_write(in->tid, &r) == -1)
		return inject_refused(in, "registers");
	if (in->entered)
		return 0;
	/*
	 * Its signals wait, now that it would get its mask back.  Not those of
	 * faults: where one is blocked, the kernel takes the handler of it away
	 * from the process (force_sig_info_to_task of kernel/signal.c).
	 */
	most = ~SIG_FAULTS;
	in->entered = true;
	if (ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof most, &most) ==
	    -1)
		return inject_refused(in, "signal mask");
	return 0;
}

/*
 * Set the options of ptrace(2) for the thread of in: what they are by
 * themselves, and some more.  Return 0, or -1 with errstr.
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
 * Return true if a signal does nothing to the process.
 */
static bool
is_ignored(const struct inject *in, int sig)
{
	const uint64_t nothing = SIG_BIT(SIGCHLD) | SIG_BIT(SIGCONT) |
	    SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH);
	uint64_t caught, ignored;
	struct bytes b;
	bool yes;

	if (proc_read(in->pid, in->tid, "status", &b) == -1)
		return false;
	yes = status_list(b.data, b.len, "SigCgt", 16, &caught, 1) == 1 &&
	    status_list(b.data, b.len, "SigIgn", 16, &ignored, 1) == 1 &&
	    (((nothing & ~caught) | ignored) & SIG_BIT(sig)) != 0;
	free(b.data);
	return yes;
}

/*
 * Return true if a signal, which the thread has stopped with, is that of a
 * fault.
 */
static bool
is_fault(int sig)
{
	return sig <= SIGSYS && (SIG_BIT(sig) & SIG_FAULTS) != 0;
}

/*
 * Return true if that was sent, or may be put off.
 */
static bool
is_sent(const struct inject *in, int sig)
{
	siginfo_t si;

	return ptrace(PTRACE_GETSIGINFO, in->tid, NULL, &si) == 0 &&
	    (si.si_code <= 0 ||
	    (sig == SIGBUS && si.si_code == BUS_MCEERR_AO));
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

	if (status >> 16 != 0)
		return status >> 16 == PTRACE_EVENT_STOP ? 0 : -1;
	if (sig == SIGSTOP)
		return sig;
	if (!is_fault(sig) || !is_sent(in, sig) ||
	    ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof all, &all) == -1)
		return -1;
	return sig;
}

/*
 * The same of a thread that has registers of its own, and is to begin the call
 * that it repeats: that is for repeat_learn, and its signals are not blocked
 * yet.  One that does nothing is passed by, as the kernel would.  For any other
 * it gets the registers for a call of ours, which it begins instead, and the
 * signal waits.  Were its signals blocked before it has these, they would be
 * for good should we die.
 */
static int
inject_putoff(struct inject *in, int status)
{
	static const uint64_t none[6];
	const int sig = WSTOPSIG(status);

	if (status >> 16 != 0 || sig == SIGSTOP)
		return inject_pass(in, status);
	if (is_fault(sig) && !is_sent(in, sig))
		return -1;
	if (is_ignored(in, sig))
		return 0;
	if (inject_load(in, SYS_getppid, none) == -1)
		return -1;
	return is_fault(sig) ? inject_pass(in, status) : sig;
}

/*
 * A signal that is no other's has stopped the thread, where it was to make a
 * system call.  Before Linux 6.4 only this tells that it hands system calls to
 * itself: is_dispatched of enter.c.  Return -1 with errstr.
 */
static int
inject_odd(struct inject *in, int sig)
{
	enum { USER_DISPATCH = 2 };	/* asm-generic/siginfo.h */
	siginfo_t si;

	in->odd = true;
	if (sig == SIGSYS && ptrace(PTRACE_GETSIGINFO, in->tid, NULL, &si) ==
	    0 && si.si_code == USER_DISPATCH)
		return errstr_set(INJECT_DISPATCHED);
	return errstr_set("thread %d: signal %d in a system call of ours",
	    in->tid, sig);
}

/*
 * Let the thread of in go on with signal sig, or 0, up to the next edge of a
 * system call: inject_step waits for that.  Return 0, or -1 with errstr.
 */
int
inject_go(struct inject *in, int sig)
{
	if (ptrace(PTRACE_SYSCALL, in->tid, NULL, (void *)(uintptr_t)sig) ==
	    -1)
		return inject_refused(in, "to go on");
	in->going = true;
	in->since = now_ms();
	return 0;
}

/*
 * Return when a thread has run for ms milliseconds, as now_ms has it: one that
 * was let go on before may have, while others were waited for.
 */
static uint64_t
inject_until(const struct inject *in, uint64_t ms)
{
	enum { LEAST_MS = 20 };	/* for us to see that it has stopped */
	const uint64_t now = now_ms();

	if (!in->going)
		return now + ms;
	return in->since + ms > now + LEAST_MS ? in->since + ms :
	    now + LEAST_MS;
}

/*
 * Let the thread of in run up to the next edge of a system call, for ms
 * milliseconds at most, whatever else stops it: a stop of its process is passed
 * by, for it holds when we leave.  Return 1 if what stopped it is the event of
 * ptrace that is waited for, 0 at the edge, or -1 with errstr.
 */
int
inject_step(struct inject *in, int event, uint64_t ms)
{
	const uint64_t until = inject_until(in, ms);
	int sig, status;

	for (sig = 0;;) {
		if (!in->going && inject_go(in, sig) == -1)
			return -1;
		in->going = false;
		if ((status = inject_await(in, until)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (event != 0 && status >> 16 == event)
			return 1;
		sig = in->entered ? inject_pass(in, status) :
		    inject_putoff(in, status);
		if (sig != -1)
			continue;
		return inject_odd(in, WSTOPSIG(status));
	}
}

/*
 * Begin to stop the thread: inject_halt waits for that.  Where it cannot be
 * begun, that tells.
 */
void
inject_halting(struct inject *in)
{
	in->halting = ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) == 0 &&
	    ptrace(PTRACE_CONT, in->tid, NULL, NULL) == 0;
}

/*
 * Stop the thread of in as live_stop does, before it runs anything of its own.
 * Return 0, or -1 with errstr.
 */
int
inject_halt(struct inject *in)
{
	const uint64_t until = now_ms() + START_MS;
	int sig, status;

	if (!in->halting &&
	    ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "to stop");
	for (sig = 0;; sig = sig == -1 ? 0 : sig) {
		if (!in->halting && ptrace(PTRACE_CONT, in->tid, NULL,
		    (void *)(uintptr_t)sig) == -1)
			return inject_refused(in, "to stop");
		in->halting = false;
		if ((status = inject_await(in, until)) <= 0)
			return status == 0 ? inject_stuck(in) : -1;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			in->stopped = WSTOPSIG(status) != SIGTRAP;
			return 0;
		}
		sig = inject_pass(in, status);
	}
}

/*
 * Let the thread of in come to the end of the system call that it has begun.
 * Return 0, or -1 with errstr.
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
	    si->arch == isa.audit && si->entry.nr == (uint64_t)nr &&
	    si->instruction_pointer == in->gadget.call + isa.call &&
	    si->stack_pointer == in->stack.call &&
	    memcmp(si->entry.args, arg, sizeof si->entry.args) == 0;
}

/*
 * The thread is not where it was to be.  If it is at the entry of a system
 * call, that is not made.  A filter of seccomp(2) might kill for one that is
 * none.
 */
static int
inject_astray(struct inject *in, const struct __ptrace_syscall_info *si)
{
	in->odd = true;
	if (si->op != PTRACE_SYSCALL_INFO_ENTRY)
		return errstr_set("thread %d: in no system call, where it was "
		    "to make one", in->tid);
	if (call_cancel(in->tid) == -1)
		return inject_refused(in, "system call");
	if (inject_options(in, in->suspend) == -1 || inject_leave(in) == -1)
		return -1;
	return errstr_set("thread %d: in another system call than it was to "
	    "make", in->tid);
}

/*
 * Let the thread of in begin system call nr with arguments arg, up to its
 * entry, with the options of ptrace(2) in with, until it leaves it.  Return 0;
 * or -1 with errstr, also for one that is not what was loaded, which is not
 * made.  A thread that is on its way to one (inject_begincall) has it loaded.
 */
int
inject_start(struct inject *in, long nr, const uint64_t arg[6], uintptr_t with)
{
	struct __ptrace_syscall_info si;

	if ((!in->going && inject_load(in, nr, arg) == -1) ||
	    inject_reach(in, &si) == -1)
		return -1;
	if (!inject_isours(in, &si, nr, arg))
		return inject_astray(in, &si);
	with |= in->suspend;
	return with == 0 ? 0 : inject_options(in, with);
}
