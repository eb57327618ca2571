/*
 * Places: each kilobyte of a snapshot has one, its number in the order of
 * description.
 */
#include "bisect.h"
#include "engine.h"
#include "vec.h"

/*
 * Assign the next places to segment seg. Return 0, or -1 with errstr set.
 */
int
place_give(struct dedup *d, const struct segment *seg)
{
	if (d->places + segment_kb(seg) > MAX_PLACE)
		return errstr_set("more than 256 TiB in one snapshot");
	if (segment_describe(seg) == -1 || VEC_ADD(d->desc, d->ndesc,
	    (struct described){ d->places, seg }) == -1)
		return -1;
	d->places += segment_kb(seg);
	return 0;
}

/*
 * Return the segment that contains place. *last caches the index of the
 * previous answer. Each thread has its own cache, initially 0.
 */
const struct described *
place_segment(const struct dedup *d, uint64_t place, size_t *last)
{
	const struct described *at;

	at = &d->desc[*last];		/* usually the same segment as before */
	if (place >= at->place && place - at->place < segment_kb(at->seg))
		return at;
	*last = BISECT(d->desc, d->ndesc, place, place) - 1;
	return &d->desc[*last];
}

/*
 * Return the source of the kilobyte at place, or NULL if it is zero. Set *loc
 * to the kilobyte's location in the source, and *n to the number of kilobytes
 * from there to the end of the extent. *last is as for place_segment().
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
 * Return true if references may point to pages of segment s. They may not if
 * another segment covers some of the addresses of s, or if s is one of several
 * segments of a text: Plan 9's readers know only the last of these.
 */
bool
segment_referable(const struct segment *s)
{
	return !s->hidden && (s->image->kind == IMAGE_MEM ||
	    s->image->nseg == 1);
}

/*
 * Return true if page kb of seg must be written even if it equals another. This
 * applies to the last page of a record. It also applies to a short page, which
 * could refer only to a page that is as short.
 */
bool
page_unshared(const struct dedup *d, const struct segment *seg, uint64_t kb)
{
	return kb + 1 == segment_kb(seg) &&
	    (seg == d->last || seg->len % KB != 0);
}
