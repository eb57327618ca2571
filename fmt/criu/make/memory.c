/*
 * Write pagemap-N.img, the private memory of a process. criu/write/place.c
 * adds the content of the pages, together with that of images that came with
 * the snapshot.
 */
#include "criumake.h"

/*
 * Append entries with these flags to pagemap image b, for the pages of memory
 * im from address start up to address end. im may be NULL. page is the page
 * size in bytes.
 */
static void
pages_add(struct buf *b, struct image *im, uint64_t page, unsigned int flags,
    uint64_t start, uint64_t end)
{
	struct pages p = { .flags = flags };
	struct piece *pc;
	uint64_t from, to;

	while (start < end) {
		if (im == NULL || (pc = image_next(im, start)) == NULL ||
		    pc->first >= end)
			return;
		from = pc->first > start ? pc->first : start;
		/* join adjacent pieces */
		for (to = pc->last + 1; to < end && to != 0 &&
		    (pc = image_find(im, to)) != NULL; to = pc->last + 1)
			continue;
		if (to > end || to == 0)
			to = end;
		p.addr = (from + page - 1) / page * page;
		p.len = to / page < p.addr / page ? 0 :
		    to / page * page - p.addr;
		if (p.len > 0)
			pagemap_put(b, &p, page, NULL);
		start = to;
	}
}

/*
 * Append entries to pagemap image b for the pages of t from address start up to
 * address end, but only for pages of private mappings that are to be restored.
 * page is the page size in bytes.
 */
static int
run_add(struct criumake *m, struct maketask *t, struct buf *b, uint64_t page,
    uint64_t start, uint64_t end)
{
	const struct vma *v;
	unsigned int flags;
	uint64_t to;

	for (v = vmas_next(&t->maps, start); v != NULL &&
	    v < t->maps.v + t->maps.n && v->start < end; v++) {
		if (start < v->start)
			start = v->start;
		to = v->end < end ? v->end : end;
		flags = t->pages[v - t->maps.v];
		if (flags == 0)
			continue;
		if (make_missing(m, t->proc->mem, "process", t->proc->pid,
		    start, to) == -1)
			return -1;
		pages_add(b, t->proc->mem, page, flags, start, to);
		start = to;
	}
	return 0;
}

/*
 * Write pagemap-N.img, the list of private pages of process t. Return 0, or -1
 * with errstr set.
 */
int
makemem_pages(struct criumake *m, struct maketask *t)
{
	struct made *im;
	struct words w;
	uint64_t v[2], last, page = snap_page(m->snap, t->proc);
	int rc;

	im = make_image(m, CRIU_PAGEMAP, "pagemap-%u.img", t->pid);
	if (im == NULL)
		return -1;
	im->pages = t->proc;
	im->b.len = 0;
	pagemap_begin(&im->b, 0);
	last = 0;
	if ((rc = maketask_words(t, "pages", &w)) == 0)
		return make_never(m, t, "the snapshot does not record which "
		    "pages are its own");
	for (; rc != -1 && (rc = words_next(&w)) == 1; last = v[1]) {
		if (!words_form(&w, 0, "xx", v) || v[0] >= v[1] ||
		    v[0] < last || v[0] % page != 0 || v[1] % page != 0)
			return words_bad(&w, "start (x) end (x), ascending");
		rc = run_add(m, t, &im->b, page, v[0], v[1]);
	}
	return rc;
}
