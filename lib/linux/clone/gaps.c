/*
 * Memory of a process that its clone lacks. It is copied, or noted, while the
 * process is stopped:
 *
 *	MADV_DONTFORK		mapped in the process only: its pages are copied
 *	MADV_WIPEONFORK		no pages in the clone: its pages are copied
 *	shared memory		no pages in the clone: its file is copied
 *				(file/shared.c), or its pages are
 *	private huge pages	copied, since the clone loses its own if none
 *				are left for the process to write to
 *	rings of io_setup(2)	copied whole, since the kernel writes to pages
 *				that are not in the page table of the process.
 *				They are read through the clone, which has the
 *				mapping but no pages: the process gains none
 *	unmodified file pages	no pages in the clone: if the file cannot be
 *				read, they are noted, and read through the clone
 *				later
 *
 * Flags of mappings are not used for this, as they may have changed since they
 * were read: the page maps of process and clone are compared.
 */
#include "bisect.h"
#include "cloning.h"
#include "io/io.h"
#include "linux/file/file.h"
#include "linux/inject/inject.h"
#include "linux/pages/pages.h"
#include "sameframes.h"
#include "state/state.h"
#include "vec.h"
#include "worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct keeping {
	struct live	*live;	/* borrowed, as all pointers here not marked
				   owned */
	struct snap	*snap;
	struct lproc	*proc;
	const struct vmas *vma;	/* mappings of the process */
	bool		*has;	/* owned; for each mapping: true if the process
				   has pages in it */
	bool		*cloned; /* owned; for each mapping: true if the clone
				    has pages in it */
	struct lacking	 of;	/* the clone, and how it may differ from the
				   process */
	const struct likeness *split; /* if not NULL: only pages that it lists
					 are copied */
	struct vmas	 clone;	/* owned; mappings of the clone, unless it has
				   all those of the process */
	struct source	*spool;	/* temporary file with the copied pages; NULL:
				   not needed so far */
	int		 pagemap; /* owned, like "clonemap" */
	int		 clonemap;	/* pagemap of the clone */
	bool		 copy;	/* true if the pages of the current mapping
				   are copied */
	struct copyrun	*run;	/* owned; runs of pages to be copied to the
				   spool */
	size_t		 nrun;
	bool		 huge;	/* one of these runs has huge pages */
	struct copyrun	*ring;	/* owned; runs of pages in io_setup(2) rings, to
				   be copied from the clone */
	size_t		 nring;
	bool		 failed; /* the pagemap of the process could not be
				    read; the reason is in "why" */
	char		 why[256];
};

/*
 * Schedule a copy of the pages from start to end (exclusive) into the spool.
 * Set *loc to their offset in the spool.
 */
static int
keep_copy(struct keeping *k, uint64_t start, uint64_t end, uint64_t *loc)
{
	struct copyrun *last;

	if (k->spool == NULL && (k->spool = source_spool(k->snap)) == NULL)
		return -1;
	*loc = spool_room(k->spool, end - start);
	last = k->nrun == 0 ? NULL : &k->run[k->nrun - 1];
	if (last != NULL && last->from + last->len == start) {
		last->len += end - start;
		return 0;
	}
	return VEC_ADD(k->run, k->nrun, (struct copyrun){ start, *loc,
	    end - start });
}

/*
 * Make all scheduled copies while the process is still stopped.
 */
static int
keep_copies(struct keeping *k)
{
	struct copyjob j = { .pid = k->proc->mmtid, .pagemap = k->pagemap,
	    .run = k->run, .n = k->nrun };
	struct copyjob rings = { .run = k->ring, .n = k->nring };
	enum step before;
	int rc;

	if (k->spool == NULL)
		return 0;
	before = step_begin(&k->live->steps, STEP_SHARED);
	j.in = proc_open(j.pid, 0, "mem", O_RDONLY);
	rings.in = proc_open(k->of.clone, 0, "mem", O_RDONLY);
	j.out = rings.out = source_fd(k->spool);
	if (pagemap_guards(j.pagemap) && !k->huge)
		j.alone = pages_readalone;
	rc = prepared_copy(k->live, &j) == -1 ||
	    prepared_copy(k->live, &rings) == -1 ?
	    errstr_wrap("its memory") : spool_finish(k->spool);
	fd_drop(j.in);
	fd_drop(rings.in);
	(void)step_begin(&k->live->steps, before);
	return rc;
}

