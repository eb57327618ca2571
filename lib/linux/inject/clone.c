/*
 * Make a clone of a stopped process that has a copy of its memory and nothing
 * else.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "restart.h"
#include "run.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

enum {
	CLONE_FLAGS = CLONE_FILES /* flags of clone(2), without an exit
				     signal */
};

/*
 * Return 1 if the stopped thread tid would, when resumed, make the clone(2)
 * call of inject_clonestart(). In that case it is at the entry of the call, or
 * about to restart the call. Return 0 if it would not, or -1 if that cannot be
 * determined.
 */
int
inject_willclone(pid_t tid)
{
	return isa.injects ? call_pending(tid, SYS_clone, CLONE_FLAGS) : 0;
}

/*
 * Set up c to make calls in pid, the stopped clone of the process of inj. The
 * clone needs no return frame (which makes a thread continue its program if we
 * die), because it never continues the program.
 */
static int
clone_enter(struct inject *c, const struct inject *inj, pid_t pid)
{
	*c = *inj;
	c->pid = c->tid = pid;
	c->options |= PTRACE_O_EXITKILL;
	c->mem = -1;
	c->saved = c->buf = NULL;
	c->stops = NULL;
	c->nstops = 0;
	c->map = 0;
	c->len = 0;
	c->entered = false;
	c->halting = false;
	c->sigchld = false;	/* inject_end(inj) sends the SIGCHLD again */
	c->until = now_ms() + ALL_MS;
	c->ext = (struct extstate){ 0 };
	c->restart = (struct restartinfo){ 0 };
	if (gregs_read(pid, &c->regs) == -1)
		return errstr_sys("clone %d", pid);
	c->stack.call = gregs_sp(&c->regs);
	return 0;
}

/*
 * Wait until clone pid has stopped. Then have the kernel kill the clone when we
 * die, and restore the unused stack in its memory. Until then, the stack makes
 * the clone call exit_group(2) if it runs.
 */
static int
clone_keep(struct inject *inj, pid_t pid)
{
	if (inject_wait(inj, pid, CALL_MS) <= 0 ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL,
	    (void *)(inj->options | PTRACE_O_EXITKILL)) == -1)
		return errstr_set("process %d: its clone died at once",
		    inj->pid);
	return inject_put(pid, inj->saved, inj->len, inj->unused);
}

/*
 * Set arg to the arguments of the clone(2) call. Fill the isa.stage bytes at
 * stack with a stack that makes the clone exit as soon as it runs.
 */
static void
clone_args(const struct inject *inj, uint8_t *stack, uint64_t arg[6])
{
	const struct frame w = { .tid = inj->tid, .gadget = &inj->gadget,
	    .regs = &inj->regs };

	memset(arg, 0, 6 * sizeof *arg);
	arg[0] = CLONE_FLAGS;
	arg[1] = frame_exit(stack, inject_scratch(inj), &w);
}

/*
 * Begin to make a clone of the process of inj. This is the first of four steps;
 * the others are inject_clonestart(), inject_cloneawait() and
 * inject_cloneend(). Each step waits for the previous one, so that several
 * processes can be cloned at the same time. Return 0, or -1 with errstr set.
 */
int
inject_clonebegin(struct inject *inj)
{
	uint64_t arg[6];
	uint8_t stack[MAX_STAGE];

	clone_args(inj, stack, arg);
	return inject_trust(inj) == -1 ||
	    inject_write(inj, stack, isa.stage) == -1 ? -1 :
	    inject_begincall(inj, arg);
}

/*
 * Let the process of inj enter clone(2). Return 0, or -1 with errstr set.
 */
int
inject_clonestart(struct inject *inj)
{
	uint64_t arg[6];
	uint8_t stack[MAX_STAGE];

	clone_args(inj, stack, arg);
	return inject_enter(inj, SYS_clone, arg, PTRACE_O_TRACECLONE) == -1 ?
	    -1 : inject_go(inj, 0);
}

/*
 * Wait until the clone exists, and set *pid to its process ID. *pid is
 * unchanged if there will be no clone. Return 0, or -1 with errstr set.
 */
int
inject_cloneawait(struct inject *inj, pid_t *pid)
{
	unsigned long child;
	int rc;

	if ((rc = inject_step(inj, PTRACE_EVENT_CLONE, CALL_MS)) == -1)
		return -1;
	inj->cloned = rc == 1;
	if (!inj->cloned)
		return 0;
	if (ptrace(PTRACE_GETEVENTMSG, inj->tid, NULL, &child) == -1)
		return inject_refused(inj, "its clone");
	*pid = (pid_t)child;
	return inject_go(inj, 0);
}

