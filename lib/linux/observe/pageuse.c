/*
 * Compute how much memory each mapping of a process uses, from its page tables:
 * the numbers of smaps (Linux, fs/proc/task_mmu.c), but faster, because smaps
 * examines every page. The kernel is asked only about shared pages how often
 * they are mapped.
 */
#include "linux/pages/pages.h"
#include "linux/proc/proc.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	SWAP_TYPES = 23,	/* number of entry types that stand for swap
				   areas in every kernel; see linux/swap.h */
	SWAP_BITS = 5 /* number of low bits of a pagemap entry that hold the
			 type of a swap entry */
};

struct usage {
	int		 fd;	/* pagemap of the process */
	uint64_t	 kb;	/* page size in KB */
	uint64_t	 pss;	/* PSS of a page that is mapped once */
	struct pageuse	*use;	/* borrowed; one element per mapping */
	const struct space *sp;
	struct frames	*counts; /* borrowed; map counts by page frame; NULL:
				    not readable */
	const struct frames *flags; /* borrowed; flags by page frame; NULL:
				       not readable */
	uint64_t	*vague;	/* owned; for each mapping: KB of pages that are
				   either shared or the zero page */
	struct smapsizes sizes;	/* counts from smaps; unused if "scans" is
				   set */
	bool		 scans;	/* pagemap shows zero and huge pages; valid if
				   "asked" is set */
	bool		 asked;
	bool		 hidden; /* some page frames cannot be read */
};

/*
 * Add one page, which other processes may also map, to the counts p. frame is
 * the number of its page frame.
 */
static int
use_counted(struct usage *u, struct pageuse *p, uint64_t frame)
{
	uint64_t n;

	if (frames_get(u->counts, frame, &n) == -1)
		return -1;
	if (n == 0)		/* the page is the zero page or device memory */
		return 0;
	p->pss += u->pss / n;
	if (n == 1)
		p->uss += u->kb;
	else
		p->shared += u->kb;
	return 0;
}

static bool
is_shared(uint64_t e)
{
	return (e & (PME_PRESENT | PME_EXCLUSIVE)) == PME_PRESENT;
}

static int
use_shared(struct usage *u, const struct entries *es)
{
	uint64_t e;
	size_t i;

	for (i = 0; i < es->n; i++) {
		e = es->v[i];
		if (!is_shared(e))
			continue;
		if (u->counts == NULL || (e & PME_FRAME) == 0)
			u->vague[es->vma] += u->kb;
		else if (frames_want(u->counts, e & PME_FRAME) == -1)
			return -1;
	}
	if (u->counts == NULL)
		return 0;
	for (i = 0; i < es->n; i++) {
		e = es->v[i];
		if (is_shared(e) && (e & PME_FRAME) != 0 &&
		    use_counted(u, &u->use[es->vma], e & PME_FRAME) == -1)
			return -1;
	}
	return 0;
}

static int
use_entries(void *arg, const struct entries *es)
{
	const uint64_t own = PME_PRESENT | PME_EXCLUSIVE;
	struct usage *u = arg;
	struct pageuse *p = &u->use[es->vma];
	bool others, reserved;
	uint64_t e;
	size_t i, n;

	reserved = u->sp->m[es->vma].flags & VMF_HUGETLB;
	for (i = n = 0, others = false; i < es->n; i++) {
		e = es->v[i];
		if (reserved)
			p->huge += e & PME_PRESENT ? es->each * u->kb : 0;
		else if ((e & own) == own)
			n += es->each;
		else if (e & PME_PRESENT)
			others = true;
		else if (e & PME_GUARD)
			p->guard += u->kb;
		else if (e & PME_SWAPPED &&
		    (e & (((uint64_t)1 << SWAP_BITS) - 1)) < SWAP_TYPES)
			p->swap += u->kb;
	}
	p->uss += n * u->kb;
	p->pss += n * u->pss;
	return others ? use_shared(u, es) : 0;
}

struct scanned {
	struct pageuse	*use;	/* borrowed */
	uint64_t	 there;	/* KB of present pages, without the zero page */
	bool		 any;	/* at least one run of pages was reported */
};

static int
scan_run(void *arg, const struct pagerun *r)
{
	struct scanned *s = arg;
	uint64_t kb = (r->end - r->start) / KB;

	s->any = true;
	if (!(r->what & PM_PRESENT))
		return 0;
	if (r->what & PM_ZERO)
		s->use->zero += kb;
	else {
		s->there += kb;
		s->use->thp += r->what & PM_HUGE ? kb : 0;
	}
	return 0;
}