static int
keep_run(void *arg, const struct pagerun *r)
{
	struct keeping *k = arg;
	struct gap new = { .end = r->start, .what = r->what };
	bool copy = k->copy;

	while (new.end < r->end) {
		new.start = new.end;
		new.end = r->end;
		new.src = NULL;
		if (k->split != NULL)
			new.end = alike_until(k->split, new.start, r->end,
			    &copy);
		if (copy && !(r->what & (PM_ZERO | PM_GUARD))) {
			if (keep_copy(k, new.start, new.end, &new.loc) == -1)
				return -1;
			new.src = k->spool;
			k->huge |= (r->what & PM_HUGE) != 0;
		}
		if (VEC_ADD(k->proc->gap, k->proc->ngaps, new) == -1)
			return -1;
	}
	return 0;
}

/*
 * Return true if the clone also has mapping v.
 */
static bool
is_cloned(const struct keeping *k, const struct vma *v)
{
	return k->of.whole || vmas_find(&k->clone, v->start) != NULL;
}

/*
 * Record the present pages of mapping v as gaps: pages that the clone lacks. If
 * copy is true, schedule copies of the pages.
 */
static int
keep_pages(struct keeping *k, const struct vma *v, bool copy)
{
	if (!k->has[v - k->vma->v])
		return 0;
	k->copy = copy;
	return pagemap_walk(k->pagemap, v->start, v->end, PM_HUGE |
	    (v->ino == 0 && v->dev == 0 ? 0 : PM_FILE), keep_run, k);
}

/*
 * Schedule copies of all present pages of mapping v. If v has none but the
 * clone is that of another process, the clone may have pages there. In that
 * case add a gap with GAP_NOTHING, to say that the process has no page in v.
 */
static int
keep_whole(struct keeping *k, const struct vma *v)
{
	const struct gap none = { v->start, v->end, GAP_NOTHING, NULL, 0 };
	const size_t n = k->proc->ngaps;
	int rc;

	rc = keep_pages(k, v, true);
	return rc == 0 && k->of.alike != NULL && k->proc->ngaps == n ?
	    VEC_ADD(k->proc->gap, k->proc->ngaps, none) : rc;
}

/*
 * Add gaps for private mapping v where the clone lacks pages of the process.
 * The clone was made by another process. how is the treatment of the file of v,
 * or TAKE_MEMORY if v has no file.
 */
static int
keep_alike(struct keeping *k, const struct vma *v, enum treatment how)
{
	const enum alikeness is = k->of.alike->how[v - k->vma->v];
	int rc;

	if (is == ALIKE_ALL || (is == ALIKE_FILE && how != TAKE_PRESENT))
		return 0;
	k->split = k->of.alike;
	rc = keep_whole(k, v);
	k->split = NULL;
	return rc;
}

/*
 * Return the place that is set if nothing of the file of private mapping v must
 * be copied, because it can be read later, by name or from the kernel. A
 * thousand processes of one program have the same files mapped, so this is
 * remembered for all with the same root directory. Return NULL if that is not
 * known, or if memory runs out.
 */
static void **
skip_place(const struct keeping *k, const struct vma *v)
{
	const struct rootid *root = &k->proc->root;

	return root->ino == 0 ? NULL : live_cell(k->live, "skip %jx %jx %jx "
	    "%jx %jx %s", (uintmax_t)v->dev, (uintmax_t)v->ino,
	    (uintmax_t)root->dev, (uintmax_t)root->mount, (uintmax_t)root->ino,
	    v->name);
}

/*
 * Decide how to capture the file of mapping v, and return the decision. Copy
 * the file now if it is in memory and may be changed later. Remember a private
 * file that needs no copy.
 */
