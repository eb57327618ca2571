/*
 * The runs of pages in an index: where in the stream each page is follows from
 * the sizes of all that is before it.
 */
#include "index.h"
#include "bisect.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * Take the next number of the index.  Return 0, or -1 with errstr.
 */
int
get_num(struct ixreader *x, uint64_t *num)
{
	uint64_t v;
	unsigned int shift;
	uint8_t c;

	for (v = 0, shift = 0;; shift += 7) {
		if (x->left == 0)
			return errstr_set("it ends too early");
		c = *x->p++;
		x->left--;
		if (shift == 63 && c > 1)
			return errstr_set("a number of more than 64 bits");
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			break;
	}
	*num = v;
	return 0;
}

/*
 * Take the next number, which is told by its difference from another.
 */
int
get_diff(struct ixreader *x, uint64_t from, uint64_t *num)
{
	uint64_t v;

	if (get_num(x, &v) == -1)
		return -1;
	*num = from + (v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
	return 0;
}

/*
 * Pass n bytes of the stream, which are of what was told.  Return 0; -1 with
 * errstr if it has fewer.
 */
int
index_advance(struct ixreader *x, uint64_t n)
{
	if (n > x->r->trailer.bytes - x->at)
		return errstr_set("more than there is");
	x->at += n;
	return 0;
}

/*
 * Note raw pages at x->at that can be referred to.
 */
static int
raw_note(struct ixreader *x, uint64_t n)
{
	struct rawrange *r;
	size_t cap;

	if (n == 0)
		return 0;
	r = x->nraw > 0 ? &x->raw[x->nraw - 1] : NULL;
	if (r != NULL && r->ordinal + r->n == x->ordinal &&
	    r->at + r->n * (KB + 1) == x->at + 1) {
		r->n += n;
		return 0;
	}
	if (x->nraw == x->cap) {
		cap = x->cap + x->cap / 2 + 16;
		if ((r = reallocarray(x->raw, cap, sizeof *r)) == NULL)
			return errstr_set("out of memory");
		x->raw = r;
		x->cap = cap;
	}
	r = &x->raw[x->nraw++];
	r->ordinal = x->ordinal;
	r->n = n;
	r->at = x->at + 1;
	return 0;
}

static int
run_raw(struct ixreader *x, struct segment *s, uint64_t n)
{
	struct reader *r = x->r;
	uint64_t at, bytes, cut;

	cut = KB - segment_kblen(s, s->kb + n - 1);
	bytes = n * (KB + 1) - cut;
	if (n > (r->trailer.bytes - x->at) / KB + 1)
		return errstr_set("more raw pages than there are");
	at = r->o->brief ? s->kb * r->src->pitch :
	    (uint64_t)r->in->origin + x->at + 1;
	if ((!r->o->brief && raw_note(x, n - (cut > 0)) == -1) ||
	    segment_append(s, n, r->src, at) == -1)
		return -1;
	x->ordinal += n;
	r->proc->count.raw += n;
	return index_advance(x, bytes);
}

static int
run_zero(struct ixreader *x, struct segment *s, uint64_t n)
{
	x->r->proc->count.zero += n;
	if (index_advance(x, n) == -1)
		return -1;
	return segment_append(s, n, NULL, 0);
}

/*
 * Return how many of the ranges of raw pages begin at or before the one of that
 * number.  They come about evenly, so that it is looked for from a guess on, in
 * steps that double: to bisect all would wait for memory at most steps.
 */
static size_t
raw_before(const struct ixreader *x, uint64_t ordinal)
{
	const struct rawrange *r = x->raw;
	size_t from, to, step;

	if (x->nraw == 0 || ordinal < r[0].ordinal)
		return 0;
	if (ordinal >= r[x->nraw - 1].ordinal)
		return x->nraw;
	from = to = (size_t)((double)(ordinal - r[0].ordinal) /
	    (double)(r[x->nraw - 1].ordinal - r[0].ordinal) *
	    (double)(x->nraw - 1));
	for (step = 4; r[from].ordinal > ordinal; step *= 2) {
		to = from;
		from = step < from ? from - step : 0;
	}
	for (; to < x->nraw && r[to].ordinal <= ordinal; step *= 2) {
		from = to;
		to = step < x->nraw - to ? to + step : x->nraw;
	}
	return from + BISECT_WHILE(i, to - from, r[from + i].ordinal <=
	    ordinal);
}

/*
 * The raw pages among which the one of that number is.
 */
static const struct rawrange *
raw_find(const struct ixreader *x, uint64_t ordinal)
{
	const struct rawrange *r;
	size_t i;

	i = raw_before(x, ordinal);
	if (i == 0)
		return NULL;
	r = &x->raw[i - 1];
	return ordinal - r->ordinal < r->n ? r : NULL;
}

static int
run_same(struct ixreader *x, struct segment *s, uint64_t n)
{
	const uint64_t each = 1 + 2 * SNAP6_NUM;
	const struct rawrange *raw;
	uint64_t more, first, skip, part;

	if (get_num(x, &more) == -1 || get_diff(x, x->same, &first) == -1)
		return -1;
	if (n > (x->r->trailer.bytes - x->at) / each ||
	    index_advance(x, n * each) == -1 || index_advance(x, more) == -1)
		return errstr_set("more references than there are");
	if (segment_kblen(s, s->kb + n - 1) != KB)
		return errstr_set("a reference for a short page");
	x->same = first + n;
	x->r->proc->count.same += n;
	if (x->r->o->brief)
		return segment_append(s, n, x->r->src, s->kb *
		    x->r->src->pitch);
	for (; n > 0; n -= part, first += part) {
		if ((raw = raw_find(x, first)) == NULL)
			return errstr_set("a reference to raw page %" PRIu64
			    ", which was not before it", first);
		skip = first - raw->ordinal;
		part = raw->n - skip < n ? raw->n - skip : n;
		if (segment_append(s, part, x->r->src, (uint64_t)
		    x->r->in->origin + raw->at + skip * (KB + 1)) == -1)
			return -1;
	}
	return 0;
}

/*
 * Read the runs of pages that fill a segment.  Return 0, or -1 with errstr.
 */
int
index_pages(struct ixreader *x, struct segment *s)
{
	size_t cap, rawcap;
	uint64_t v, n;
	int rc;

	while (s->kb < segment_kb(s)) {
		cap = s->cap;
		rawcap = x->cap;
		if (get_num(x, &v) == -1)
			return -1;
		n = v >> 2;
		if (n == 0 || n > segment_kb(s) - s->kb)
			return errstr_set("a run of %" PRIu64 " pages, where %"
			    PRIu64 " are left", n, segment_kb(s) - s->kb);
		if ((v & 3) == KIND_RAW)
			rc = run_raw(x, s, n);
		else if ((v & 3) == KIND_ZERO)
			rc = run_zero(x, s, n);
		else if ((v & 3) == KIND_SAME)
			rc = run_same(x, s, n);
		else
			rc = errstr_set("a run of unknown pages");
		if (rc == 0 && (s->cap > cap || x->cap > rawcap))
			rc = reader_hold(x->r, (s->cap - cap) *
			    sizeof *s->ext + (x->cap - rawcap) *
			    sizeof *x->raw);
		if (rc == -1)
			return -1;
	}
	return 0;
}