/*
 * Correct the counts of mapping i with those of smaps. This is needed if
 * pagemap does not show zero pages and huge pages. Do nothing if the mapping
 * has changed.
 */
static void
use_smaps(const struct usage *u, size_t i, struct scanned *s)
{
	const struct smapsize *t;

	t = smapsizes_find(&u->sizes, &u->sp->vma.v[i]);
	if (t == NULL)
		return;
	if (s->there > t->rss) {
		s->use->zero += t->device ? 0 : s->there - t->rss;
		s->there = t->rss;
	}
	s->use->thp = t->huge;
}

/*
 * Count the zero pages and huge pages of mapping i, which pagemap entries do
 * not show. If page frames are hidden, also compute how much of the mapping is
 * shared.
 */
static int
use_scan(struct usage *u, size_t i)
{
	const struct vma *v = &u->sp->vma.v[i];
	struct scanned s = { .use = &u->use[i] };

	if (u->sp->m[i].flags & VMF_HUGETLB || v->start > INT64_MAX)
		return 0;
	if (!u->asked) {
		/* if pagemap does not show these pages, smaps does */
		u->asked = true;
		u->scans = pagemap_scans(u->fd);
		if (!u->scans &&
		    smapsizes_read(&u->sizes, (pid_t)u->sp->tid) == -1)
			return -1;
	}
	if (pagemap_walk(u->fd, v->start, v->end, PM_HUGE, scan_run, &s) == -1)
		return -1;
	if (!u->scans)
		use_smaps(u, i, &s);
	if (u->vague[i] > 0 && s.there > u->use[i].uss)
		u->use[i].shared += s.there - u->use[i].uss;
	return 0;
}

static int
use_all(struct usage *u, bool detail)
{
	size_t i;

	if (pagemap_entries(u->fd, &u->sp->vma, u->flags, use_entries, u) == -1)
		return -1;
	for (i = 0; i < u->sp->vma.n; i++) {
		u->hidden = u->hidden || u->vague[i] > 0;
		if ((detail || u->vague[i] > 0) && use_scan(u, i) == -1)
			return -1;
		u->use[i].rss = u->use[i].uss + u->use[i].shared;
	}
	return 0;
}

/*
 * Find out how much memory each mapping of the live process sp uses, and add
 * this to the array use, which has one element per mapping. counts has
 * kpagecount, and flags has kpageflags; each may be NULL. Set *hidden to true
 * if pss is unknown because the counts of some pages cannot be read. Without
 * flags, uss of huge pages may be wrong. If detail is set, also count zero
 * pages and huge pages, which takes a second walk. Return 0, or -1 with errstr
 * set.
 */
int
pageuse_live(struct pageuse *use, const struct space *sp,
    struct frames *counts, const struct frames *flags, bool detail,
    bool *hidden)
{
	const uint64_t kb = (uint64_t)sysconf(_SC_PAGESIZE) / KB;
	struct usage u = { .use = use, .sp = sp, .counts = counts,
	    .flags = flags, .kb = kb, .pss = kb * PSS_KB };
	int rc;

	if ((u.vague = calloc(sp->vma.n + 1, sizeof *u.vague)) == NULL)
		return errstr_set("out of memory");
	u.fd = space_pagemap(sp);
	rc = u.fd == -1 ? -1 : use_all(&u, detail);
	fd_drop(u.fd);
	free(u.vague);
	smapsizes_free(&u.sizes);
	*hidden = u.hidden;
	return rc == -1 ? errstr_wrap("%ld", (long)sp->pid) : 0;
}

/*
 * Clear the kernel's record of which pages process pid has touched. From then
 * on, the touched member of struct mapping counts only pages that were touched
 * after this call (proc_pid_clear_refs(5)). The process does not notice, but
 * the kernel knows less about which pages to reclaim first. Return 0, or -1
 * with errstr set.
 */
int
touched_forget(pid_t pid)
{
	int fd, rc;

	/* a thread that has exited has no memory, and nothing is cleared */
	fd = proc_open(pid, proc_living(pid), "clear_refs", O_WRONLY);
	if (fd == -1)
		return errno == ENOENT && proc_ended(pid) ?
		    errstr_set("%d: No such process", pid) :
		    errno == ENOENT ?
		    errstr_set("%d: cannot find touched pages: this kernel has "
		    "no clear_refs", pid) :
		    errno == EACCES ? proc_refused(pid) :
		    errstr_sys("%d: cannot open clear_refs", pid);
	rc = write(fd, "1", 1) == -1 ? errstr_sys("%d: cannot write "
	    "to clear_refs", pid) : 0;
	close(fd);
	return rc;
}
