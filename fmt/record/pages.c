/*
 * The pages of an image of a snapshot: which are present, where their bytes
 * are, and which have changed between two images.
 */
#include "bisect.h"
#include "model.h"
#include "space.h"

enum { BLOCK = 4 * KB };	/* number of bytes compared at a time */

/*
 * Set p->store and p->at for the kilobyte at offset loc of src: the store that
 * has this kilobyte, and its index there. Offsets of src are in the same store
 * if they are equal modulo the pitch of src.
 */
static void
pages_place(struct pagespan *p, const struct source *src, uint64_t loc)
{
	p->store = ((uint64_t)src->id << 32) | (loc % src->pitch);
	p->at = loc / src->pitch;
}

/*
 * Add run p to l, without the ranges missing from image im.
 */
static int
pages_without(struct pagelist *l, struct pagespan p, const struct image *im)
{
	struct pagespan before;
	uint64_t skip;
	size_t m;

	for (m = BISECT(im->missing, im->nmissing, end, p.start);
	    m < im->nmissing && im->missing[m].start < p.end; m++) {
		before = p;
		before.end = im->missing[m].start;
		if (pagelist_add(l, &before) == -1)
			return -1;
		skip = im->missing[m].end - p.start;
		p.at += p.store == 0 ? 0 : skip / KB;
		p.start = im->missing[m].end;
	}
	return pagelist_add(l, &p);
}

/*
 * Add the extents visible in piece pc of image im to l. Missing ranges are left
 * out.
 */
static int
pages_piece(struct pagelist *l, const struct piece *pc, const struct image *im)
{
	const struct segment *seg = pc->seg;
	const struct extent *e;
	struct pagespan p = { 0 };
	uint64_t addr, kb;

	for (addr = pc->first; addr <= pc->last; addr = p.end) {
		kb = (addr - seg->base) / KB;
		if ((e = segment_extent(seg, kb)) == NULL)
			return -1;
		p.start = addr;
		p.end = seg->base + (e->kb + e->n) * KB;
		if (p.end - 1 > pc->last || p.end <= addr)
			p.end = pc->last + 1;
		if (p.end == 0)	/* 2^64 does not fit: omit the last kilobyte */
			p.end -= KB;
		p.kind = e->src == NULL ? PAGES_ZERO : PAGES_RAW;
		p.store = p.at = 0;
		if (e->src != NULL)
			pages_place(&p, e->src, e->loc +
			    (kb - e->kb) * e->src->pitch);
		if (pages_without(l, p, im) == -1)
			return -1;
		if (p.end <= addr)
			break;
	}
	return 0;
}

CMP(pages_cmp, struct pagespan, start)

/*
 * Set *l to the runs of pages in image im, which may be NULL. The caller frees
 * the list, even after a failure. Return 0, or -1 with errstr set.
 */
int
pages_snap(struct pagelist *l, struct image *im)
{
	struct pagespan gone = { .kind = PAGES_MISSING };
	struct piece *pc;
	size_t i;
	int rc;

	if (im == NULL)
		return 0;
	image_sortmissing(im);
	for (rc = 0, pc = image_first(im); rc == 0 && pc != NULL;
	    pc = piece_next(pc))
		rc = pages_piece(l, pc, im);
	for (i = 0; rc == 0 && i < im->nmissing; i++) {
		gone.start = im->missing[i].start;
		gone.end = im->missing[i].end;
		rc = pagelist_add(l, &gone);
	}
	SORT(l->v, l->n, pages_cmp);
	return rc;
}

/*
 * Add the pages of image im that are in the mappings vma to l. Pages between
 * mappings are ignored, because readers and writers of snapshots fill small
 * gaps with zeros.
 */
