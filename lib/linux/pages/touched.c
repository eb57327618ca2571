/*
 * Which mappings of a process have pages, of many mappings at once: to ask for
 * each takes longer than to look at the pages of several.
 */
#include "bisect.h"
#include "linux/proc/proc.h"
#include "pages.h"

#include <string.h>

enum { TOUCHED_SMALL = 2 * 1024 * KB };	/* bytes that one page table maps */

struct touching {
	const struct vmas *vma;		/* borrowed */
	bool		*has;		/* borrowed; of each */
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

static bool
is_small(const struct vma *v)
{
	return v->end - v->start <= TOUCHED_SMALL;
}

/*
 * Set has, of as many members as there are mappings l, sorted, to whether each
 * has a page that is present or in swap, or a guard.  fd is the pagemap of the
 * process.  Return 0, or -1 as pagemap_fail.
 */
int
pagemap_touched(int fd, const struct vmas *l, bool *has)
{
	struct touching t = { l, has };
	const struct vma *v;
	size_t i, n;
	int rc;

	rc = 0;
	memset(has, 0, l->n * sizeof *has);
	for (i = 0; i < l->n && rc != -1; i += n) {
		v = &l->v[i];
		n = 1;
		if (v->start > INT64_MAX)	/* [vsyscall] has no entries */
			continue;
		for (n = 0; i + n < l->n && is_small(&v[n]) && (n == 0 ||
		    v[n].start - v[n - 1].end <= TOUCHED_SMALL); n++)
			continue;
		if (n > 1) {
			rc = pagemap_walk(fd, v->start, v[n - 1].end, 0,
			    touch_run, &t);
			continue;
		}
		n = 1;
		rc = pagemap_any(fd, v->start, v->end);
		has[i] = rc == 1;
	}
	return rc == -1 ? -1 : 0;
}
