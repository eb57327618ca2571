/*
 * A clone of a stopped process that has its memory and nothing else.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "restart.h"
#include "run.h"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CLONE_FLAGS = CLONE_FILES /* and no signal for its parent */
};

/*
 * Return 1 if thread tid, which is stopped, would go on with the call of
 * inject_clone: it is before it, or has to repeat it; 0 if not; -1 if that
 * cannot be seen.
 */
int
inject_willclone(pid_t tid)
{
	return isa.injects ? call_pending(tid, SYS_clone, CLONE_FLAGS) : 0;
}

/*
 * Begin to make calls in a clone of the process, which is stopped.  It never
 * goes back, so nothing leads it there.
 */
static int
clone_enter(struct inject *c, const struct inject *in, pid_t pid)
{
	*c = *in;
	c->pid = c->tid = pid;
	c->options |= PTRACE_O_EXITKILL;
	c->mem = -1;
	c->was = c->buf = NULL;
	c->stops = NULL;
	c->nstops = 0;
	c->map = 0;
	c->len = 0;
	c->entered = false;
	c->halting = false;
	c->told = false;	/* in tells that itself */
	c->until = now_ms() + ALL_MS;
	c->kept = (struct kept){ 0 };
	c->again = (struct again){ 0 };
	if (gregs_read(pid, &c->regs) == -1)
		return errstr_sys("clone %d", pid);
	c->stack.call = gregs_sp(&c->regs);
	return 0;
}

/*
 * The clone pid: it dies when we do, and stays stopped.  Until that is so, what
 * it finds on the stack leads it to its exit; then it gets back there what was
 * on the dead part.
 */
static int
clone_keep(struct inject *in, pid_t pid)
{
	if (inject_wait(in, pid, CALL_MS) <= 0 ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL,
	    (void *)(in->options | PTRACE_O_EXITKILL)) == -1)
		return errstr_set("process %d: its clone did not live",
		    in->pid);
	return inject_put(pid, in->was, in->len, in->dead);
}

/*
 * Set arg to what the call takes that makes a clone, and write to stack, of
 * isa.stage bytes, what that will find there.
 */
static void
clone_args(const struct inject *in, uint8_t *stack, uint64_t arg[6])
{
	const struct way w = { .tid = in->tid, .gadget = &in->gadget,
	    .regs = &in->regs };

	memset(arg, 0, 6 * sizeof *arg);
	arg[0] = CLONE_FLAGS;
	arg[1] = frame_exit(stack, inject_scratch(in), &w);
}

/*
 * Have the process make a clone, in four steps, each of which waits until the
 * one before is done: this one, inject_clonestart, inject_clone and
 * inject_cloned.  Other processes may be at theirs meanwhile.  Return 0, or -1
 * with errstr.
 */
int
inject_cloning(struct inject *in)
{
	uint64_t arg[6];
	uint8_t stack[MAX_STAGE];

	clone_args(in, stack, arg);
	if (inject_trust(in) == -1 ||
	    inject_write(in, stack, isa.stage) == -1)
		return -1;
	return inject_begincall(in, SYS_clone, arg);
}

/*
 * Let it begin to copy itself.  Return 0, or -1 with errstr.
 */
int
inject_clonestart(struct inject *in)
{
	uint64_t arg[6];
	uint8_t stack[MAX_STAGE];

	clone_args(in, stack, arg);
	if (inject_enter(in, SYS_clone, arg, PTRACE_O_TRACECLONE) == -1)
		return -1;
	return inject_go(in, 0);
}

/*
 * Wait until there is a clone, and set *pid to its number; or, where there will
 * be none, leave that as it is.  Return 0, or -1 with errstr.
 */
int
inject_clone(struct inject *in, pid_t *pid)
{
	unsigned long child;
	int rc;

	if ((rc = inject_step(in, PTRACE_EVENT_CLONE, CALL_MS)) == -1)
		return -1;
	in->makes = rc == 1;
	if (!in->makes)
		return 0;
	if (ptrace(PTRACE_GETEVENTMSG, in->tid, NULL, &child) == -1)
		return inject_refused(in, "its clone");
	*pid = (pid_t)child;
	return inject_go(in, 0);
}

