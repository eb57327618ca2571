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
#include "run.h"

#include <sys/ptrace.h>

#include <stddef.h>
#include <string.h>

#include <linux/audit.h>

#ifdef __x86_64__

/*
 * Give the thread the registers for a system call.
 */
static int
inject_load(struct inject *in, long nr, const uint64_t arg[6])
{
	struct user_regs_struct r;
	uint64_t most;

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
 * Return true if a process has been asked for as long as it may be.  A thread
 * that hardly gets a processor, for its cgroup has a limit, takes long for each
 * call, and there may be thousands.
 */
bool
inject_islate(const struct inject *in)
{
	return now_ms() >= in->until;
}

/*
 * Return 0 if more may be asked, or -1 with errstr.
 */
int
inject_may(const struct inject *in)
{
	if (inject_trust(in) == -1)
		return -1;
	return !inject_islate(in) ? 0 : errstr_set("process %d: it takes too "
	    "long to make system calls: is its cgroup limited?", in->pid);
}

/*
 * The same as inject_make, for who asks for a call.
 */
int
inject_call(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	return inject_may(in) == -1 ? -1 : inject_make(in, ret, nr, arg);
}

#endif
