/*
 * The call that a thread was in when it stopped, and is to go on with when it
 * has made ours.  Where registers tell of that, they are put back and
 * that is all.  Where the kernel keeps something of it until the thread runs
 * on, that is learned before it makes the first call of ours, and the thread
 * comes to such an end of a call again when it has made the last.
 * Meanwhile it is led back to the beginning of its call, as ever, should we
 * die.
 */
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

/*
 * Learn what the call is that the thread goes on with, if only that tells; it
 * stops where that begins, and does not make it, but is where calls of ours
 * are made.  With a signal that is to be handled first it does not come there,
 * and is taken to have been in the call: that ends with EINTR.
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
		in->again.code = 0;
	if (inject_load(in, SYS_getppid, none) == -1 ||
	    inject_options(in, in->suspend) == -1)
		return -1;
	return inject_leave(in);
}

/*
 * Know what the thread of in is to repeat, before it makes its first call of
 * ours.  Return 0, or -1 with errstr.
 */
int
repeat_learn(struct inject *in)
{
	if (in->entered)
		return 0;
	in->again = again_look(in->tid, &in->regs);
	return in->again.ask ? repeat_ask(in) : 0;
}

/*
 * Have the thread of in, whose mask of signals and all else is to be as it was,
 * be stopped behind a call that it is to repeat.  Return 1 if it is; 0 if it
 * has only to be given its registers; -1 with errstr.
 */
int
repeat_restore(struct inject *in)
{
	const int code = in->again.code;
	const uint64_t arg[6] = { again_first(&in->regs) };
	struct gregs r = in->regs;

	if (code == 0 || in->odd)
		return 0;
	in->again.code = 0;	/* else it is not tried again */
	if (inject_start(in, SYS_getppid, arg, 0) == -1 ||
	    inject_leave(in) == -1)
		return -1;
	again_load(&r, code);
	if (ptrace(PTRACE_SETSIGMASK, in->tid, (void *)sizeof in->mask,
	    &in->mask) == -1 || gregs_write(in->tid, &r) == -1)
		return inject_refused(in, "what it was");
	in->entered = false;
	return inject_halt(in) == -1 ? -1 : 1;
}
