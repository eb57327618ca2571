/*
 * Make the trailer while a stream is written: the index of its records and
 * pages, and its sums.
 *
 * The offsets of raw pages are not stored; they follow from the sizes of
 * everything before them. References lead to raw pages, which are numbered
 * through the stream.
 */
#include "trailer.h"
#include "bisect.h"
#include "num.h"
#include "record/record.h"
#include "vec.h"

enum {
	SLACK = 4 * 1024 * KB,	/* bytes by which the index may exceed 1% of the
				   stream until the stream is complete */
	REFER = 1 + 2 * SNAP6_NUM, /* length in bytes of a reference with short
				      numbers */
	HEADER = 2 * SNAP6_NUM + 5, /* number of bytes before the first line of
				       the trailer */
	PLACE_BITS = 38,	/* width of rawrun.place in bits */
	MAX_RAWRUN = (1 << 26) - 1
};

/*
 * Free the index in x, so that no index will be written.
 */
void
indexer_free(struct indexer *x)
{
	buf_free(&x->b);
	free(x->raw);
	x->raw = NULL;
	x->nraw = 0;
	x->off = true;
}

static void
put_num(struct indexer *x, uint64_t v)
{
	uint8_t s[10];
	size_t n;

	for (n = 0; v >= 0x80; v >>= 7)
		s[n++] = (uint8_t)(v | 0x80);
	s[n++] = (uint8_t)v;
	buf_add(&x->b, s, n);
}

/*
 * Append the difference v - base, modulo 2^64, to the index. It takes few bytes
 * if v is near base.
 */
static void
put_diff(struct indexer *x, uint64_t v, uint64_t base)
{
	uint64_t d;

	d = v - base;
	put_num(x, d << 1 ^ (d >> 63 != 0 ? UINT64_MAX : 0));
}

/*
 * Append the current run of pages to the index, if there is one.
 */
static void
run_end(struct indexer *x)
{
	if (x->n == 0)
		return;
	put_num(x, x->n << 2 | x->kind);
	if (x->kind == KIND_SAME) {
		put_num(x, x->bytes - x->n * REFER);
		put_diff(x, x->first, x->same);
		x->same = x->first + x->n;
	}
	x->n = 0;
}

/*
 * Add to the index x the start of a record of process pid; name is its type.
 */
void
indexer_record(struct indexer *x, uint64_t pid, const char *name)
{
	uint64_t type;

	x->records++;
	if (x->off)
		return;
	for (type = 0; type < F_MAX; type++)
		if (strcmp(name, snap6_field[type]) == 0)
			break;
	if (type == F_MAX)
		type = strcmp(name, "text") == 0 ? TYPE_TEXT :
		    strcmp(name, "mem") == 0 ? TYPE_MEM : TYPE_OTHER;
	put_diff(x, pid, x->pid);
	put_num(x, type);
	if (type == TYPE_OTHER) {
		put_num(x, strlen(name));
		buf_puts(&x->b, name);
	}
	x->pid = pid;
	x->segend = 0;
}

/*
 * Add n, the number of segments of a mem record, to the index x.
 */
void
indexer_segments(struct indexer *x, uint64_t n)
{
	if (!x->off)
		put_num(x, n);
}

/*
 * Add to the index x the start of a segment: its base, and its length len in
 * bytes.
 */
void
indexer_segment(struct indexer *x, uint64_t base, uint64_t len)
{
	if (x->off)
		return;
	run_end(x);
	put_diff(x, base, x->segend);
	put_num(x, len);
	x->segend = base + len;
}

static void
run_add(struct indexer *x, enum page_kind kind, uint64_t n)
{
	if (x->kind != kind)
		run_end(x);
	x->kind = kind;
	x->n += n;
}

/*
 * Remember n raw pages, so that later references to them can be found. place is
 * the position of the first of them among all pages of the stream. Return 0, or
 * -1 if memory runs out or place is too large.
 */
static int
raw_add(struct indexer *x, uint64_t place, uint64_t n)
{
	struct rawrun *r;

	r = x->nraw > 0 ? &x->raw[x->nraw - 1] : NULL;
	if (r != NULL && r->place + r->n == place &&
	    r->ordinal + r->n == x->ordinal && r->n + n <= MAX_RAWRUN) {
		r->n = (r->n + n) & MAX_RAWRUN;
		return 0;
	}
	if (place >> PLACE_BITS != 0)
		return -1;
	return VEC_ADD(x->raw, x->nraw, (struct rawrun){
	    .place = place & (((uint64_t)1 << PLACE_BITS) - 1),
	    .n = n & MAX_RAWRUN, .ordinal = x->ordinal });
}

/*
 * Add n raw pages to the index x. place is the position of the first of them
 * among all pages of the stream. n must be at most MAX_RAWRUN; a struct finding
 * never has more.
 */
void
indexer_raw(struct indexer *x, uint64_t place, uint64_t n)
{
	if (x->off)
		return;
	run_add(x, KIND_RAW, n);
	if (raw_add(x, place, n) == -1)
		indexer_free(x);
	x->ordinal += n;
}

/*
 * Add n all-zero kilobytes to the index x.
 */
void
indexer_zero(struct indexer *x, uint64_t n)
{
	if (!x->off)
		run_add(x, KIND_ZERO, n);
}

