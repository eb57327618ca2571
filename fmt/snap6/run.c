/*
 * Read the numbers of an index, and its runs of pages. The offset of each page
 * in the stream follows from the sizes of everything before it.
 */
#include "index.h"

/*
 * All of these functions are inlined into runs_get(), so that a cursor is in
 * registers: an index has millions of runs.
 */

/*
 * Read the next number of the index into *num. Return 0, or -1 with errstr set.
 */
inline int
get_num(struct cursor *c, uint64_t *num)
{
	const uint8_t *p = c->p;
	uint64_t v;
	unsigned int shift;
	size_t n;

	*num = 0;
	for (v = 0, shift = 0, n = 0;; shift += 7, n++) {
		if (n == c->left)
			return errstr_set("the index ends too early");
		if (shift == 63 && p[n] > 1)
			return errstr_set("the number has more than 64 bits");
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
 * Read the next number of the index, which is stored as its difference from
 * base. Set *num to the number itself. Return 0, or -1 with errstr set.
 */
inline int
get_diff(struct cursor *c, uint64_t base, uint64_t *num)
{
	uint64_t v;

	if (get_num(c, &v) == -1)
		return -1;
	*num = base + (v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
	return 0;
}

/*
 * Advance by n bytes in the stream. The index describes the stream up to offset
 * end. Return 0, or -1 with errstr set if fewer than n bytes are left.
 */
inline int
cursor_advance(struct cursor *c, uint64_t n, uint64_t end)
{
	if (n > end - c->at)
		return errstr_set("more bytes than the stream has");
	c->at += n;
	return 0;
}

static inline int
raw_take(struct cursor *c, uint64_t end, uint64_t cut, struct pagesrun *r)
{
	if (r->n > (end - c->at) / KB + 1)
		return errstr_set("more raw pages than the stream has");
	r->first = c->ordinal;
	c->ordinal += r->n;
	return cursor_advance(c, r->n * (KB + 1) - cut, end);
}

static inline int
same_take(struct cursor *c, uint64_t end, uint64_t cut, struct pagesrun *r)
{
	const uint64_t each = 1 + 2 * SNAP6_NUM;
	uint64_t more;

	if (get_num(c, &more) == -1 || get_diff(c, c->same, &r->first) == -1)
		return -1;
	if (r->n > (end - c->at) / each ||
	    cursor_advance(c, r->n * each, end) == -1 ||
	    cursor_advance(c, more, end) == -1)
		return errstr_set("more references than the stream has");
	if (cut > 0)
		return errstr_set("a short page is listed as a reference");
	c->same = r->first + r->n;
	return 0;
}

static inline int
run_take(struct cursor *c, uint64_t end, uint64_t left, uint64_t cut,
    struct pagesrun *r)
{
	uint64_t v;

	if (get_num(c, &v) == -1)
		return -1;
	r->n = v >> 2;
	r->at = c->at;
	r->first = 0;
	r->before = c->ordinal;
	if (r->n == 0 || r->n > left)
		return errstr_set("a run of %" PRIu64 " pages, expected 1 to %"
		    PRIu64, r->n, left);
	if (r->n < left)
		cut = 0;
	switch (v & 3) {
	case KIND_RAW:
		r->kind = KIND_RAW;
		return raw_take(c, end, cut, r);
	case KIND_ZERO:
		r->kind = KIND_ZERO;
		return cursor_advance(c, r->n, end);
	case KIND_SAME:
		r->kind = KIND_SAME;
		return same_take(c, end, cut, r);
	default:
		return errstr_set("a run of pages of unknown kind");
	}
}

/*
 * Read up to max runs of pages of a segment from c into v. left is the number
 * of pages that the segment still lacks. cut is the number of bytes by which
 * its last page is shorter than a kilobyte. end is the offset where the stream
 * ends. Return the number of runs, or -1 with errstr set.
 */
int
runs_get(struct cursor *c, uint64_t end, uint64_t left, size_t cut,
    struct pagesrun *v, int max)
{
	struct cursor now = *c;
	int n;

	for (n = 0; n < max && left > 0; left -= v[n++].n)
		if (run_take(&now, end, left, cut, &v[n]) == -1)
			return -1;
	*c = now;
	return n;
}
