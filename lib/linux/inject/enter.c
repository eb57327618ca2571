/*
 * Prepare a stopped thread for running system calls, and restore it afterwards.
 */
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>

#include <errno.h>
#include <unistd.h>

enum {
	SECCOMP_NONE = 0,
	GET_USER_DISPATCH = 0x4211	/* linux/ptrace.h, since Linux 6.4 */
};

/*
 * Return true if the thread is under seccomp(2), or if that cannot be
 * determined.
 */
static bool
is_filtered(const struct inject *in)
{
	long mode;

	mode = proc_status(in->pid, in->tid, "Seccomp");
	/* kernels without seccomp have no Seccomp line */
	return mode == -1 ? proc_status(getpid(), 0, "Seccomp") != -1 :
	    mode != SECCOMP_NONE;
}

/*
 * Set in->suspend if filters of seccomp(2) can be suspended during our calls.
 * They are suspended even if the thread has none yet, because another thread
 * that is not stopped may install some. Return -1 with errstr set if the thread
 * has filters that cannot be suspended.
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
	/* filters apply again before the thread can run */
	return inject_options(in, 0);
}

/*
 * Return true if thread tid redirects its system calls to a SIGSYS handler
 * (PR_SET_SYSCALL_USER_DISPATCH of prctl(2)). It would redirect ours before we
 * can check them.
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
 * Make t the thread of in that runs calls, and save its state. Return 0, or -1
 * with errstr set.
 */
int
inject_thread_enter(struct inject *in, const struct lthread *t)
{
	const pid_t tid = t->tid;
	const char *why;

	in->tid = tid;
	in->seen = &t->seencall;
	in->restart = (struct restartinfo){ 0 };
	in->options = PTRACE_O_TRACESYSGOOD;
	if (gregs_read(tid, &in->regs) == -1 || ptrace(PTRACE_GETSIGMASK, tid,
	    (void *)sizeof in->mask, &in->mask) == -1)
		return inject_refused(in, "registers");
	if ((why = call_refused(tid, &in->regs)) != NULL)
		return errstr_set("%s", why);
	if (is_dispatched(tid))
		return errstr_set(INJECT_DISPATCHED);
	if (extstate_read(tid, &in->ext) == -1)
		return inject_refused(in, "extended state");
	return seccomp_look(in) == -1 ? -1 : stops_note(in);
}

/*
 * Restore the state of the thread of in, and leave it stopped as before. Its
 * registers are restored last: until then its return frame would restore
 * everything else. Return 0, or -1 with errstr set.
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
	    extstate_write(in->tid, &in->ext) == -1 ||
	    gregs_write(in->tid, &in->regs) == -1))
		return inject_refused(in, "what it was");
	in->entered = false;
	in->ready = false;
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "options");
	return 0;
}
