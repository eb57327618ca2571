/*
 * Into a stopped thread that is to run system calls, and out of it: what it
 * had is kept meanwhile.
 */
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>

#include <errno.h>
#include <unistd.h>

enum {
	SECCOMP_NONE = 0,
	GET_USER_DISPATCH = 0x4211	/* of linux/ptrace.h, since 6.4 */
};

/*
 * Return whether the thread is under seccomp(2); true also where that cannot be
 * known.
 */
static bool
is_filtered(const struct inject *in)
{
	long mode;

	mode = proc_status(in->pid, in->tid, "Seccomp");
	/* a kernel without it tells of none */
	return mode == -1 ? proc_status(getpid(), 0, "Seccomp") != -1 :
	    mode != SECCOMP_NONE;
}

/*
 * Know whether filters of seccomp(2) can be suspended for our calls: where
 * they can, they are, also if the thread has none yet, for another thread that
 * is not stopped may give it some.
 */
static int
seccomp_look(struct inject *in)
{
	in->suspend = 0;
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL,
	    (void *)(in->options | PTRACE_O_SUSPEND_SECCOMP)) == 0)
		in->suspend = PTRACE_O_SUSPEND_SECCOMP;
	else if (errno == ESRCH)
		return inject_refused(in, "options");
	else if (is_filtered(in))
		return errstr_set("it is under seccomp(2)");
	/* it is not let run before they are in force */
	return inject_options(in, 0);
}

/*
 * Return whether a thread hands system calls to itself, by SIGSYS (prctl(2),
 * PR_SET_SYSCALL_USER_DISPATCH).  So it would ours, and that comes first.
 */
static bool
is_dispatched(pid_t tid)
{
	struct {		/* ptrace_sud_config of linux/ptrace.h */
		uint64_t	 mode;
		uint64_t	 selector;
		uint64_t	 offset;
		uint64_t	 len;
	} sud = { 0 };

	return ptrace((int)GET_USER_DISPATCH, tid,
	    (void *)sizeof sud, &sud) == 0 && sud.mode != 0;
}

/*
 * Go on with in in thread t: what it had is kept.  Return 0, or -1 with errstr.
 */
int
inject_thread_enter(struct inject *in, const struct lthread *t)
{
	const pid_t tid = t->tid;
	const char *why;

	in->tid = tid;
	in->seen = &t->seencall;
	in->again = (struct again){ 0 };
	in->options = PTRACE_O_TRACESYSGOOD;
	if (gregs_read(tid, &in->regs) == -1 || ptrace(PTRACE_GETSIGMASK, tid,
	    (void *)sizeof in->mask, &in->mask) == -1)
		return inject_refused(in, "registers");
	if ((why = call_refused(tid, &in->regs)) != NULL)
		return errstr_set("%s", why);
	if (is_dispatched(tid))
		return errstr_set(INJECT_DISPATCHED);
	if (kept_read(tid, &in->kept) == -1)
		return inject_refused(in, "extended state");
	return seccomp_look(in) == -1 ? -1 : stops_note(in);
}

/*
 * Put back what the thread of in had; it is stopped, as it was.  Its registers
 * come last: until then it would get all else back by itself.  Return 0, or -1
 * with errstr.
 */
int
inject_thread_leave(struct inject *in)
{
	if (in->gone)
		return inject_gone(in);
	if (in->lost || (in->entered && repeat_restore(in) == -1) ||
	    (in->entered && inject_halt(in) == -1))
		return -1;
	if (in->entered && (ptrace(PTRACE_SETSIGMASK, in->tid,
	    (void *)sizeof in->mask, &in->mask) == -1 ||
	    kept_write(in->tid, &in->kept) == -1 ||
	    gregs_write(in->tid, &in->regs) == -1))
		return inject_refused(in, "what it was");
	in->entered = false;
	in->ready = false;
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "options");
	return 0;
}
