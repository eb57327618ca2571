/*
 * Restart the call that a thread was interrupted in, after it has run ours.
 * Usually registers say how to restart it, and restoring them is enough. On
 * arm64 the kernel keeps part of that until the thread resumes, and our calls
 * overwrite it. It is therefore read before the first call of ours. After the
 * last, the thread is stopped at the exit of a call with the same restart code.
 * If we die between, the return frame makes the thread begin its call again.
 */
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

/*
 * Find out which call the thread would restart, if only its entry shows that.
 * Let it run to that entry and cancel the call there, which leaves it ready for
 * calls of ours. If a signal is to be handled first, the thread does not get
 * there: assume that it was in the call, which then ends with EINTR. Return 0,
 * or -1 with errstr set.
 */
static int
repeat_ask(struct inject *in)
{
	static const uint64_t none[6];
	struct __ptrace_syscall_info si;

	if (inject_step(in, 0, START_MS) == -1)
		return -1;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, in->tid, (void *)sizeof si, &si) ==
	    -1)
		return inject_refused(in, "system call");
	if (!in->entered && (si.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    si.entry.nr != SYS_restart_syscall))
		in->restart.code = 0;
	if (inject_load(in, SYS_getppid, none) == -1 ||
	    inject_options(in, in->suspend) == -1)
		return -1;
	return inject_leave(in);
}

/*
 * Determine how the call that the thread of in was interrupted in is restarted.
 * Called before each call of ours; only the first does anything. Return 0, or
 * -1 with errstr set.
 */
int
repeat_learn(struct inject *in)
{
	if (in->entered)
		return 0;
	in->restart = restartinfo_read(in->tid, &in->regs);
	return in->restart.ask ? repeat_ask(in) : 0;
}

/*
 * Stop the thread of in at the exit of a call, as if the kernel were about to
 * restart the call that it was interrupted in. Its signal mask and other state
 * are restored as well. Return 1 if that was done, 0 if restoring its registers
 * is enough, or -1 with errstr set.
 */
int
repeat_restore(struct inject *in)
{
	const int code = in->restart.code;
	const uint64_t arg[6] = { restartinfo_arg(&in->regs) };
	struct gregs r = in->regs;

	if (code == 0 || in->unexpected)
		return 0;
	in->restart.code = 0;	/* do not try again if this fails */
	if (inject_start(in, SYS_getppid, arg, 0) == -1 ||
	    inject_leave(in) == -1)
		return -1;
	restartinfo_load(&r, code);
	if (ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof in->mask,
	    &in->mask) == -1 || gregs_write(in->tid, &r) == -1)
		return inject_refused(in, "what it was");
	in->entered = false;
	return inject_halt(in) == -1 ? -1 : 1;
}
