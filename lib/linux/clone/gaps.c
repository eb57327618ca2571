/*
 * What the clone of a process lacks of its memory: it is kept while the
 * process is stopped.
 *
 *	MADV_DONTFORK		mapped in the process only: its pages are
 *				copied
 *	MADV_WIPEONFORK		the clone has no page of it: likewise
 *	shared memory		never has a clone pages of it: its file is
 *				frozen, or its pages are copied
 *	private huge pages	are copied: the clone loses its own when none
 *				are left for the process to write to
 *	rings of io_setup(2)	are copied whole: the kernel writes to pages
 *				that the process has not in its page table.
 *				The clone has the mapping, and no page of
 *				it; they are read from there, so that the
 *				process gets none by that
 *	unmodified pages of	nor of these: if the file cannot be had, it is
 *	files			noted which they are; they can be read from
 *				the clone all the same
 *
 * None of this asks for flags, which could have changed since they were
 * read: the page maps of the two are compared.
 */
#include "bisect.h"
#include "cloning.h"
#include "io/io.h"
#include "linux/file/file.h"
#include "linux/pages/pages.h"
#include "sameframes.h"
#include "state/state.h"
#include "vec.h"
#include "worker.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct keeping {
	struct live	*live;	/* borrowed, as all here but where marked */
	struct snap	*snap;
	struct lproc	*proc;
	const struct vmas *vma;	/* what is mapped in the process */
	bool		*has;	/* owned; which of these have pages */
	bool		*cloned; /* owned; and have in the clone */
	struct lacking	 of;	/* what is known of the clone */
	const struct likeness *split; /* where copies are made of parts alone */
	struct vmas	 clone;	/* owned; else those that it has */
	struct source	*spool;	/* NULL: not needed so far */
	int		 mem;	/* owned, as these; of the process */
	int		 pagemap;
	int		 clonemap;	/* pagemap of the clone */
	bool		 copy;	/* what is there now may be gone later */
	struct copyrun	*run;	/* owned; what is to be copied to the spool */
	size_t		 nrun;
	int		 clonemem; /* owned; of the clone, and */
	struct copyrun	*ring;	/* owned; what is to be copied of that */
	size_t		 nring;
	bool		 failed; /* to look at the process */
	char		 why[256];
};

static int
gap_add(struct lproc *p, const struct gap *k)
{
	if (VEC_ROOM(p->gap, p->ngaps) == -1)
		return -1;
	p->gap[p->ngaps++] = *k;
	return 0;
}

/*
 * Have the pages of start..end (exclusive) copied into the spool, and set *loc
 * to where they will be in it.
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
	if (VEC_ROOM(k->run, k->nrun) == -1)
		return -1;
	k->run[k->nrun++] = (struct copyrun){ start, *loc, end - start };
	return 0;
}

/*
 * Copy all that is to be copied: the process still is stopped.
 */
static int
keep_copies(struct keeping *k)
{
	struct copyjob j = { .in = k->mem, .run = k->run, .n = k->nrun };
	struct copyjob rings = { .in = k->clonemem, .run = k->ring,
	    .n = k->nring };
	enum step before;
	int rc;

	if (k->spool == NULL)
		return 0;
	before = step_begin(&k->live->steps, STEP_SHARED);
	j.out = rings.out = source_fd(k->spool);
	rc = prepared_copy(k->live, &j) == -1 ||
	    prepared_copy(k->live, &rings) == -1 ?
	    errstr_wrap("its memory") : spool_finish(k->spool);
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
		}
		if (gap_add(k->proc, &new) == -1)
			return -1;
	}
	return 0;
}

/*
 * Return true if mapping v is mapped in the clone, too.
 */
static bool
is_cloned(const struct keeping *k, const struct vma *v)
{
	return k->of.whole || vmas_find(&k->clone, v->start) != NULL;
}

/*
 * Keep the pages of mapping v that are there: which they are, and with copy
 * what is in them.
 */
static int
keep_pages(struct keeping *k, const struct vma *v, bool copy)
{
	if (!k->has[v - k->vma->v])
		return 0;
	k->copy = copy;
	return pagemap_walk(k->pagemap, v->start, v->end,
	    v->ino == 0 && v->dev == 0 ? 0 : PM_FILE, keep_run, k);
}

/*
 * Keep all pages of mapping v that are there.  Where there are none, the clone
 * of another process may have some.
 */
static int
keep_whole(struct keeping *k, const struct vma *v)
{
	const struct gap none = { v->start, v->end, GAP_NOTHING, NULL, 0 };
	const size_t n = k->proc->ngaps;
	int rc;

	rc = keep_pages(k, v, true);
	return rc == 0 && k->of.alike != NULL && k->proc->ngaps == n ?
	    gap_add(k->proc, &none) : rc;
}

/*
 * Keep what the clone of another process lacks of the private memory v, whose
 * file is taken so.
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
 * Return how the file of mapping v will be taken; freeze it if others may
 * write to it.
 */