/*
 * Wait until the process has left the call that inject_clone waited for: *ret
 * is what that returned.  Return 0 if there is a clone, which stands still as
 * it is to; -1 if not.
 */
static int
clone_await(struct inject *in, pid_t pid, int64_t *ret)
{
	const bool made = in->makes;
	int kept;

	in->makes = false;
	kept = made ? clone_keep(in, pid) : -1;
	if ((made ? inject_leave(in) : inject_options(in, 0)) == -1 ||
	    inject_result(in, ret) == -1)
		return -1;
	return kept;
}

/*
 * Wait until the process has made a clone: a child that has a copy
 * (copy-on-write) of its memory, shares its descriptors (cloning.c), and is
 * never to run.  It is traced by us, stopped, killed by the kernel when we die,
 * and without a signal for its parent: only wait(2) with __WALL or __WCLONE
 * finds it.  *pid is its number (0: it may still come; -1: there is none).
 * Return 0, or -1 with errstr.
 */
int
inject_cloned(struct inject *in, pid_t *pid)
{
	int64_t ret;
	int kept, tries;

	ret = 0;
	kept = clone_await(in, *pid, &ret);
	/* a signal that stops it comes first: -ERESTARTNOINTR */
	for (tries = 0; ret == -ERESTARTNOINTR && tries < 10; tries++) {
		ret = 0;
		kept = inject_cloning(in) == -1 ||
		    inject_clonestart(in) == -1 ||
		    inject_clone(in, pid) == -1 ? -1 :
		    clone_await(in, *pid, &ret);
	}
	if (ret < 0) {
		*pid = -1;
		return errstr_set("clone: %s", strerror((int)-ret));
	}
	return kept;
}

/*
 * Be ready to have a clone, which in has made, make calls when in has ended:
 * inject_call, with isa.stage bytes of scratch memory.  Return what is for
 * inject_relinquish; NULL with errstr.
 */
struct inject *
inject_entrust(const struct inject *in, pid_t clone)
{
	struct inject *c;

	if ((c = calloc(1, sizeof *c)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	if (clone_enter(c, in, clone) == 0)
		return c;
	free(c);
	return NULL;
}

/*
 * Have clone c be able to read len bytes of its memory from start on, and to
 * execute them with exec, if it can be.  Return 0; -1 with errstr where it
 * cannot be asked anything any more.
 */
int
inject_allow(struct inject *c, uint64_t start, uint64_t len, bool exec)
{
	const uint64_t arg[6] = { start, len, (uint64_t)(exec ?
	    PROT_READ | PROT_EXEC : PROT_READ) };
	int64_t ignored;

	c->until = now_ms() + ALL_MS;
	return inject_make(c, &ignored, SYS_mprotect, arg);
}

/*
 * Begin to have clone c make calls.  Return 0, or -1 with errstr.
 */
int
inject_resume(struct inject *c)
{
	c->until = now_ms() + ALL_MS;
	c->was = malloc(isa.stage);
	c->mem = proc_open(c->pid, 0, "mem", O_RDONLY);
	if (c->was == NULL)
		return errstr_set("out of memory");
	if (c->mem == -1 || pread(c->mem, c->was, isa.stage,
	    (off_t)c->dead) != (ssize_t)isa.stage)
		return errstr_sys("/proc/%d/mem", c->pid);
	c->len = isa.stage;
	return 0;
}

/*
 * Give the clone back what was in its scratch memory, and free c, which may be
 * NULL.  It is killed where that cannot be, for it is read as the process.  rc
 * is 0, or -1 if what was asked failed.  Return -1 if that or this did.
 */
int
inject_relinquish(struct inject *c, int rc)
{
	if (c == NULL)
		return rc;
	if (c->len != 0 && inject_put(c->pid, c->was, c->len, c->dead) == -1) {
		(void)ptrace(PTRACE_KILL, c->pid, NULL, NULL);
		rc = -1;
	}
	inject_retell(c);
	if (c->mem != -1)
		close(c->mem);
	free(c->was);
	free(c);
	return rc;
}