static int
pages_mapped(struct pagelist *l, struct image *im, const struct vmas *vma)
{
	struct pagelist all = { 0 };
	const struct vma *v;
	struct pagespan p;
	uint64_t addr;
	size_t i;
	int rc;

	rc = pages_snap(&all, im);
	for (i = 0; rc == 0 && i < all.n; i++)
		for (addr = all.v[i].start; rc == 0 && addr < all.v[i].end &&
		    (v = vmas_next(vma, addr)) != NULL; addr = p.end) {
			p = all.v[i];
			p.store = p.at = 0;
			p.start = v->start > addr ? v->start : addr;
			if (p.start >= p.end)
				break;
			if (v->end < p.end)
				p.end = v->end;
			rc = pagelist_add(l, &p);
		}
	pagelist_free(&all);
	return rc;
}

/*
 * Return the kind of change for pages whose old kind is a and whose new kind is
 * b. Return PAGES_KINDS if the bytes of the pages must be compared.
 */
static enum pagekind
pages_verdict(enum pagekind a, enum pagekind b)
{
	if (a == PAGES_MISSING || b == PAGES_MISSING)
		return PAGES_MISSING;
	if (a == PAGES_NONE)
		return b == PAGES_NONE ? PAGES_NONE : PAGES_NEW;
	if (b == PAGES_NONE)
		return PAGES_GONE;
	return a == PAGES_ZERO && b == PAGES_ZERO ? PAGES_SAME : PAGES_KINDS;
}

/*
 * Compare the bytes of run p in images a and b, and add the results to out.
 */
static int
pages_bytes(struct pagelist *out, struct pagespan p, struct image *a,
    struct image *b)
{
	uint8_t x[BLOCK], y[BLOCK];
	uint64_t end = p.end;
	size_t n;

	for (; p.start < end; p.start = p.end) {
		n = BLOCK - p.start % BLOCK;
		if (end - p.start < n)
			n = (size_t)(end - p.start);
		p.end = p.start + n;
		if (image_read(a, p.start, x, n) == -1 ||
		    image_read(b, p.start, y, n) == -1)
			p.kind = PAGES_MISSING;
		else
			p.kind = memcmp(x, y, n) == 0 ? PAGES_SAME :
			    PAGES_CHANGED;
		if (pagelist_add(out, &p) == -1)
			return -1;
	}
	return 0;
}

/*
 * Return the kind of the page at addr, according to the runs in l. *i is the
 * index of the run at which the search begins; advance it to the run found.
 * Lower *end to the end of the pages of that kind.
 */
static enum pagekind
pages_at(const struct pagelist *l, size_t *i, uint64_t addr, uint64_t *end)
{
	uint64_t edge;

	while (*i < l->n && l->v[*i].end <= addr)
		(*i)++;
	if (*i == l->n)
		return PAGES_NONE;
	edge = l->v[*i].start > addr ? l->v[*i].start : l->v[*i].end;
	if (edge < *end)
		*end = edge;
	return l->v[*i].start > addr ? PAGES_NONE : l->v[*i].kind;
}

/*
 * Set *out to the page changes between two images, old and new; oldmap and
 * newmap have their mappings. Each image may be NULL. The caller frees the
 * list, even after a failure. Return 0, or -1 with errstr set.
 */
int
pages_compare(struct pagelist *out, struct image *old,
    const struct vmas *oldmap, struct image *new, const struct vmas *newmap)
{
	struct pagelist a = { 0 }, b = { 0 };
	struct pagespan p = { 0 };
	enum pagekind x, y;
	size_t i, k;
	int rc;

	rc = pages_mapped(&a, old, oldmap) == -1 ? -1 :
	    pages_mapped(&b, new, newmap);
	for (i = k = 0; rc == 0 && (i < a.n || k < b.n); p.start = p.end) {
		p.end = UINT64_MAX;
		x = pages_at(&a, &i, p.start, &p.end);
		y = pages_at(&b, &k, p.start, &p.end);
		p.kind = pages_verdict(x, y);
		if (p.kind == PAGES_KINDS)
			rc = pages_bytes(out, p, old, new);
		else if (p.kind != PAGES_NONE)
			rc = pagelist_add(out, &p);
	}
	pagelist_free(&a);
	pagelist_free(&b);
	return rc;
}
