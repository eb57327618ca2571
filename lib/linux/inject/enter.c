/*
 * Prepare a stopped thread for running system calls, and restore it afterwards.
 */
#include "linux/proc/proc.h"
#include "run.h"

#include <sys/ptrace.h>

#include <unistd.h>

enum {
	SECCOMP_NONE = 0,
	GET_USER_DISPATCH = 0x4211	/* linux/ptrace.h, since Linux 6.4 */
};

/*
 * Return true if the thread of inj is under seccomp(2), or if that cannot be
 * determined.
 */
static bool
is_filtered(const struct inject *inj)
{
	long mode;

	mode = proc_status(inj->pid, inj->tid, "Seccomp");
	/* kernels without seccomp have no Seccomp line */
	return mode == -1 ? proc_status(getpid(), 0, "Seccomp") != -1 :
	    mode != SECCOMP_NONE;
}

/*
 * Return true if t, the thread of inj, was under seccomp(2) when its files were
 * read, or if that cannot be determined.
 */
static bool
was_filtered(const struct inject *inj, const struct lthread *t)
{
	const struct file *f;

	if ((f = filelist_find(&t->seen, "status")) == NULL)
		f = filelist_find(&t->rec, "status");
	return f == NULL ? is_filtered(inj) : status_first(f->data, f->len,
	    "Seccomp", 10) != SECCOMP_NONE;
}

/*
 * Set inj->suspend if seccomp(2) filters can be suspended during our calls. Set
 * it even if the thread has no filters yet, because another thread that is not
 * stopped may install some. Return 0, or -1 with errstr set if the thread has
 * filters that cannot be suspended.
 */
static int
seccomp_look(struct inject *inj)
{
	inj->suspend = 0;
	if (ptrace(PTRACE_SETOPTIONS, inj->tid, NULL,
	    (void *)(inj->options | PTRACE_O_SUSPEND_SECCOMP)) == 0)
		inj->suspend = PTRACE_O_SUSPEND_SECCOMP;
	else if (errno == ESRCH)
		return inject_refused(inj, "options");
	else if (is_filtered(inj))
		return errstr_set("its seccomp(2) filters cannot be "
		    "suspended");
	/* filters apply again before the thread can run */
	return inject_options(inj, 0);
}

/*
 * Return true if thread tid redirects its system calls to a SIGSYS handler
 * (PR_SET_SYSCALL_USER_DISPATCH of prctl(2)). If so, our calls would be
 * redirected too, before we could check them.
 */
static bool
is_dispatched(pid_t tid)
{
	struct {		/* struct ptrace_sud_config of linux/ptrace.h */
		uint64_t	 mode;
		uint64_t	 selector;
		uint64_t	 offset;
		uint64_t	 len;
	} sud = { 0 };

	return ptrace((int)GET_USER_DISPATCH, tid,
	    (void *)sizeof sud, &sud) == 0 && sud.mode != 0;
}

/*
 * Make t the thread of inj that runs calls, and save its state. Return 0, or -1
 * with errstr set.
 */
int
inject_thread_enter(struct inject *inj, const struct lthread *t)
{
	const pid_t tid = t->tid;
	const char *why;

	inj->tid = tid;
	inj->seen = &t->seencall;
	inj->filtered = was_filtered(inj, t);
	inj->restart = (struct restartinfo){ 0 };
	inj->options = PTRACE_O_TRACESYSGOOD;
	if (gregs_read(tid, &inj->regs) == -1 || ptrace(PTRACE_GETSIGMASK, tid,
	    (void *)sizeof inj->mask, &inj->mask) == -1)
		return inject_refused(inj, "registers");
	if ((why = call_refused(tid, &inj->regs)) != NULL)
		return errstr_set("%s", why);
	if (is_dispatched(tid))
		return errstr_set(INJECT_DISPATCHED);
	if (extstate_read(tid, &inj->ext) == -1)
		return inject_refused(inj, "extended state");
	return seccomp_look(inj) == -1 ? -1 : stops_note(inj);
}

/*
 * Restore the state of the thread of inj, and leave it stopped as before. The
 * registers are restored last: if we die before that, the return frame restores
 * everything else. Return 0, or -1 with errstr set.
 */
int
inject_thread_leave(struct inject *inj)
{
	if (inj->gone)
		return inject_gone(inj);
	if (inj->lost || (inj->entered && repeat_restore(inj) == -1) ||
	    (inj->entered && inject_halt(inj) == -1))
		return -1;
	if (inj->entered && (ptrace(PTRACE_SETSIGMASK, inj->tid,
	    (void *)sizeof inj->mask, &inj->mask) == -1 ||
	    extstate_write(inj->tid, &inj->ext) == -1 ||
	    gregs_write(inj->tid, &inj->regs) == -1))
		return inject_refused(inj, "what it was");
	inj->entered = false;
	inj->ready = false;
	return ptrace(PTRACE_SETOPTIONS, inj->tid, NULL, NULL) == -1 ?
	    inject_refused(inj, "options") : 0;
}
