/*
 * Make clones (clone.c).
 *
 * Most of the time of fork(2) is spent in the kernel by the process that is
 * cloned, and each step of ours must wait for the process. So up to 32
 * processes are taken through the steps together (cloning.c). Gaps are copied
 * only when nothing of ours is left in the memory of any of them, since another
 * process may share a part of it.
 */
#include "cloning.h"
#include "bisect.h"
#include "linux/inject/inject.h"
#include "state/state.h"

#include <sys/utsname.h>

#include <fcntl.h>
#include <signal.h>

enum { MOST = 32 }; /* maximum number of processes cloned at a time */

struct making {
	struct live	*live;	/* borrowed, like "snap" */
	struct snap	*snap;
	struct cloning	 v[MOST]; /* processes that are being cloned */
	size_t		 n;
	struct family	 family;
	struct lproc	*failed; /* first process that could not be cloned,
				    or NULL */
	char		 why[256];
};

/*
 * Return 1 if process p can be cloned, or 0 if we have not stopped it. Return
 * -1 with errstr set if a thread of p does not stop or is traced by another
 * process, or if the first thread has exited.
 */
static int
clone_ready(struct lproc *p)
{
	struct lthread *t;
	pid_t foreign = 0;
	bool ours;

	ours = false;
	TAILQ_FOREACH(t, &p->threads, entry) {
		if (t->hold == HOLD_BUSY)
			return errstr_set("thread %d does not stop", t->tid);
		if (t->hold == HOLD_FOREIGN)
			foreign = t->tid;
		if (t->hold == HOLD_STOPPED)
			ours = true;
	}
	if (foreign != 0)	/* the user has been warned */
		return !ours ? 0 : errstr_set("another process traces its "
		    "thread %d", foreign);
	t = TAILQ_FIRST(&p->threads);
	if (ours && t->hold != HOLD_STOPPED)
		return errstr_set("its first thread has exited");
	return ours && lproc_leader(p) != NULL;
}

/*
 * Return true if a descriptor of process p has this link below /proc/PID/fd.
 */
static bool
has_open(const struct lproc *p, const char *link)
{
	return SEEK(p->task.open, p->task.nopen, strcmp(x->path, link) ==
	    0) != NULL;
}

/*
 * Return true if a process of set l has a userfaultfd(2) descriptor open. Such
 * a process may monitor the memory of another process.
 */
static bool
has_monitor(const struct live *l)
{
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (has_open(p, "anon_inode:[userfaultfd]"))
			return true;
	return false;
}

/*
 * Check that process p has no memory under userfaultfd(2). Read smaps again,
 * since more memory may be under userfaultfd(2) than when smaps was last read.
 * Return 0, or -1 with errstr set if there is such memory, or if smaps cannot
 * be read.
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
		if (m.mapping.flags & VMF_UFFD)
			break;
	free(b.data);
	return rc == 1 ? errstr_set("its memory is managed by userfaultfd(2)") :
	    rc;
}

/*
 * Return true if a page frame that a process shares with its clone cannot
 * change. Before Linux 6.5, a read(2) with O_DIRECT that began before the clone
 * was made can still write to such a frame. Since then the kernel pins the
 * pages (bio_iov_iter_get_pages() in block/bio.c).
 */
bool
live_framesfixed(void)
{
	struct utsname u;
	int major, minor;

	return uname(&u) == 0 &&
	    sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    (major > 6 || (major == 6 && minor >= 5));
}

/*
 * Return true if set l can be kept with live_keep(): it has clones, pages that
 * they share with their processes do not change, and no clone keeps files open
 * that its process had.
 */
bool
live_cankeep(const struct live *l)
{
	return live_hasclones(l) && live_framesfixed() &&
	    LSEEK(&l->procs, x->shares) == NULL;
}

/*
 * Return true if the kernel may be reading a file directly into the memory of
 * process p (io_submit(2) or io_uring(7), with O_DIRECT). vma has the mappings
 * of p.
 */
static bool
reads_directly(const struct lproc *p, const struct vmas *vma)
{
	return SEEK(p->task.open, p->task.nopen, x->flags & O_DIRECT) != NULL &&
	    (SEEK(vma->v, vma->n, vma_isring(x)) != NULL ||
	    has_open(p, "anon_inode:[io_uring]"));
}

/*
 * Check that cloning process p does no harm. vma has the mappings of p. If
 * memory of p is under userfaultfd(2), the monitor of that memory may have to
 * agree to the fork. Then p would wait for the monitor, forever if the monitor
 * is also stopped. If children of p go to a new PID namespace, the clone would
 * become init there. Before Linux 6.5, data that the kernel reads directly into
 * a page may arrive in the page of the clone, and p never gets it (NOTES of
 * open(2)). Return 0 if there is no such danger, or -1 with errstr set.
 */
static int
clone_harmless(const struct live *l, const struct lproc *p,
    const struct vmas *vma)
{
	const struct filelist *rec = &TAILQ_FIRST(&p->threads)->rec;
	const struct file *ours, *next;

	ours = filelist_find(rec, "ns/pid");
	next = filelist_find(rec, "ns/pid_for_children");
	if (ours == NULL || next == NULL || ours->len != next->len ||
	    memcmp(ours->data, next->data, ours->len) != 0)
		return errstr_set("its children are in another PID namespace");
	if (SEEK(vma->v, vma->n, x->flags & VMA_UFFD) != NULL)
		return errstr_set("its memory is managed by userfaultfd(2)");
	if (!live_framesfixed() && reads_directly(p, vma))
		return errstr_set("it reads files with O_DIRECT, in the "
		    "background");
	return l->monitor ? memory_unwatched(p) : 0;
}

