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
 * Find out which call the thread of inj would restart, by looking at the entry
 * of that call. Let the thread run to the entry, and cancel the call there;
 * then the thread is ready for our calls. If a signal is to be handled first,
 * the thread does not get to the entry; the call then ends with EINTR.
 */
static int
repeat_ask(struct inject *inj)
{
	static const uint64_t none[6];
	struct __ptrace_syscall_info si;

	if (inject_step(inj, 0, START_MS) == -1)
		return -1;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, inj->tid, (void *)sizeof si, &si) ==
	    -1)
		return inject_refused(inj, "system call");
	if (!inj->entered && (si.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    si.entry.nr != SYS_restart_syscall))
		inj->restart.code = 0;
	if (inject_load(inj, SYS_getppid, none) == -1 ||
	    inject_options(inj, inj->suspend) == -1)
		return -1;
	return inject_leave(inj);
}

/*
 * Find out how to restart the call in which the thread of inj was interrupted.
 * This is called before each of our calls, but has an effect only before the
 * first. Return 0, or -1 with errstr set.
 */
int
repeat_learn(struct inject *inj)
{
	if (inj->entered)
		return 0;
	inj->restart = restartinfo_read(inj->tid, &inj->regs);
	return inj->restart.ask ? repeat_ask(inj) : 0;
}

/*
 * Make the kernel restart the interrupted call of the thread of inj when the
 * thread resumes. To that end stop the thread at the exit of a call, and
 * restore its registers and signal mask there. Return 1 if this was done, 0 if
 * restoring the registers is enough, or -1 with errstr set.
 */
int
repeat_restore(struct inject *inj)
{
	const int code = inj->restart.code;
	const uint64_t arg[6] = { restartinfo_arg(&inj->regs) };
	struct gregs r = inj->regs;

	if (code == 0 || inj->unexpected)
		return 0;
	inj->restart.code = 0;	/* do not try again if this fails */
	if (inject_start(inj, SYS_getppid, arg, 0) == -1 ||
	    inject_leave(inj) == -1)
		return -1;
	restartinfo_load(&r, code);
	if (ptrace(PTRACE_SETSIGMASK, inj->tid, (void *)sizeof inj->mask,
	    &inj->mask) == -1 || gregs_write(inj->tid, &r) == -1)
		return inject_refused(inj, "what it was");
	inj->entered = false;
	return inject_halt(inj) == -1 ? -1 : 1;
}
