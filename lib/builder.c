/*
 * Build an image from runs of pages in ascending order, with few segments:
 * 9front's snapfs rejects a mem record with more than 16 (man6/snap.6). Gaps
 * where nothing was mapped are filled with zeros; ranges that were present but
 * not captured stay gaps.
 */
#include "bisect.h"
#include "model.h"
#include "vec.h"

enum {
	SEGMENTS = 16, /* maximum number of segments in a mem record for
			  9front */
	SMALLGAP = 24 * KB,	/* gaps of up to this many bytes are always
				   filled with zeros, which is cheaper than
				   another segment */
	CHEAP_KB = 64 * 1024	/* maximum number of kilobytes of zeros in
				   larger gaps, or 1% of the image if that is
				   more */
};

static const uint64_t segment_most = ((uint64_t)1 << 39) - KB;

/*
 * Return true if part of the range from start to end (exclusive) of im is
 * recorded as missing.
 */
static bool
misses(const struct image *im, uint64_t start, uint64_t end)
{
	size_t i;

	i = BISECT(im->missing, im->nmissing, end, start);
	return i < im->nmissing && im->missing[i].start < end;
}

static struct segment *
builder_segment(struct builder *b, uint64_t addr)
{
	struct segment *s;

	if (VEC_ROOM(b->seg, b->nseg) == -1 ||
	    (s = segment_new(addr, 1)) == NULL)
		return NULL;
	s->len = 0;
	b->seg[b->nseg++] = s;
	return s;
}

/*
 * Append n kilobytes at address addr to b. They are at location loc in src; if
 * src is NULL, they are zeros. Addresses must ascend from call to call. Missing
 * ranges below addr must already have been recorded with image_miss(). Return
 * 0, or -1 with errstr set.
 */
int
builder_run(struct builder *b, uint64_t addr, uint64_t n, struct source *src,
    uint64_t loc)
{
	struct segment *s;
	uint64_t end, part;

	while (n > 0) {
		s = b->nseg > 0 ? b->seg[b->nseg - 1] : NULL;
		end = s == NULL ? 0 : s->base + s->len;
		if (s == NULL || addr - end > SMALLGAP ||
		    (addr - end) % KB != 0 ||
		    addr - s->base >= segment_most ||
		    misses(b->image, end, addr)) {
			if ((s = builder_segment(b, addr)) == NULL)
				return -1;
			end = addr;
		}
		if (segment_append(s, (addr - end) / KB, NULL, 0) == -1)
			return -1;
		part = (segment_most - (addr - s->base)) / KB;
		if (part > n)
			part = n;
		if (segment_append(s, part, src, loc) == -1)
			return -1;
		s->len = s->kb * KB;
		n -= part;
		addr += part * KB;
		loc += src == NULL ? 0 : part * src->pitch;
	}
	return 0;
}

struct gap {
	size_t	 i;		/* index of the segment before the gap */
	uint64_t kb;
};

CMP2(gap_cmp, struct gap, kb, i)

/*
 * Decide which gaps between segments to fill with zeros, to join the segments.
 * Set join[i] for the gap after segment i; all elements must be false before.
 * Choose the smallest gaps first. Stop when at most SEGMENTS segments are left,
 * or when the zeros would exceed their limit.
 */
static int
gaps_choose(struct builder *b, bool *join)
{
	struct segment *x, *y;
	struct gap *gap;
	uint64_t captured, limit, spent;
	size_t i, ngap, left;

	if ((gap = reallocarray(NULL, b->nseg, sizeof *gap)) == NULL)
		return errstr_set("out of memory");
	captured = spent = 0;
	for (i = ngap = 0; i < b->nseg; i++) {
		x = b->seg[i];
		captured += x->kb;
		if (i + 1 == b->nseg)
			break;
		y = b->seg[i + 1];
		if ((y->base - x->base) % KB != 0 ||
		    y->base + y->len - x->base > segment_most ||
		    misses(b->image, x->base + x->len, y->base))
			continue;
		gap[ngap].i = i;
		gap[ngap++].kb = (y->base - x->base - x->len) / KB;
	}
	SORT(gap, ngap, gap_cmp);
	limit = captured / 100 > CHEAP_KB ? captured / 100 : CHEAP_KB;
	left = b->nseg;
	for (i = 0; i < ngap && left > SEGMENTS; i++) {
		spent += gap[i].kb;
		if (spent > limit)
			break;
		join[gap[i].i] = true;
		left--;
	}
	free(gap);
	return 0;
}

/*
 * Append segment y to segment x, with zeros between the two.
 */
static int
segment_join(struct segment *x, const struct segment *y)
{
	const struct extent *e;
	size_t i;

	if (segment_append(x, (y->base - x->base - x->len) / KB, NULL, 0) == -1)
		return -1;
	for (i = 0; i < y->next; i++) {
		e = &y->ext[i];
		if (segment_append(x, e->n, e->src, e->loc) == -1)
			return -1;
	}
	x->len = x->kb * KB;
	return 0;
}

static int
builder_coalesce(struct builder *b)
{
	struct segment *x, *y;
	bool *join;
	size_t i, n;
	int rc;

	if ((join = mem_new(b->nseg, sizeof *join)) == NULL)
		return -1;
	rc = gaps_choose(b, join);
	n = 1;
	for (i = 1; i < b->nseg; i++) {
		x = b->seg[n - 1];
		y = b->seg[i];
		if (rc == 0 && join[i - 1] &&
		    y->base + y->len - x->base <= segment_most) {
			rc = segment_join(x, y);
			segment_free(y);
		} else
			b->seg[n++] = y;
	}
	b->nseg = n;
	free(join);
	return rc;
}

/*
 * Insert the segments of b into its image. First, if there are more than 16,
 * join them by filling the gaps between them with zeros. At most 65536
 * kilobytes of zeros are used for that, or 1% of the captured kilobytes if that
 * is more; each takes one byte in a stream. b is left empty, even on failure.
 * Return 0, or -1 with errstr set.
 */
int
builder_finish(struct builder *b)
{
	size_t i;
	int rc;

	rc = 0;
	if (b->nseg > SEGMENTS)
		rc = builder_coalesce(b);
	for (i = 0; i < b->nseg; i++) {
		if (rc == 0)
			rc = image_insert(b->image, b->seg[i]);
		else
			segment_free(b->seg[i]);
	}
	free(b->seg);
	b->seg = NULL;
	b->nseg = 0;
	return rc;
}
