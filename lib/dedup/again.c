/*
 * Find memory that was described before: as the same bytes of the same source,
 * if processes share one memory; or in an earlier copy of the same process, if
 * the page frames are still the same.
 */
#include "bisect.h"
#include "engine.h"

/*
 * Return true if all segments of image im were described in this copy or the
 * one before it, in order. Cache the answer in a.
 */
static bool
again_look(struct dedup *d, struct again *a, const struct image *im)
{
	size_t i;

	if (a->image == im)
		return a->described;
	a->image = im;
	a->described = false;
	i = BISECT_WHILE(k, d->ndesc, d->desc[k].place < d->startbefore);
	for (; i < d->ndesc && im->nseg > 0; i++)
		if (d->desc[i].seg == im->seg[0]) {
			a->first = i;
			a->described = d->ndesc - i >= im->nseg &&
			    d->desc[i + im->nseg - 1].seg ==
			    im->seg[im->nseg - 1];
			break;
		}
	return a->described;
}

/*
 * Return the number of consecutive places, starting at place, whose outcome is
 * known.
 */
uint64_t
again_known(const struct dedup *d, uint64_t place)
{
	const struct kept *k;
	size_t i;

	if ((i = BISECT(d->kept, d->nkept, place, place)) == 0)
		return 0;
	k = &d->kept[i - 1];
	return place - k->place < k->n ? k->n - (place - k->place) : 0;
}

/*
 * Find the kilobyte at address addr of image im, which was described before.
 * Set *s to its segment, *at to its index there, and *place to its place. a is
 * the cache for such images. Return false if im has no such kilobyte.
 */
static bool
again_place(struct dedup *d, struct again *a, const struct image *im,
    uint64_t addr, const struct segment **s, uint64_t *at, uint64_t *place)
{
	size_t i;

	if (!again_look(d, a, im))
		return false;
	i = BISECT_WHILE(k, im->nseg, im->seg[k]->base + im->seg[k]->len <=
	    addr);
	*s = i < im->nseg ? im->seg[i] : NULL;
	if (*s == NULL || addr < (*s)->base || (addr - (*s)->base) % KB != 0 ||
	    d->desc[a->first + i].seg != *s)
		return false;
	*at = (addr - (*s)->base) / KB;
	*place = d->desc[a->first + i].place + *at;
	return true;
}

/*
 * Count kilobytes of segment seg, starting with kilobyte kb of the segment,
 * which is in extent e. Count those that were already described as part of
 * another image and whose outcome (how they were written) is known. Stop at the
 * first other kilobyte. Set *place to the place of the first one counted.
 * Return the count, which may be 0.
 */
uint64_t
again_find(struct dedup *d, const struct segment *seg, const struct extent *e,
    uint64_t kb, uint64_t *place)
{
	const struct image *im = e->src->image;
	const struct segment *s;
	const struct extent *was;
	uint64_t addr, at, n;

	addr = e->loc + (kb - e->kb) * KB;
	if (im == NULL || im == seg->image || e->src->pitch != KB ||
	    !again_place(d, &d->again, im, addr, &s, &at, place))
		return 0;
	if ((was = segment_extent(s, at)) == NULL || was->src != e->src ||
	    was->loc + (at - was->kb) * KB != addr)
		return 0;
	n = again_known(d, *place);
	if (n > was->kb + was->n - at)
		n = was->kb + was->n - at;
	if (n > e->kb + e->n - kb)
		n = e->kb + e->n - kb;
	return n - (n > 0 && page_unshared(d, seg, kb + n - 1));
}

/*
 * The n kilobytes that start at place were described earlier. Append them to
 * block b, or as many of them as fit. If n is BLOCK or more, they need a block
 * of their own: then append all of them if b is empty, otherwise none.
 */
void
plan_again(struct block *b, uint64_t place, uint64_t n)
{
	size_t i;

	if (n >= BLOCK) {
		if (b->n == 0) {
			b->all = n;
			b->state[0] = PAGE_IDENTICAL;
			b->same[0] = place;
		}
		return;
	}
	for (i = 0; i < n && b->n < BLOCK; i++, b->n++) {
		b->state[b->n] = PAGE_IDENTICAL;
		b->same[b->n] = place + i;
	}
}

/*
 * Compare groups of the window, from group g on, with the same addresses of the
 * earlier copy. Compare as many as have consecutive locations there. Set
 * d->copied to their places there, and d->before for each that has the same
 * identity. Return the number of groups compared, or 1 if the earlier copy
 * lacks the first.
 */
static size_t
copy_compare(struct dedup *d, size_t g)
{
	const struct window *w = &d->window;
	const struct image *was = w->seg->image->before;
	uint64_t addr = w->seg->base + (w->kb + g * IDENTITY_KB) * KB;
	const struct extent *e;
	const struct segment *s;
	uint64_t at, place, n;
	size_t i;

	if (!again_place(d, &d->earlier, was, addr, &s, &at, &place) ||
	    (e = segment_extent(s, at)) == NULL)
		return 1;
	n = (e->kb + e->n - at) / IDENTITY_KB;
	if (n > w->n - g)
		n = w->n - g;
	/* unless it was replaced, its outcome must be known */
	if (d->recent == 0 && n > again_known(d, place) / IDENTITY_KB)
		n = again_known(d, place) / IDENTITY_KB;
	if (n == 0)
		return 1;
	/* a file may have changed since the copy before */
	if (e->src == NULL || e->src->image == NULL ||
	    w->ext->src->image == NULL || e->src->ops->identify == NULL ||
	    e->src->pitch != KB || e->src->ops->identify(e->src, e->loc +
	    (at - e->kb) * KB, (size_t)n, d->now) == -1)
		return (size_t)n;
	for (i = 0; i < n; i++, addr += IDENTITY_KB * KB) {
		if (image_missing(was, addr) != NULL)
			continue;
		d->copied[g + i] = place + i * IDENTITY_KB;
		if (w->id[g + i] != 0 && w->id[g + i] == d->now[i])
			d->before[g + i] = place + i * IDENTITY_KB;
	}
	return (size_t)n;
}

/*
 * Find the groups of the window in the earlier copy of the image, if there is
 * one: d->copied. Find those that have not changed since: d->before. Set the
 * other elements to PLACE_NONE.
 */
void
copy_find(struct dedup *d)
{
	const struct window *w = &d->window;
	size_t g;

	for (g = 0; g < w->n; g++)
		d->before[g] = d->copied[g] = PLACE_NONE;
	for (g = 0; g < w->n && w->seg->image->before != NULL;)
		g += copy_compare(d, g);
}
