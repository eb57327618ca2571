/*
 * Places: every kilobyte of a snapshot has one, its number in the order of
 * description.
 */
#include "bisect.h"
#include "engine.h"
#include "vec.h"

/*
 * Give a segment the next places.  Return 0; or -1 with errstr.
 */
int
place_give(struct dedup *d, const struct segment *seg)
{
	if (d->places + segment_kb(seg) > MAX_PLACE)
		return errstr_set("more than 256 TiB in one snapshot");
	if (segment_describe(seg) == -1)
		return -1;
	if (VEC_ADD(d->desc, d->ndesc, (struct described){ d->places,
	    seg }) == -1)
		return -1;
	d->places += segment_kb(seg);
	return 0;
}

/*
 * Return the segment that a place is in.  *last is where the one was that was
 * asked for before, at first 0; each thread has its own.
 */
const struct described *
place_segment(const struct dedup *d, uint64_t place, size_t *last)
{
	const struct described *at;

	at = &d->desc[*last];		/* it is the same for long */
	if (place >= at->place && place - at->place < segment_kb(at->seg))
		return at;
	*last = BISECT(d->desc, d->ndesc, place, place) - 1;
	return &d->desc[*last];
}

/*
 * Return the source that a place is read from, NULL for zeros; set *loc to
 * where in it, and *n to how many kilobytes follow in the same extent, itself
 * included.  *last is as above.
 */
struct source *
place_source(const struct dedup *d, uint64_t place, size_t *last,
    uint64_t *loc, uint64_t *n)
{
	const struct described *at;
	const struct extent *e;
	uint64_t kb;

	at = place_segment(d, place, last);
	kb = place - at->place;
	e = segment_extent(at->seg, kb);
	*n = e->kb + e->n - kb;
	*loc = e->src == NULL ? 0 : e->loc + (kb - e->kb) * e->src->pitch;
	return e->src;
}

/*
 * Return true if the pages of a segment can be referred to: not where an
 * address may mean a page of another, nor those of a text of several, of which
 * the readers of Plan 9 know the last one alone.
 */
bool
segment_referable(const struct segment *s)
{
	return !s->hidden && (s->image->kind == IMAGE_MEM ||
	    s->image->nseg == 1);
}

/*
 * Return true if a page must be written whatever else is like it: the last page
 * of a section, and a short one, whose like would have to be as short.
 */
bool
page_unshared(const struct dedup *d, const struct segment *seg, uint64_t kb)
{
	return kb + 1 == segment_kb(seg) &&
	    (seg == d->last || seg->len % KB != 0);
}
