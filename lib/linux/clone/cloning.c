/*
 * The steps by which a process is made to clone itself. Each step only starts
 * the next piece of work after waiting for the previous one, so that make.c can
 * take many processes through the steps at once.
 */
#include "cloning.h"
#include "bisect.h"
#include "linux/file/file.h"
#include "linux/inject/inject.h"

#include <sys/syscall.h>

#include <linux/close_range.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * Let the kernel kill this clone before other processes when memory runs out
 * (proc_pid_oom_score_adj(5)).
 */
static void
clone_expendable(pid_t clone)
{
	int fd;

	if ((fd = proc_open(clone, 0, "oom_score_adj", O_WRONLY)) == -1)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

/*
 * Return the number of pages that process pid has mapped (proc_pid_statm(5)),
 * or 0 if it cannot be read.
 */
static unsigned long
pages_mapped(pid_t pid)
{
	char text[32];
	ssize_t n;
	int fd;

	if ((fd = proc_open(pid, 0, "statm", O_RDONLY)) == -1)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strtoul(text, NULL, 10);
}

/*
 * Return true if the clone of process p has all mappings of p, which must be
 * stopped. That is so if both have the same size, because fork(2) can only
 * leave mappings out (dup_mmap of mm/mmap.c).
 */
static bool
clone_iswhole(const struct lproc *p)
{
	const unsigned long size = pages_mapped(p->mmtid);

	return size > 0 && size == pages_mapped(p->clone);
}

static int
step_start(const struct live *l, struct cloning *c)
{
	(void)l;
	return inject_clonestart(c->in);
}

static int
step_clone(const struct live *l, struct cloning *c)
{
	struct lproc *p = c->proc;
	int rc;

	rc = inject_cloneawait(c->in, &p->clone);
	/* else the guard would have to search for the clone */
	if (p->clone != 0 && guard_send(l->guard, p->pid, p->clone) == -1)
		rc = -1;
	return rc;
}

/*
 * Arguments of close_range(2) that give the clone an empty descriptor table. A
 * clone shares the table of its process. While it does, files that the process
 * closes are closed, but those that are open when the process exits or runs
 * another program would be kept open by the clone. Before Linux 5.9 there is no
 * such call, and the clone keeps sharing the table. It also does so if closing
 * a file may wait for a file server.
 */
static const uint64_t shed[6] = { 0, UINT32_MAX, CLOSE_RANGE_UNSHARE };

static int
step_entrust(const struct live *l, struct cloning *c)
{
	struct lproc *p = c->proc;
	const pid_t told = p->clone;
	int rc;

	rc = inject_cloneend(c->in, &p->clone);
	if (p->clone != told &&
	    guard_send(l->guard, p->pid, p->clone) == -1)
		rc = -1;
	if (rc == -1 || (p->calls = inject_entrust(c->in, p->clone)) == NULL ||
	    inject_callbegin(p->calls, shed) == -1)
		return -1;
	inject_ending(c->in);
	return 0;
}

/*
 * Return true if process p has a file open whose file server may have to be
 * asked before it is closed (FUSE_FLUSH of fuse(4)). The server may be in the
 * set, and stopped. close_range(2) first copies the start of the table (dup_fd
 * of fs/file.c), and then closes the copies.
 */
static bool
closing_waits(const struct lproc *p)
{
	return SEEK(p->task.open, p->task.nopen, S_ISREG(x->mode) &&
	    !localfs_hasdevice(p->pid, x->dev)) != NULL;
}

static int
step_shed(const struct live *l, struct cloning *c)
{
	(void)l;
	c->proc->shares = closing_waits(c->proc);
	return inject_callstart(c->proc->calls, c->proc->shares ?
	    SYS_getppid : SYS_close_range, shed);
}

/*
 * Restore the process of c to the state that it had before calls were injected.
 */
static int
step_end(const struct live *l, struct cloning *c)
{
	struct inject *in = c->in;

	(void)l;
	c->in = NULL;
	return inject_end(in, 0);
}

static int
step_settle(const struct live *l, struct cloning *c)
{
	int64_t ignored;

	(void)l;
	if (inject_callend(c->proc->calls, &ignored) == -1) {
		errno = 0;	/* not ESRCH: only the clone has died, not
				   the process */
		return -1;
	}
	c->proc->whole = clone_iswhole(c->proc);
	clone_expendable(c->proc->clone);
	return 0;
}

/*
 * The steps, in their order, and then NULL. Each is called with a process that
 * is being cloned, and acts on it or on its clone. It returns 0, or -1 with
 * errstr set. If errno was 0 before, it is then ESRCH if the process has died.
 */
const clonestep_fn clone_steps[] = {
	step_start, step_clone, step_entrust, step_shed, step_end, step_settle,
	NULL
};
