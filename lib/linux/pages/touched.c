/*
 * Find the mappings of a process that have pages. Several mappings are examined
 * at once, because a call for each takes longer than reading the pages of
 * several.
 */
#include "bisect.h"
#include "linux/proc/proc.h"
#include "pages.h"

#include <unistd.h>

enum {
	TOUCHED_SMALL = 2 * 1024 * KB,	/* number of bytes that one page table
					   maps */
	LOOKED_AT = 16384, /* number of pages to examine first at the start of
			      each mapping, if the kernel lacks PAGEMAP_SCAN */
	SMAPS_TAKES = 16	/* reading smaps takes as long for one present
				   page as reading pagemap for this many absent
				   pages */
};

struct touching {
	const struct vmas *vma;		/* borrowed */
	bool		*has;		/* borrowed; result, one per mapping */
	int		 fd;		/* pagemap of the process */
	uint64_t	 page;		/* page size in bytes */
	bool		 scans;		/* the kernel supports PAGEMAP_SCAN */
	uint64_t	 left;		/* number of pages not examined yet */
};

static int
touch_run(void *arg, const struct pagerun *r)
{
	const struct touching *t = arg;
	const struct vmas *l = t->vma;
	size_t i;

	for (i = BISECT(l->v, l->n, end, r->start); i < l->n &&
	    l->v[i].start < r->end; i++)
		t->has[i] = true;
	return 0;
}

/*
 * Return the end of the part of mapping v that is examined first.
 */
static uint64_t
look_end(const struct touching *t, const struct vma *v)
{
	return t->scans || (v->end - v->start) / t->page <= LOOKED_AT ?
	    v->end : v->start + LOOKED_AT * t->page;
}

static int
touch_one(struct touching *t, size_t i)
{
	const struct vma *v = &t->vma->v[i];
	const uint64_t end = look_end(t, v);
	int rc;

	rc = pagemap_any(t->fd, v->start, end);
	t->has[i] = rc == 1;
	if (rc == 0)
		t->left += (v->end - end) / t->page;
	return rc;
}

/*
 * Examine the rest of each mapping that has no page in its first part. Use
 * smaps, which skips empty page tables, or pagemap, whichever is faster. tid is
 * a thread of the process.
 */
static int
touch_rest(struct touching *t, pid_t tid)
{
	struct smapsizes l = { 0 };
	const struct smapsize *size;
	struct procstat st;
	const struct vma *v;
	uint64_t end;
	size_t i;
	int rc;

	if (t->left == 0)
		return 0;
	rc = proc_readstat(tid, 0, &st) >= STAT_RSS &&
	    t->left / SMAPS_TAKES > st.v[STAT_RSS] ?
	    smapsizes_read(&l, tid) : 0;
	for (i = 0; i < t->vma->n && rc != -1; i++) {
		v = &t->vma->v[i];
		if (t->has[i] || v->start > INT64_MAX ||
		    (end = look_end(t, v)) == v->end)
			continue;
		size = smapsizes_find(&l, v);
		rc = size != NULL && !size->device ? size->rss > 0 ||
		    size->swap > 0 : pagemap_any(t->fd, end, v->end);
		t->has[i] = rc == 1;
	}
	smapsizes_free(&l);
	return rc;
}

/*
 * For each mapping i of the sorted list l, set has[i] to true if the mapping
 * has a page that is present, in swap, or a guard, else to false. tid is a
 * thread of the process, and fd its pagemap. If the kernel has no PAGEMAP_SCAN
 * (before Linux 6.7), a large mapping with only zero pages may count as having
 * none. Return 0, or -1 with errstr set.
 */
int
pagemap_touched(pid_t tid, int fd, const struct vmas *l, bool *has)
{
	struct touching t = { .vma = l, .has = has, .fd = fd };
	const struct vma *v;
	size_t i, n;
	int rc;

	rc = 0;
	t.page = (uint64_t)sysconf(_SC_PAGESIZE);
	t.scans = pagemap_scans(fd);
	memset(has, 0, l->n * sizeof *has);
	for (i = 0; i < l->n && rc != -1; i += n) {
		v = &l->v[i];
		for (n = 1; i + n < l->n &&
		    v[n - 1].end - v[n - 1].start <= TOUCHED_SMALL &&
		    v[n].end - v[n].start <= TOUCHED_SMALL &&
		    v[n].start - v[n - 1].end <= TOUCHED_SMALL; n++)
			continue;
		if (v->start > INT64_MAX)	/* [vsyscall] has no entries */
			continue;
		rc = n == 1 ? touch_one(&t, i) : pagemap_walk(fd, v->start,
		    v[n - 1].end, 0, touch_run, &t);
	}
	return rc == -1 || touch_rest(&t, tid) == -1 ? -1 : 0;
}
