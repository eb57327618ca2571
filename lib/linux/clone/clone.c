/*
 * Clones of the address spaces of stopped processes, so that these can go on
 * before their memory is read, as snap(1) does without -s.
 *
 * A stopped process is made to clone itself without an exit signal; its
 * memory is then shared with the clone until one of them writes to it, and
 * the clone never runs.  What it lacks of the memory of the process is copied
 * meanwhile (lacks.c).  Clones are made of all processes or of none: where one
 * cannot be made, all stay stopped until their memory was read.
 *
 * A clone is a child of the process, and would be its zombie in the end; it
 * is the guard (guard.c) that sees to that.
 */
#include "clock.h"
#include "cloning.h"
#include "linux/inject/inject.h"
#include "state/state.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Return 1 if process p can be cloned; 0 if it is not one that we have
 * stopped; -1 with errstr if it is, but does not stand still or has lost the
 * thread that leads it.
 */
static int
clone_ready(struct lproc *p)
{
	struct lthread *t;
	bool ours;

	ours = false;
	TAILQ_FOREACH(t, &p->threads, entry) {
		if (t->hold == HOLD_BUSY)
			return errstr_set("thread %d does not stop", t->tid);
		if (t->hold == HOLD_FOREIGN)
			return 0;	/* that was told */
		if (t->hold == HOLD_STOPPED)
			ours = true;
	}
	t = TAILQ_FIRST(&p->threads);
	if (ours && t->hold != HOLD_STOPPED)
		return errstr_set("its first thread has exited");
	return ours && t->task != NULL;
}

/*
 * Return true if a process of set l has a descriptor of userfaultfd(2) open, as
 * the monitor of some memory has.
 */
static bool
has_monitor(const struct live *l)
{
	const struct lproc *p;
	const struct lthread *t;
	size_t i;

	TAILQ_FOREACH(p, &l->procs, entry) {
		t = TAILQ_FIRST(&p->threads);
		for (i = 0; t != NULL && t->task != NULL &&
		    i < t->task->nopen; i++)
			if (strcmp(t->task->open[i].path,
			    "anon_inode:[userfaultfd]") == 0)
				return true;
	}
	return false;
}

/*
 * Return 0 if process p has no memory under userfaultfd(2) now, whatever was
 * read before it was stopped; else -1 with errstr.
 */
static int
memory_unwatched(const struct lproc *p)
{
	struct bytes b;
	struct scan t;
	struct smap m;
	int rc;

	if (proc_read(p->mmtid, 0, "smaps", &b) == -1)
		return errstr_sys("/proc/%d/smaps", p->mmtid);
	for (t = scan_begin(b.data, b.len); (rc = smap_next(&t, &m)) == 1;)
		if (m.vmflags & VMF_UFFD)
			break;
	free(b.data);
	return rc == 1 ? errstr_set("its memory is under userfaultfd(2)") :
	    rc;
}

/*
 * Return 0 if a clone of process p, which has the mappings vma, does no harm,
 * else -1 with errstr.  A monitor of userfaultfd(2) may be asked to agree to
 * it, and p waits for that: forever, if the monitor was stopped, too.  A child
 * in a new PID namespace is its init.
 */
static int
clone_harmless(const struct live *l, const struct lproc *p,
    const struct vmas *vma)
{
	const struct filelist *rec = &TAILQ_FIRST(&p->threads)->rec;
	const struct file *ours, *next;
	size_t i;

	ours = filelist_find(rec, "ns/pid");
	next = filelist_find(rec, "ns/pid_for_children");
	if (ours == NULL || next == NULL || ours->len != next->len ||
	    memcmp(ours->data, next->data, ours->len) != 0)
		return errstr_set("its children are in another PID namespace");
	for (i = 0; i < vma->n; i++)
		if (vma->v[i].flags & VMA_UFFD)
			return errstr_set("its memory is under "
			    "userfaultfd(2)");
	return l->monitor ? memory_unwatched(p) : 0;
}

/*
 * Have the kernel kill a clone rather than others if memory gets scarce:
 * proc_pid_oom_score_adj(5).
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
 * Return how many pages process pid has mapped; 0 if that is not told:
 * proc_pid_statm(5).
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
 * Return true if the clone of process p, which is stopped, has all that p has
 * mapped: fork(2) takes from the size of the one what it leaves out of the
 * other (dup_mmap of mm/mmap.c), and nothing else.
 */
static bool
clone_iswhole(const struct lproc *p)
{
	const unsigned long size = pages_mapped(p->mmtid);

	return size > 0 && size == pages_mapped(p->clone);
}

/*
 * Clone process p, if it is one that we have stopped.  Return 0, or -1 with
 * errstr; errno is ESRCH then if p has died.
 */
static int
clone_make(struct live *l, struct snap *s, struct lproc *p)
{
	const struct vmas *vma;
	struct inject *in;
	bool whole;
	pid_t inner;
	int rc;

	errno = 0;
	if (p->skip || p->kernel || p->mmtid == 0)
		return 0;
	if ((rc = clone_ready(p)) != 1)
		return rc;
	vma = &TAILQ_FIRST(&p->threads)->task->vma;
	if (clone_harmless(l, p, vma) == -1 ||
	    headroom_claim(l, p, vma->n) == -1 ||
	    (in = inject_begin(p->pid, false, vma)) == NULL)
		return -1;
	rc = guard_tell(l->guard, p->pid, 0);
	if (rc == 0)
		rc = inject_clone(in, &p->clone, &inner);
	/* of what it is not told now, it has to look for */
	if (p->clone != 0 && guard_tell(l->guard, p->pid, p->clone) == -1)
		rc = -1;
	/* who runs again may end, or run another program, and closes files */
	if (rc == 0 && ((p->calls = inject_entrust(in, p->clone)) == NULL ||
	    inject_shed(p->calls) == -1))
		rc = -1;
	whole = rc == 0 && clone_iswhole(p);
	if (inject_end(in, rc) == -1)
		return -1;
	clone_expendable(p->clone);
	if (lacks_keep(l, s, p, vma, whole) == -1) {
		errno = 0;
		return -1;
	}
	p->origin = p->mmtid;
	p->mmtid = p->clone;
	return 0;
}

