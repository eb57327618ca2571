/*
 * A clone of a stopped process that has its memory and nothing else.
 */
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <linux/close_range.h>

#ifdef __x86_64__

enum {
	ERESTARTNOINTR = 513,	/* include/linux/errno.h */
	CLONE_FLAGS = CLONE_FILES /* and no signal for its parent */
};

/*
 * Return 1 if a stopped thread would go on with the call of inject_clone: it
 * is before it, or has to repeat it; 0 if not; -1 if that cannot be seen.
 */
int
inject_willclone(pid_t tid)
{
	enum { SYSCALL = 0x050f, WORD = 0xffff };
	struct user_regs_struct r;
	long code;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1)
		return -1;
	if (r.rdi != CLONE_FLAGS)
		return 0;
	if (r.orig_rax == SYS_clone && (int64_t)r.rax == -ERESTARTNOINTR)
		return 1;
	if (r.rax != SYS_clone)
		return 0;
	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)r.rip, NULL);
	return errno != 0 ? -1 : (code & WORD) == SYSCALL;
}

/*
 * Put back in a clone what was on the dead part of the stack.
 */
static int
clone_clean(struct inject *in, pid_t pid)
{
	return inject_put(pid, in->was, in->len, in->dead);
}

/*
 * Let a clone, which shares the descriptors of the process, have none, so that
 * what the process closes is closed.  Should we die meanwhile, the clone goes
 * on to its exit.  Where there is no such call (before Linux 5.9) it goes on
 * sharing them.
 */
static int
clone_shed(struct inject *in, pid_t pid)
{
	const uint64_t arg[6] = { 0, UINT32_MAX, CLOSE_RANGE_UNSHARE };
	struct inject c = *in;
	int rc;

	c.pid = c.tid = pid;
	c.options |= PTRACE_O_EXITKILL;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &c.regs) == -1)
		return errstr_sys("clone %d", pid);
	c.stack.call = c.regs.rsp;
	rc = inject_enter(&c, SYS_close_range, arg, 0);
	if (rc == 0)
		rc = inject_leave(&c);
	in->odd |= c.odd;
	return rc == 0 ? 0 : errstr_set("process %d: its clone %s", in->pid,
	    c.odd ? "went astray" : "did not live");
}

/*
 * A thread that was cloned: it dies when we do, and stays stopped.
 */
static int
clone_keep(struct inject *in, pid_t *pid)
{
	unsigned long child;

	if (ptrace(PTRACE_GETEVENTMSG, in->tid, NULL, &child) == -1)
		return inject_refused(in, "its clone");
	*pid = (pid_t)child;
	if (inject_wait(in, *pid, CALL_MS) <= 0 ||
	    ptrace(PTRACE_SETOPTIONS, *pid, NULL,
	    (void *)(in->options | PTRACE_O_EXITKILL)) == -1)
		return errstr_set("process %d: its clone did not live",
		    in->pid);
	return clone_clean(in, *pid) == -1 ? -1 : clone_shed(in, *pid);
}

/*
 * Have the thread make a clone, once: *ret is what it returned.  Return 0 if
 * there is one, which stands still as it is to; -1 if not.
 */
static int
clone_call(struct inject *in, const uint64_t arg[6], pid_t *pid, int64_t *ret)
{
	int kept, rc;

	kept = -1;
	if (inject_enter(in, SYS_clone, arg, PTRACE_O_TRACECLONE) == -1 ||
	    (rc = inject_step(in, PTRACE_EVENT_CLONE, CALL_MS)) == -1)
		return -1;
	if (rc == 1)
		kept = clone_keep(in, pid);
	if ((rc == 1 ? inject_leave(in) : inject_options(in, 0)) == -1 ||
	    inject_result(in, ret) == -1)
		return -1;
	return kept;
}

/*
 * Make a clone of the process: a child that has a copy (copy-on-write) of its
 * memory, has no descriptors, and is never to run.  It is
 * traced by us, stopped, killed by the kernel when we die, and without a
 * signal for its parent: only wait(2) with __WALL or __WCLONE finds it.  *pid
 * is its number (0: it may still come; -1: there is none), *inner that which
 * the process knows.
 */
int
inject_clone(struct inject *in, pid_t *pid, pid_t *inner)
{
	const struct way w = { .tid = in->tid, .gadget = &in->gadget,
	    .regs = &in->regs };
	uint64_t arg[6] = { CLONE_FLAGS };
	uint8_t stack[FRAME_EXIT];
	int64_t ret;
	int kept, tries;

	arg[1] = frame_exit(stack, in->map, &w);
	if (inject_trust(in) == -1 ||
	    inject_write(in, stack, sizeof stack) == -1)
		return -1;
	/* a signal that stops it comes first: -ERESTARTNOINTR */
	tries = 0;
	do {
		ret = 0;
		kept = clone_call(in, arg, pid, &ret);
	} while (ret == -ERESTARTNOINTR && ++tries < 10);
	*inner = (pid_t)ret;
	if (ret < 0) {
		*pid = -1;
		return errstr_set("clone: %s", strerror((int)-ret));
	}
	return kept;
}

#endif
