/*
 * Read images, and find whether there is data, a hole or nothing at an address.
 */
#include "model.h"

/*
 * Read up to len bytes of segment s into buf. off is the offset of the first of
 * them in the segment. Do not read past the end of an extent. Return the number
 * of bytes read, or -1 with errstr set.
 */
static ssize_t
segment_readsome(const struct segment *s, uint64_t off, uint8_t *buf,
    size_t len)
{
	const struct extent *e;
	uint8_t page[KB];
	struct run r;
	uint64_t kb;
	size_t skip;

	kb = off / KB;
	skip = off % KB;
	if ((e = segment_extent(s, kb)) == NULL)
		return -1;
	if ((e->kb + e->n - kb) < len / KB + 2 &&
	    (e->kb + e->n - kb) * KB - skip < len)
		len = (size_t)((e->kb + e->n - kb) * KB - skip);
	if (e->src == NULL) {
		memset(buf, 0, len);
		return (ssize_t)len;
	}
	r.loc = e->loc + (kb - e->kb) * e->src->pitch;
	if (skip == 0 && len >= KB) {
		r.n = len / KB;
		if (source_read(e->src, &r, 1, buf) != SOURCE_OK)
			return -1;
		return (ssize_t)(r.n * KB);
	}
	r.n = 1;
	if (source_read(e->src, &r, 1, page) != SOURCE_OK)
		return -1;
	if (len > KB - skip)
		len = KB - skip;
	memcpy(buf, page + skip, len);
	return (ssize_t)len;
}

/*
 * Read up to len bytes of im at address addr into buf. Stop before the first
 * byte that cannot be read. Return the number of bytes read. If that is 0
 * although len is not, return -1 with errstr set.
 */
ssize_t
image_readsome(struct image *im, uint64_t addr, void *buf, size_t len)
{
	struct piece *p;
	size_t done, want;
	ssize_t n;

	for (done = 0; done < len; done += (size_t)n) {
		if (done > 0 && addr + done < done) {
			(void)errstr_set("address 2^64 is not in the snapshot");
			break;
		}
		if ((p = image_find(im, addr + done)) == NULL) {
			(void)errstr_set("address %jx is not in the snapshot",
			    (uintmax_t)(addr + done));
			break;
		}
		want = p->last - (addr + done) < len - done - 1 ?
		    (size_t)(p->last - (addr + done)) + 1 : len - done;
		n = segment_readsome(p->seg, addr + done - p->seg->base,
		    (uint8_t *)buf + done, want);
		if (n == -1)
			break;
	}
	return done > 0 || len == 0 ? (ssize_t)done : -1;
}

/*
 * Read all len bytes of im at address addr into buf. Fail if one of them is
 * unmapped: unmapped addresses do not read as zeros. Return 0, or -1 with
 * errstr set.
 */
int
image_read(struct image *im, uint64_t addr, void *buf, size_t len)
{
	ssize_t n;

	n = image_readsome(im, addr, buf, len);
	return n == -1 || (size_t)n < len ? -1 : 0;
}

/*
 * Find out whether addr is unmapped in im. If so, set *sp to the unmapped range
 * and return true. Otherwise set *piece to the piece that contains addr and
 * return false.
 */
static bool
span_unmapped(struct image *im, uint64_t addr, struct span *sp,
    struct piece **piece)
{
	struct piece *p;

	*piece = p = image_next(im, addr);
	if (p != NULL && p->first <= addr)
		return false;
	sp->last = p == NULL ? UINT64_MAX : p->first - 1;
	sp->mapped = sp->data = false;
	sp->zero = true;
	return true;
}

/*
 * Set *first and *last to the first and last address of n kilobytes of
 * p->seg, starting at kilobyte kb. Limit both to the addresses of p.
 */
static void
span_limit(const struct piece *p, uint64_t kb, uint64_t n, uint64_t *first,
    uint64_t *last)
{
	*first = p->seg->base + kb * KB;
	*last = n - 1 > (UINT64_MAX - *first) / KB ? UINT64_MAX :
	    *first + (n - 1) * KB + (KB - 1);
	if (*first < p->first)
		*first = p->first;
	if (*last > p->last || *last < *first)
		*last = p->last;
}

/*
 * Describe in *sp a range of addresses of im that begins at address addr: the
 * properties that these addresses have in common, and the last of them. A run
 * of at least HOLE_KB all-zero kilobytes counts as a hole.
 */
void
image_span(struct image *im, uint64_t addr, struct span *sp)
{
	const struct extent *e;
	struct piece *p;
	uint64_t first;

	if (span_unmapped(im, addr, sp, &p))
		return;
	sp->mapped = sp->data = true;
	sp->zero = false;
	sp->last = p->last;
	e = segment_extent(p->seg, (addr - p->seg->base) / KB);
	if (e == NULL)
		return;
	span_limit(p, e->kb, e->n, &first, &sp->last);
	sp->zero = e->src == NULL;
	sp->data = e->src != NULL || sp->last - first < HOLE_KB * KB - 1;
}

/*
 * Set *sp as image_span() does, but treat runs of zeros that are too short to
 * be a hole as part of the data around them. Do not search beyond address last;
 * the range may end there.
 */
void
image_holes(struct image *im, uint64_t addr, uint64_t last, struct span *sp)
{
	struct piece *p;
	struct zeros h;
	uint64_t kb, limit, first;

	if (span_unmapped(im, addr, sp, &p))
		return;
	sp->mapped = sp->data = true;
	sp->last = p->last;
	kb = (addr - p->seg->base) / KB;
	limit = ((last < p->last ? last : p->last) - p->seg->base) / KB + 1;
	if (!segment_zeros(p->seg, kb, limit, &h))
		h.kb = limit;
	if (h.kb > kb)
		span_limit(p, kb, h.kb - kb, &first, &sp->last);
	else {
		span_limit(p, h.kb, h.end - h.kb, &first, &sp->last);
		sp->data = sp->last - first < HOLE_KB * KB - 1;
	}
	sp->zero = !sp->data;
}