static enum treatment
keep_file(struct keeping *k, const struct vma *v)
{
	const bool shared = (v->flags & VMA_SHARED) != 0;
	enum treatment how;
	struct targetfile f;
	enum step before;
	bool may;

	if (!shared && skippable_has(k->live, k->proc, v))
		return LEAVE_FILE;
	how = treatment_choose(k->live, k->proc, v, &f);
	if (!shared && f.fd != -1 && f.unread == 0 && !file_isonly(v, &f.st) &&
	    how != TAKE_MEMORY && how != TAKE_PRESENT)
		skippable_add(k->live, k->proc, v);
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
 * Keep which pages are there of mapping v, whose file others serve.  Nothing
 * of it is opened or read before the process runs again.
 */
static int
keep_far(struct keeping *k, const struct vma *v)
{
	if (!is_cloned(k, v) || k->cloned[v - k->vma->v])
		return 0;
	return keep_pages(k, v, false);
}

/*
 * Keep all of a ring, which is mapped in the clone.
 */
static int
keep_ring(struct keeping *k, const struct vma *v)
{
	struct gap new = { v->start, v->end, 0, NULL, 0 };
	const uint64_t len = v->end - v->start;

	if (k->spool == NULL && (k->spool = source_spool(k->snap)) == NULL)
		return -1;
	if (VEC_ROOM(k->ring, k->nring) == -1)
		return -1;
	new.src = k->spool;
	new.loc = spool_room(k->spool, len);
	k->ring[k->nring++] = (struct copyrun){ v->start, new.loc, len };
	return gap_add(k->proc, &new);
}

static int
keep_mapping(struct keeping *k, const struct vma *v)
{
	enum treatment how;
	bool anon;

	if (strncmp(v->name, "[v", 2) == 0 || v->flags & VMA_DEVICE ||
	    strcmp(v->name, "/secretmem (deleted)") == 0)
		return 0;
	if (vma_isring(v) && is_cloned(k, v))
		return keep_ring(k, v);
	anon = v->ino == 0 && v->dev == 0;
	if (!anon && !served_not(k->proc->pid, v->dev))
		return keep_far(k, v);
	how = anon ? TAKE_MEMORY : keep_file(k, v);
	if (how == TAKE_FAILED)
		return -1;
	if (v->flags & VMA_SHARED)
		return how == TAKE_PRESENT || how == TAKE_MEMORY ?
		    keep_whole(k, v) : 0;
	/* what is anonymous and yet has a file are huge pages */
	if (!is_cloned(k, v) || (!anon && how == TAKE_MEMORY))
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
 * Look which mappings have pages, in the process and in the clone at once if
 * they are many.  Return 0, or -1 with errstr.
 */
static int
keep_compare(struct keeping *k)
{
	enum { MANY = 2000 };
	pthread_t thread;
	bool threaded;
	int rc;

	k->has = calloc(k->vma->n + 1, sizeof *k->has);
	k->cloned = calloc(k->vma->n + 1, sizeof *k->cloned);
	if (k->has == NULL || k->cloned == NULL)
		return errstr_set("out of memory");
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
 * Read what is mapped in the clone, unless that is all.
 */
static int
keep_readclone(struct keeping *k)
{
	struct bytes maps;
	int rc;

	if (k->of.whole)
		return 0;
	if (proc_read(k->of.clone, 0, "maps", &maps) == -1)
		return errstr_sys("its clone");
	rc = vmas_parse(&k->clone, maps.data, maps.len);
	free(maps.data);
	return rc;
}

/*
 * Keep what a clone lacks of process p, which is stopped and has the mappings
 * vma.  Sources for that are added to snapshot s.  Return 0, or -1 with errstr.
 */
int
gaps_keep(struct live *l, struct snap *s, struct lproc *p,
    const struct vmas *vma, const struct lacking *of)
{
	struct keeping k = { .live = l, .snap = s, .proc = p, .vma = vma,
	    .of = *of };
	size_t i;
	int rc;

	rc = -1;
	k.mem = proc_open(p->mmtid, 0, "mem", O_RDONLY);
	k.pagemap = proc_open(p->mmtid, 0, "pagemap", O_RDONLY);
	k.clonemap = proc_open(of->clone, 0, "pagemap", O_RDONLY);
	k.clonemem = proc_open(of->clone, 0, "mem", O_RDONLY);
	if (k.mem == -1 || k.pagemap == -1 || k.clonemap == -1 ||
	    k.clonemem == -1) {
		errstr_sys("its clone");
		goto out;
	}
	if ((rc = keep_readclone(&k)) == 0)
		rc = keep_compare(&k);
	if (rc == 0 && of->alike == NULL)
		rc = ptraceonly_show(p->calls, vma, k.cloned);
	for (i = 0; i < vma->n && rc == 0; i++)
		if ((rc = keep_mapping(&k, &vma->v[i])) == -1)
			errstr_wrap("%jx-%jx %s", (uintmax_t)vma->v[i].start,
			    (uintmax_t)vma->v[i].end, vma->v[i].name);
	if (rc == 0)
		rc = keep_copies(&k);
out:
	fd_drop(k.mem);
	fd_drop(k.pagemap);
	fd_drop(k.clonemap);
	fd_drop(k.clonemem);
	vmas_free(&k.clone);
	free(k.has);
	free(k.cloned);
	free(k.run);
	free(k.ring);
	return rc;
}

/*
 * Forget what was kept of all processes of set l: they stay stopped.
 */
void
gaps_drop(struct live *l)
{
	struct lproc *p;
	size_t i;

	TAILQ_FOREACH(p, &l->procs, entry) {
		/* all that was copied of one is in the same spool */
		for (i = 0; i < p->ngaps && p->gap[i].src == NULL; i++)
			continue;
		if (i < p->ngaps)
			prepared_drop(l, source_fd(p->gap[i].src));
		p->ngaps = 0;
	}
}

/*
 * Return the first run that was kept of start..end (exclusive) of process p,
 * or NULL; those behind it follow, up to lack + nlack.
 */
const struct gap *
gap_find(const struct lproc *p, uint64_t start, uint64_t end)
{
	size_t i;

	i = BISECT(p->gap, p->ngaps, end, start);
	return i < p->ngaps && p->gap[i].start < end ? &p->gap[i] : NULL;
}
