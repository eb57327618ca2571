/*
 * The numbers of an index, and the runs of pages in it: where in the stream
 * each page is follows from the sizes of all that is before it.
 */
#include "index.h"

#include <inttypes.h>

/*
 * Take the next number of the index.  Return 0, or -1 with errstr.
 */
int
get_num(struct cursor *c, uint64_t *num)
{
	const uint8_t *p = c->p;
	uint64_t v;
	unsigned int shift;
	size_t n;

	for (v = 0, shift = 0, n = 0;; shift += 7, n++) {
		if (n == c->left)
			return errstr_set("it ends too early");
		if (shift == 63 && p[n] > 1)
			return errstr_set("a number of more than 64 bits");
		v |= (uint64_t)(p[n] & 0x7f) << shift;
		if (p[n] < 0x80)
			break;
	}
	c->p += n + 1;
	c->left -= n + 1;
	*num = v;
	return 0;
}

/*
 * Take the next number of c into *num, which is told by its difference from
 * another, from.  Return 0, or -1 with errstr.
 */
int
get_diff(struct cursor *c, uint64_t from, uint64_t *num)
{
	uint64_t v;

	if (get_num(c, &v) == -1)
		return -1;
	*num = from + (v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
	return 0;
}

/*
 * Pass n bytes of the stream, which are of what was told, and end before a
 * byte.  Return 0; -1 with errstr if it has fewer.
 */
int
cursor_advance(struct cursor *c, uint64_t n, uint64_t end)
{
	if (n > end - c->at)
		return errstr_set("more than there is");
	c->at += n;
	return 0;
}

static int
raw_get(struct cursor *c, uint64_t end, uint64_t cut, struct pagesrun *r)
{
	if (r->n > (end - c->at) / KB + 1)
		return errstr_set("more raw pages than there are");
	r->first = c->ordinal;
	c->ordinal += r->n;
	return cursor_advance(c, r->n * (KB + 1) - cut, end);
}

static int
same_get(struct cursor *c, uint64_t end, uint64_t cut, struct pagesrun *r)
{
	const uint64_t each = 1 + 2 * SNAP6_NUM;
	uint64_t more;

	if (get_num(c, &more) == -1 || get_diff(c, c->same, &r->first) == -1)
		return -1;
	if (r->n > (end - c->at) / each ||
	    cursor_advance(c, r->n * each, end) == -1 ||
	    cursor_advance(c, more, end) == -1)
		return errstr_set("more references than there are");
	if (cut > 0)
		return errstr_set("a reference for a short page");
	c->same = r->first + r->n;
	return 0;
}

/*
 * Take a run of pages of a segment that has so many left, the last of which is
 * short by cut bytes, in a stream that goes to byte end.  Return 0, or -1 with
 * errstr.
 */
int
run_get(struct cursor *c, uint64_t end, uint64_t left, size_t cut,
    struct pagesrun *r)
{
	uint64_t v;

	if (get_num(c, &v) == -1)
		return -1;
	r->n = v >> 2;
	r->at = c->at;
	if (r->n == 0 || r->n > left)
		return errstr_set("a run of %" PRIu64 " pages, where %" PRIu64
		    " are left", r->n, left);
	if (r->n < left)
		cut = 0;
	switch (v & 3) {
	case KIND_RAW:
		r->kind = KIND_RAW;
		return raw_get(c, end, cut, r);
	case KIND_ZERO:
		r->kind = KIND_ZERO;
		return cursor_advance(c, r->n, end);
	case KIND_SAME:
		r->kind = KIND_SAME;
		return same_get(c, end, cut, r);
	default:
		return errstr_set("a run of unknown pages");
	}
}
