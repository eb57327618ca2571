/*
 * Reading images, and what there is to read at an address: data, a hole, or
 * nothing.
 */
#include "model.h"

#include <string.h>

enum { HOLE_LEAST = 64 };	/* kilobytes of zeros that are a hole */

/*
 * Read from one segment, at most to its extent's end: how much, or -1.
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
 * Read up to len bytes of im at address addr into buf: as many as can be read
 * before the first that cannot.  Return how many: at least one, if len is not
 * 0, or -1 with errstr.
 */
ssize_t
image_readsome(struct image *im, uint64_t addr, void *buf, size_t len)
{
	struct piece *p;
	size_t done, want;
	ssize_t n;

	for (done = 0; done < len; done += (size_t)n) {
		if (done > 0 && addr + done < done) {
			(void)errstr_set("address 2^64 is not mapped");
			break;
		}
		if ((p = image_find(im, addr + done)) == NULL) {
			(void)errstr_set("address %jx is not mapped",
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
 * Read len bytes of im at address addr into buf.  All of them or an error: what
 * is not mapped never reads as zeros.  Return 0, or -1 with errstr.
 */
int
image_read(struct image *im, uint64_t addr, void *buf, size_t len)
{
	ssize_t n;

	n = image_readsome(im, addr, buf, len);
	return n == -1 || (size_t)n < len ? -1 : 0;
}

/*
 * Set *sp to what lies at address addr of im, and up to which: something mapped
 * or nothing, and data or a hole.  Zeros are a hole where there are 64 KiB of
 * them or more.
 */
void
image_span(struct image *im, uint64_t addr, struct span *sp)
{
	const struct extent *e;
	struct piece *p;
	uint64_t first, last;

	if ((p = image_next(im, addr)) == NULL || p->first > addr) {
		sp->last = p == NULL ? UINT64_MAX : p->first - 1;
		sp->mapped = sp->data = false;
		sp->zero = true;
		return;
	}
	sp->mapped = sp->data = true;
	sp->zero = false;
	sp->last = p->last;
	e = segment_extent(p->seg, (addr - p->seg->base) / KB);
	if (e == NULL)
		return;
	first = p->seg->base + e->kb * KB;
	last = e->n - 1 > (UINT64_MAX - first) / KB ? UINT64_MAX :
	    first + (e->n - 1) * KB + (KB - 1);
	if (first < p->first)
		first = p->first;
	if (last > p->last || last < first)
		last = p->last;
	sp->last = last;
	sp->zero = e->src == NULL;
	sp->data = e->src != NULL || last - first < HOLE_LEAST * KB - 1;
}
