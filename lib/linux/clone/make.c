/*
 * The making of clones (clone.c).
 *
 * Most of the time that fork(2) takes is the kernel's, in the process that is
 * cloned, and each step takes a moment until the process has made it; so many
 * are cloned at once, step by step: none is waited for but by the others' step.
 * What clones lack is kept when none of those has anything of ours in its
 * memory any more: another may share a part of it.
 */
#include "cloning.h"
#include "linux/inject/inject.h"
#include "state/state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 32 };		/* processes that are cloned at once */

struct making {
	struct live	*live;	/* borrowed, as these */
	struct snap	*snap;
	struct cloning	 v[MOST]; /* those of now */
	size_t		 n;
	struct family	*family; /* owned */
	struct lproc	*failed; /* the first that could not, or NULL */
	char		 why[256];
};

/*
 * Return true if process p has memory that is taken.
 */
static bool
clone_isneeded(const struct lproc *p)
{
	return lproc_istaken(p) && p->mmtid != 0;
}

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
	return ours && lproc_leader(p) != NULL;
}

/*
 * Return true if a process of set l has a descriptor of userfaultfd(2) open, as
 * the monitor of some memory has.
 */
static bool
has_monitor(const struct live *l)
{
	const struct lproc *p;
	size_t i;

	TAILQ_FOREACH(p, &l->procs, entry)
		for (i = 0; i < p->task.nopen; i++)
			if (strcmp(p->task.open[i].path,
			    "anon_inode:[userfaultfd]") == 0)
				return true;
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
		if (m.told.flags & VMF_UFFD)
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
 * Return true if one of those that clone themselves now has the memory of
 * process p, or may have it: what is put on the stack of p would be in a clone
 * of that.
 */
static bool
clone_shares(const struct making *m, const struct lproc *p)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (lproc_shares(m->v[i].proc, p))
			return true;
	return false;
}

/*
 * Begin to clone process p, if it is one that we have stopped.  Return 0; 1 if
 * that is to be done when those are done that have begun; -1 with errstr, and
 * errno is ESRCH then if p has died.
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
	if (m->n == MOST || clone_shares(m, p))
		return 1;
	vma = &p->task.vma;
	if (clone_harmless(l, p, vma) == -1)
		return -1;
	if (headroom_claim(l, p, vma->n) == -1)
		return -1;
	if ((in = inject_begin(p, false, vma)) == NULL)
		return -1;
	if (guard_send(l->guard, p->pid, 0) == -1 || inject_cloning(in) == -1)
		return inject_end(in, -1);
	m->v[m->n++] = (struct cloning){ .proc = p, .in = in };
	return 0;
}

/*
 * Keep what the clone of c lacks.  Return 0, or -1 with errstr.
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
 * Process p could not be cloned, as errstr and errno tell: if it has died, it
 * is left out.
 */
static void
clone_failed(struct making *m, struct lproc *p)
{
	char why[sizeof m->why];
	bool died;

	strlcpy(why, snap_errstr(), sizeof why);
	died = errno == ESRCH || proc_died(p->pid, p->mmtid);
	if (died)
		lproc_leave(m->live, p);
	else if (m->failed == NULL) {
		m->failed = p;
		strlcpy(m->why, why, sizeof m->why);
	}
}

/*
 * Have all clones that were begun make a step: those that did not fail so far.
 */
static void
clones_step(struct making *m, enum clonestep step)
{
	struct cloning *c;

	for (c = m->v; c < m->v + m->n; c++) {
		if (c->failed || clone_step(m->live, c, step) == 0)
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
	enum clonestep step;
	size_t i;

	for (step = 0; step < CLONE_STEPS; step++)
		clones_step(m, step);
	for (i = 0; i < m->n && m->failed == NULL; i++)
		if (!m->v[i].failed && clone_keep(m, &m->v[i]) == -1)
			clone_failed(m, m->v[i].proc);
	m->n = 0;
}

/*
 * Begin to clone process p, when there is room for one more.
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
 * Clone all processes of set l that can be, as clones_make.  Those that another
 * clone will do for are left.
 */
static void
clones_begin(struct making *m)
{
	struct lproc *p;
	size_t i;

	TAILQ_FOREACH(p, &m->live->procs, entry) {
		if (m->failed != NULL)
			break;
		if (!clone_isneeded(p) || (clone_ready(p) == 1 &&
		    family_defers(m->family, p)))
			continue;
		clone_next(m, p);
	}
	clones_finish(m);
	if (m->failed == NULL)
		family_keep(m->live, m->snap, m->family);
	for (i = 0; m->failed == NULL && (p = family_next(m->family,
	    &i)) != NULL;)
		clone_next(m, p);
	clones_finish(m);
}

/*
 * Clone all processes of set l that are stopped by us, whose threads were
 * gathered.  Return true if they can go on; else there are no clones, and the
 * user is told why.
 */
bool
clones_make(struct live *l, struct snap *s)
{
	struct making m = { .live = l, .snap = s };
	sigset_t all, old;

	(void)step_begin(&l->steps, STEP_CLONE);
	l->monitor = has_monitor(l);
	/* inject_end puts back what inject_begin has found */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((m.family = family_new()) != NULL)
		clones_begin(&m);
	else {
		m.failed = TAILQ_FIRST(&l->procs);
		strlcpy(m.why, snap_errstr(), sizeof m.why);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	family_free(m.family);
	if (m.failed == NULL)
		return true;
	clones_kill(l);
	(void)step_begin(&l->steps, STEP_MEMORY);
	live_say(l, "process %d cannot be cloned: %s: all stay stopped while "
	    "they are written", m.failed->pid, m.why);
	gaps_drop(l);
	return false;
}