static enum treatment
keep_file(struct keeping *k, const struct vma *v)
{
	const bool shared = (v->flags & VMA_SHARED) != 0;
	void **skip = shared ? NULL : skip_place(k, v);
	enum treatment how;
	struct targetfile f;
	enum step before;
	bool may;

	if (skip != NULL && *skip != NULL)
		return LEAVE_FILE;
	how = treatment_choose(k->live, k->proc, v, &f);
	if (f.fd != -1 && f.unread == 0 && !file_isunlinked(v, &f.st) &&
	    how != TAKE_MEMORY && how != TAKE_PRESENT)
		(void)cell_once(skip);
	may = shared ? how == TAKE_DATA ||
	    (how == TAKE_FILE && v->flags & VMA_WRITE) :
	    how == TAKE_DATA && f.st.st_nlink == 0;
	before = step_begin(&k->live->steps, STEP_SHARED);
	if (may && shmcopy_make(k->live, k->proc, f.fd, &f.st) == -1)
		how = TAKE_FAILED;
	(void)step_begin(&k->live->steps, before);
	file_close(&f);
	return how;
}

/*
 * Schedule a copy of the whole mapping v from the clone. The mapping must be a
 * ring of io_setup(2) that the clone has too.
 */
static int
keep_ring(struct keeping *k, const struct vma *v)
{
	struct gap new = { v->start, v->end, 0, NULL, 0 };
	const uint64_t len = v->end - v->start;

	if (k->spool == NULL && (k->spool = source_spool(k->snap)) == NULL)
		return -1;
	new.src = k->spool;
	new.loc = spool_room(k->spool, len);
	return VEC_ADD(k->ring, k->nring, (struct copyrun){ v->start, new.loc,
	    len }) == -1 ? -1 : VEC_ADD(k->proc->gap, k->proc->ngaps, new);
}

/*
 * Copy v, a private mapping of huge pages, and unmap it in the clone. While
 * the clone has the pages and none are free, a write kills the process by
 * SIGBUS, unless it made the mapping itself (hugetlb_wp in mm/hugetlb.c).
 */
static int
keep_huge(struct keeping *k, const struct vma *v)
{
	if (k->of.alike == NULL && is_cloned(k, v) && inject_munmap(
	    k->proc->calls, v->start, v->end - v->start) == -1)
		return -1;
	return keep_whole(k, v);
}

/*
 * Copy the pages of mapping v that the clone lacks, or add gaps for them. The
 * first of these rules that fits v applies:
 *
 *	early copy, not private anonymous memory: do nothing;
 *	kernel, device or secret memory: do nothing;
 *	ring of io_setup(2): copy all of it from the clone;
 *	file on a file server: add gaps, copy nothing;
 *	shared, with a file that will be read: do nothing;
 *	shared, other: copy the present pages;
 *	not in the clone, or huge pages: copy the present pages;
 *	clone of another process: copy pages that differ;
 *	file that will be read, or clone has pages: do nothing;
 *	other file: add gaps, copy nothing;
 *	anonymous: copy the present pages.
 */
static int
keep_mapping(struct keeping *k, const struct vma *v)
{
	enum treatment how;
	bool anon;

	if (k->live->opts.early != 0 && !vma_isprivate(v))
		return 0;
	if (strncmp(v->name, "[v", 2) == 0 || v->flags & VMA_DEVICE ||
	    strcmp(v->name, "/secretmem (deleted)") == 0)
		return 0;
	if (vma_isring(v) && is_cloned(k, v))
		return keep_ring(k, v);
	anon = v->ino == 0 && v->dev == 0;
	/* nothing may make us wait for the server now */
	if (!anon && !localfs_hasdevice(k->proc->pid, v->dev))
		return !is_cloned(k, v) || k->cloned[v - k->vma->v] ? 0 :
		    keep_pages(k, v, false);
	how = anon ? TAKE_MEMORY : keep_file(k, v);
	if (how == TAKE_FAILED)
		return -1;
	if (v->flags & VMA_SHARED)
		return how == TAKE_PRESENT || how == TAKE_MEMORY ?
		    keep_whole(k, v) : 0;
	/* anonymous memory that has a file is huge pages */
	if (!anon && how == TAKE_MEMORY)
		return keep_huge(k, v);
	if (!is_cloned(k, v))
		return keep_whole(k, v);
	if (k->of.alike != NULL)
		return keep_alike(k, v, how);
	if ((!anon && how != TAKE_PRESENT) || k->cloned[v - k->vma->v])
		return 0;
	return keep_pages(k, v, anon);
}