/*
 * Return the number of runs of raw pages that begin at or before place. place
 * is a position among all pages of the stream. The runs are spread evenly, so
 * the search begins at an estimate. Bisecting all runs would cause a cache miss
 * in nearly every step.
 */
static size_t
raw_before(const struct indexer *x, uint64_t place)
{
	const struct rawrun *r = x->raw;
	size_t from, to, step;

	if (x->nraw == 0 || place < r[0].place)
		return 0;
	if (place >= r[x->nraw - 1].place)
		return x->nraw;
	from = to = (size_t)((double)(place - r[0].place) /
	    (double)(r[x->nraw - 1].place - r[0].place) *
	    (double)(x->nraw - 1));
	for (step = 4; r[from].place > place; step *= 2) {
		to = from;
		from = step < from ? from - step : 0;
	}
	for (; to < x->nraw && r[to].place <= place; step *= 2) {
		from = to;
		to = step < x->nraw - to ? to + step : x->nraw;
	}
	return from + BISECT_WHILE(i, to - from, r[from + i].place <= place);
}

/*
 * Return the run of raw pages that contains place, a position among all pages
 * described. Return NULL if there is none.
 */
static const struct rawrun *
raw_find(struct indexer *x, uint64_t place)
{
	const struct rawrun *r;
	size_t n;

	if (x->found < x->nraw) {
		r = &x->raw[x->found]; /* consecutive searches usually have the
					  same result */
		if (place >= r->place && place - r->place < r->n)
			return r;
	}
	if ((n = raw_before(x, place)) == 0)
		return NULL;
	x->found = n - 1;
	r = &x->raw[x->found];
	return place - r->place < r->n ? r : NULL;
}

/*
 * Add to the index x n references, which take len bytes in the stream. They
 * refer to n consecutive raw pages. place is the position of the first of these
 * pages among all pages of the stream.
 */
void
indexer_same(struct indexer *x, uint64_t place, uint64_t n, uint64_t len)
{
	const struct rawrun *r;
	uint64_t part, first, each;

	for (each = len / n; n > 0 && !x->off; n -= part, place += part) {
		if ((r = raw_find(x, place)) == NULL) {
			indexer_free(x);
			return;
		}
		first = r->ordinal + (place - r->place);
		part = r->n - (place - r->place);
		if (part >= n)
			part = n;
		if (x->kind != KIND_SAME || x->n == 0 ||
		    x->first + x->n != first) {
			run_end(x);
			x->first = first;
			x->bytes = 0;
		}
		run_add(x, KIND_SAME, part);
		x->bytes += part == n ? len : part * each;
		len -= part * each;
	}
}

/*
 * Add the end of a record to the index x. len is the length of the record in
 * bytes, and pos is the offset in the stream where it ends. The index is
 * dropped if it has become too large.
 */
void
indexer_length(struct indexer *x, uint64_t len, uint64_t pos)
{
	if (x->off)
		return;
	run_end(x);
	put_num(x, len);
	if (x->b.failed || x->b.len > pos / 100 + SLACK ||
	    x->nraw * sizeof *x->raw > pos / 50 + SLACK)
		indexer_free(x);
}

/*
 * Append the beginning of the trailer to b: its first line, and its files
 * "before", "sums", "index" (if index is true) and "end". Of "end", append only
 * the header, not the contents.
 */
static void
trailer_files(struct buf *b, const struct indexer *x, const struct sums *s,
    bool index)
{
	char before[64];
	uint8_t num[8];
	size_t i;

	buf_puts(b, TRAILER_FIRST);
	snprintf(before, sizeof before, "%" PRIu64 " %" PRIu64 "\n",
	    x->records, s->bytes);
	linuxrec_add(b, "before", before, strlen(before));
	linuxrec_head(b, "sums", strlen("sums"), s->n * sizeof num);
	for (i = 0; i < s->n; i++) {
		num_put(num, s->sum[i], sizeof num);
		buf_add(b, num, sizeof num);
	}
	if (index)
		linuxrec_add(b, "index", x->b.data, x->b.len);
	linuxrec_head(b, "end", strlen("end"), TRAILER_END);
}

/*
 * Build in b, which must be empty, the trailer with the checksums s and the
 * index x. The index is left out if the trailer with it would take more than 1%
 * of the stream. Return 0, or -1 with errstr set.
 */
int
trailer_make(struct buf *b, const struct indexer *x, const struct sums *s)
{
	struct buf files = { 0 };
	bool index;

	index = !x->off && !x->b.failed;
	trailer_files(&files, x, s, index);
	if (index && HEADER + files.len + TRAILER_END > s->bytes / 100) {
		buf_free(&files);
		trailer_files(&files, x, s, false);
	}
	buf_printf(b, "%11d proc\n%11zu ", 0, files.len + TRAILER_END);
	buf_add(b, files.data, files.len);
	b->failed |= files.failed;
	buf_free(&files);
	num_add(b, b->len + TRAILER_END, 8);
	if (buf_check(b) == -1)
		return -1;
	num_add(b, sums_of(b->data, b->len), 8);
	buf_add(b, TRAILER_MAGIC, 8);
	return buf_check(b);
}