/*
 * Wait until the process of inj has left clone(2), and set *ret to the result
 * of the call. Return 0 if the clone exists and is stopped, else -1.
 */
static int
clone_await(struct inject *inj, pid_t pid, int64_t *ret)
{
	int alive;

	alive = inj->cloned ? clone_keep(inj, pid) : -1;
	return (inj->cloned ? inject_leave(inj) : inject_options(inj, 0)) ==
	    -1 || inject_result(inj, ret) == -1 ? -1 : alive;
}

/*
 * Wait until the process of inj has made its clone, and set *pid to the process
 * ID of the clone. *pid stays 0 if the clone may still appear, and is -1 if
 * there is none. Return 0, or -1 with errstr set.
 *
 * The clone is a child that never runs. It has a copy-on-write copy of the
 * process's memory, and shares its descriptors (see cloning.c). It is traced
 * and stopped, and the kernel kills it when we die. The parent gets no signal
 * when the clone ends, and finds it only by waiting with __WALL or __WCLONE.
 */
int
inject_cloneend(struct inject *inj, pid_t *pid)
{
	int64_t ret;
	int alive, tries;

	ret = 0;
	alive = clone_await(inj, *pid, &ret);
	/* clone(2) fails with -ERESTARTNOINTR if a signal arrives; try again */
	for (tries = 0; ret == -ERESTARTNOINTR && tries < 10; tries++) {
		ret = 0;
		alive = inject_clonebegin(inj) == -1 ||
		    inject_clonestart(inj) == -1 ||
		    inject_cloneawait(inj, pid) == -1 ? -1 :
		    clone_await(inj, *pid, &ret);
	}
	if (ret < 0) {
		*pid = -1;
		return errstr_set("clone: %s", strerror((int)-ret));
	}
	return alive;
}

/*
 * Return a structure for inject_call() to make calls in a clone that was made
 * with inj. The argument clone is the process ID of the clone. The structure
 * has isa.stage bytes of scratch memory. Use it after inject_end(inj), and free
 * it with inject_relinquish(). Return NULL with errstr set on failure.
 */
struct inject *
inject_entrust(const struct inject *inj, pid_t clone)
{
	struct inject *c;

	if ((c = mem_new(1, sizeof *c)) == NULL)
		return NULL;
	if (clone_enter(c, inj, clone) == 0)
		return c;
	free(c);
	return NULL;
}

/*
 * Make len bytes of memory at start readable in clone c. Make them executable
 * as well if exec is set. Return 0, even if mprotect(2) refuses. Return -1 with
 * errstr set if the clone can no longer make calls.
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
 * Unmap len bytes of memory at start in clone c. Return 0, or -1 with errstr
 * set.
 */
int
inject_munmap(struct inject *c, uint64_t start, uint64_t len)
{
	const uint64_t arg[6] = { start, len };
	int64_t result;

	c->until = now_ms() + ALL_MS;
	if (inject_make(c, &result, SYS_munmap, arg) == -1)
		return -1;
	return result == 0 ? 0 : errstr_set("its clone cannot unmap memory");
}

/*
 * Prepare clone c to make calls: save the memory that the calls will use.
 * Return 0, or -1 with errstr set.
 */
int
inject_resume(struct inject *c)
{
	c->until = now_ms() + ALL_MS;
	c->saved = malloc(isa.stage);
	c->mem = proc_open(c->pid, 0, "mem", O_RDONLY);
	if (c->saved == NULL)
		return errstr_set("out of memory");
	if (c->mem == -1 || pread(c->mem, c->saved, isa.stage,
	    (off_t)c->unused) != (ssize_t)isa.stage)
		return errstr_sys("/proc/%d/mem", c->pid);
	c->len = isa.stage;
	return 0;
}

/*
 * Restore the scratch memory of clone c, and free c, which may be NULL. If the
 * memory cannot be restored, kill the clone, since its memory would be captured
 * with wrong bytes. rc is 0, or -1 if the caller failed. Return -1 if rc is -1
 * or on failure, else 0.
 */
int
inject_relinquish(struct inject *c, int rc)
{
	if (c == NULL)
		return rc;
	if (c->len != 0 &&
	    inject_put(c->pid, c->saved, c->len, c->unused) == -1) {
		(void)ptrace(PTRACE_KILL, c->pid, NULL, NULL);
		rc = -1;
	}
	inject_resignal(c);
	fd_drop(c->mem);
	free(c->saved);
	free(c);
	return rc;
}