static void *
keep_look(void *arg)
{
	struct keeping *k = arg;

	if (pagemap_touched(k->proc->mmtid, k->pagemap, k->vma,
	    k->has) == -1) {
		strlcpy(k->why, snap_errstr(), sizeof k->why);
		k->failed = true;
	}
	return NULL;
}

/*
 * Determine which mappings have pages in the process, and which have pages in
 * the clone. Use two threads if there are many mappings.
 */
static int
keep_compare(struct keeping *k)
{
	enum { MANY = 2000 };
	pthread_t thread;
	bool threaded;
	int rc;

	k->has = mem_new(k->vma->n, sizeof *k->has);
	k->cloned = mem_new(k->vma->n, sizeof *k->cloned);
	if (k->has == NULL || k->cloned == NULL)
		return -1;
	threaded = k->vma->n >= MANY &&
	    worker_start(&thread, keep_look, k) == 0;
	if (!threaded)
		(void)keep_look(k);
	rc = pagemap_touched(k->of.clone, k->clonemap, k->vma, k->cloned);
	if (threaded)
		pthread_join(thread, NULL);
	return k->failed ? errstr_set("%s", k->why) : rc;
}

/*
 * Add gaps to process p for the pages that its clone, lack->clone, does not
 * have. The process must be stopped. vma has the mappings of p. Copy the pages
 * that must be copied, and add the sources of the copies to snapshot s. Return
 * 0, or -1 with errstr set.
 */
int
gaps_keep(struct live *l, struct snap *s, struct lproc *p,
    const struct vmas *vma, const struct lacking *lack)
{
	struct keeping k = { .live = l, .snap = s, .proc = p, .vma = vma,
	    .of = *lack };
	size_t i;
	int rc;

	k.pagemap = proc_open(p->mmtid, 0, "pagemap", O_RDONLY);
	k.clonemap = proc_open(lack->clone, 0, "pagemap", O_RDONLY);
	if (k.pagemap == -1 || k.clonemap == -1)
		rc = errstr_sys("its clone");
	else
		rc = lack->whole ? 0 : maps_read(lack->clone, &k.clone);
	if (rc == 0)
		rc = keep_compare(&k);
	if (rc == 0 && lack->alike == NULL)
		rc = ptraceonly_show(p->calls, vma, k.cloned);
	for (i = 0; i < vma->n && rc == 0; i++)
		if ((rc = keep_mapping(&k, &vma->v[i])) == -1)
			errstr_wrap("%jx-%jx %s", (uintmax_t)vma->v[i].start,
			    (uintmax_t)vma->v[i].end, vma->v[i].name);
	if (rc == 0)
		rc = keep_copies(&k);
	fd_drop(k.pagemap);
	fd_drop(k.clonemap);
	vmas_free(&k.clone);
	free(k.has);
	free(k.cloned);
	free(k.run);
	free(k.ring);
	return rc;
}

/*
 * Drop the gaps (runs of pages that a clone lacks) of all processes of set l.
 * The processes stay stopped, and are read in place of their clones.
 */
void
gaps_drop(struct live *l)
{
	struct lproc *p;
	size_t i;

	TAILQ_FOREACH(p, &l->procs, entry) {
		/* all copies of a process are in one spool */
		for (i = 0; i < p->ngaps && p->gap[i].src == NULL; i++)
			continue;
		if (i < p->ngaps)
			prepared_drop(l, source_fd(p->gap[i].src));
		p->ngaps = 0;
	}
}

/*
 * Return the first gap of process p between start and end (exclusive): a run of
 * pages that its clone lacks. Later gaps follow it in the array p->gap, which
 * has p->ngaps elements. Return NULL if there is none.
 */
const struct gap *
gap_find(const struct lproc *p, uint64_t start, uint64_t end)
{
	size_t i;

	i = BISECT(p->gap, p->ngaps, end, start);
	return i < p->ngaps && p->gap[i].start < end ? &p->gap[i] : NULL;
}