/*
 * Begin to clone process p, if we have stopped it. Return 0 on success, or if p
 * is not stopped. Return 1 if p must wait until the clones under way are
 * finished. Return -1 with errstr set on failure; errno is ESRCH if p has died.
 */
static int
clone_begin(struct making *m, struct lproc *p)
{
	struct live *l = m->live;
	const struct vmas *vma;
	struct inject *in;
	int rc;

	errno = 0;
	if ((rc = clone_ready(p)) != 1)
		return rc;
	/* If p and a process that is being cloned share memory, the clone of
	   one would contain the data we put on the stack of the other. */
	if (m->n == MOST ||
	    SEEK(m->v, m->n, lproc_shares(x->proc, p)) != NULL)
		return 1;
	vma = &p->task.vma;
	if (clone_harmless(l, p, vma) == -1 ||
	    headroom_claim(l, p, vma->n) == -1 ||
	    (in = inject_begin(p, false, vma)) == NULL)
		return -1;
	if (guard_send(l->guard, p->pid, 0) == -1 ||
	    inject_clonebegin(in) == -1)
		return inject_end(in, -1);
	m->v[m->n++] = (struct cloning){ .proc = p, .in = in };
	return 0;
}

/*
 * Copy the memory that the process of c has and its clone lacks. From then on,
 * read the clone in place of the process.
 */
static int
clone_keep(struct making *m, const struct cloning *c)
{
	struct lproc *p = c->proc;
	const struct lacking of = { .clone = p->clone, .whole = p->whole };

	errno = 0;
	if (gaps_keep(m->live, m->snap, p, &p->task.vma, &of) == -1) {
		errno = 0;
		return -1;
	}
	p->mmtid = p->clone;
	return 0;
}

/*
 * Handle the failure to clone process p. errstr and errno must be set. If p has
 * died, leave it out of the set. Otherwise keep the reason for a later message.
 */
static void
clone_failed(struct making *m, struct lproc *p)
{
	char why[sizeof m->why];

	strlcpy(why, snap_errstr(), sizeof why);
	if (errno == ESRCH || proc_died(p->pid, p->mmtid)) {
		/* a container cannot end before its processes and clones */
		if (p->clone > 0)
			(void)kill(p->clone, SIGKILL);
		lproc_leave(m->live, p);
	} else if (m->failed == NULL) {
		m->failed = p;
		strlcpy(m->why, why, sizeof m->why);
	}
}

/*
 * Perform the given step for each clone that was begun, except those that have
 * failed.
 */
static void
clones_step(struct making *m, clonestep_fn step)
{
	struct cloning *c;

	for (c = m->v; c < m->v + m->n; c++) {
		errno = 0;
		if (c->failed || step(m->live, c) == 0)
			continue;
		c->failed = true;
		if (c->in != NULL)
			(void)inject_end(c->in, -1);
		c->in = NULL;
		clone_failed(m, c->proc);
	}
}

/*
 * Finish all clones that were begun.
 */
static void
clones_finish(struct making *m)
{
	const clonestep_fn *step;
	size_t i;

	for (step = clone_steps; *step != NULL; step++)
		clones_step(m, *step);
	for (i = 0; i < m->n && m->failed == NULL; i++)
		if (!m->v[i].failed && clone_keep(m, &m->v[i]) == -1)
			clone_failed(m, m->v[i].proc);
	m->n = 0;
}

/*
 * Begin to clone process p. If too many clones are under way, or if the process
 * of one shares memory with p, finish those first.
 */
static void
clone_next(struct making *m, struct lproc *p)
{
	int rc;

	if ((rc = clone_begin(m, p)) == 1) {
		clones_finish(m);
		rc = m->failed == NULL ? clone_begin(m, p) : 0;
	}
	if (rc == -1)
		clone_failed(m, p);
}

/*
 * Clone all processes of the set that can be cloned. Leave out those that can
 * be captured from the clone of another process.
 */
static void
clones_begin(struct making *m)
{
	struct lproc *p;
	size_t i;

	TAILQ_FOREACH(p, &m->live->procs, entry) {
		if (m->failed != NULL)
			break;
		if (lproc_istaken(p) && p->mmtid != 0 && (clone_ready(p) != 1 ||
		    !family_defers(&m->family, p)))
			clone_next(m, p);
	}
	clones_finish(m);
	if (m->failed == NULL)
		family_keep(m->live, m->snap, &m->family);
	for (i = 0; m->failed == NULL && (p = family_next(&m->family,
	    &i)) != NULL;)
		clone_next(m, p);
	clones_finish(m);
}

/*
 * Clone the processes of set l that we have stopped and whose threads were
 * recorded. Return true if the processes can be released. Otherwise leave no
 * clones, tell the user the reason, and return false.
 */
bool
clones_make(struct live *l, struct snap *s)
{
	struct making m = { .live = l, .snap = s };
	sigset_t all, old;

	(void)step_begin(&l->steps, STEP_CLONE);
	l->monitor = has_monitor(l);
	/* inject_end() restores what inject_begin() has saved */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	clones_begin(&m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	family_free(&m.family);
	if (m.failed == NULL)
		return true;
	clones_kill(l);
	(void)step_begin(&l->steps, STEP_MEMORY);
	live_say(l, "process %d cannot be cloned: %s: all processes stay "
	    "stopped until everything is written", m.failed->pid, m.why);
	gaps_drop(l);
	return false;
}