/*
 * Kill a clone, if we trace it: its number is that of no other process then.
 * PTRACE_KILL takes no CAP_KILL.
 */
static void
clone_kill(pid_t clone)
{
	siginfo_t si;

	if (clone > 0 && (waitid(P_PID, (id_t)clone, &si, WEXITED | WSTOPPED |
	    WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD) &&
	    kill(clone, SIGKILL) == -1)
		(void)ptrace(PTRACE_KILL, clone, NULL, NULL);
}

/*
 * Wait, for five seconds at the most, until a clone that was killed has ended:
 * what is left of it then, the kernel kills when we end.
 */
static void
clone_await(pid_t clone)
{
	enum { PATIENCE_MS = 5000 };
	uint64_t start;
	int status;
	pid_t rc;

	for (start = now_ms(); now_ms() - start < PATIENCE_MS; nap_us(50)) {
		rc = waitpid(clone, &status, WNOHANG | __WALL);
		if (rc == -1 ? errno != EINTR : rc > 0 && !WIFSTOPPED(status))
			return;
	}
}

/*
 * Return true if a clone still stands where it was stopped.  One that cannot
 * be looked at at all counts as killed: nothing that is read of it is certain.
 */
static bool
clone_stands(pid_t clone)
{
	enum { TRIES = 3 };
	char state;
	int i;

	for (state = '\0', i = 0; state == '\0' && i < TRIES; i++)
		state = proc_state(clone, clone);
	return state == 't';
}

/*
 * Return true, with errstr, if the clone of process p was killed, by the
 * kernel most likely, for want of memory.  Its pages go as soon as it does not
 * stand still any more: what was read of it, or learnt of its pages, is right
 * if this returns false afterwards.
 */
bool
clone_lost(struct lproc *p)
{
	if (p->clone <= 0 || clone_stands(p->clone))
		return false;
	p->lost = true;
	errstr_set("its clone was killed%s%s", p->limit == NULL ? "" : ": ",
	    p->limit == NULL ? "" : p->limit);
	return true;
}

/*
 * Return true if a clone of set l was killed before all was read of it, or what
 * was copied in the stop could not be written.
 */
bool
live_lost(const struct live *l)
{
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (p->lost)
			return true;
	return l->lost;
}

/*
 * Kill all clones of set l, and have the processes themselves in their place.
 * As long as its process is stopped, each clone is a zombie.
 */
static void
clones_kill(struct live *l)
{
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		clone_kill(p->clone);
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->clone > 0)
			clone_await(p->clone);
		(void)inject_relinquish(p->calls, 0);
		p->calls = NULL;
		p->clone = 0;
		if (p->origin != 0)
			p->mmtid = p->origin;
		p->origin = 0;
	}
}

/*
 * Clone all processes of set l that are stopped by us, whose threads were
 * gathered.  Return true if they can go on; else there are no clones, and the
 * user is told why.
 */
bool
clones_make(struct live *l, struct snap *s)
{
	struct lproc *p;
	char why[256];

	(void)step_begin(&l->steps, STEP_CLONE);
	l->monitor = has_monitor(l);
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (clone_make(l, s, p) == 0)
			continue;
		strlcpy(why, snap_errstr(), sizeof why);
		if (errno != ESRCH && !proc_died(p->pid, p->mmtid))
			break;
		lproc_leave(l, p);
	}
	if (p == NULL)
		return true;
	clones_kill(l);
	(void)step_begin(&l->steps, STEP_MEMORY);
	live_say(l, "process %d cannot be cloned: %s: all stay stopped while "
	    "they are written", p->pid, why);
	lacks_drop(l);
	return false;
}

/*
 * Return how many bytes clone pid alone has: those that its process has
 * written to since, each of which was copied for that.  0 if that is not told:
 * proc_pid_smaps(5).
 */
static uint64_t
clone_own(pid_t pid)
{
	struct bytes b;
	uint64_t kb;

	if (proc_read(pid, 0, "smaps_rollup", &b) == -1)
		return 0;
	kb = status_first(b.data, b.len, "Private_Clean", 10) +
	    status_first(b.data, b.len, "Private_Dirty", 10);
	free(b.data);
	return kb * KB;
}

/*
 * Kill all clones of set l and have the guard reap them; tell the user if
 * something of them is left.
 */
void
clones_end(struct live *l)
{
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (l->opts.verbose && p->clone > 0)
			l->copied += clone_own(p->clone);
	clones_kill(l);
	plains_free(l);
	if (l->guard == NULL)
		return;
	switch (guard_end(l->guard)) {
	case 0:
		live_warn(l, "a clone could not be reaped yet: process "
		    "snap-guard sees to it");
		break;
	case -1:
		live_warn(l, "a clone could not be reaped: it is a zombie as "
		    "long as its process runs");
	}
	l->guard = NULL;
}
