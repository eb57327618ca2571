/*
 * Reading a snap(6) stream by its index, from which the model is made that
 * a scan would make: the records follow one another without gaps from the
 * first line to the trailer, the pages fill their records, and references
 * lead to raw pages before them.  The small files are read from their
 * places, pages are not; when they are, that each has its r before it is
 * seen, and the sum of their megabyte (summed.c).
 */
#include "snap6read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct rawrange {		/* raw pages that follow one another */
	uint64_t	 ordinal; /* of the first among all raw pages */
	uint64_t	 n;
	uint64_t	 at;	/* where the first page's bytes are */
};

struct ixreader {
	struct reader	*r;	/* borrowed */
	const uint8_t	*p;	/* of the index, what is left */
	size_t		 left;
	uint64_t	 at;	/* in the stream */
	uint64_t	 pid;
	uint64_t	 segend;
	uint64_t	 same;	/* behind the last raw page referred to */
	uint64_t	 ordinal; /* raw pages so far */
	struct rawrange	*raw;	/* owned; ascending */
	size_t		 nraw;
	size_t		 cap;
};

static int
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

static int
get_diff(struct ixreader *x, uint64_t from, uint64_t *num)
{
	uint64_t v;

	if (get_num(x, &v) == -1)
		return -1;
	*num = from + (v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
	return 0;
}

/*
 * How many bytes of the stream a number takes.
 */
static uint64_t
num_bytes(uint64_t v)
{
	uint64_t n;

	for (n = 2; v >= 10; v /= 10)
		n++;
	return n < SNAP6_NUM ? SNAP6_NUM : n;
}

/*
 * So many bytes of the stream are of what was told.
 */
static int
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
	uint64_t bytes, cut;

	cut = KB - segment_kblen(s, s->kb + n - 1);
	bytes = n * (KB + 1) - cut;
	if (n > (r->trailer.bytes - x->at) / KB + 1)
		return errstr_set("more raw pages than there are");
	if (raw_note(x, n - (cut > 0)) == -1 || segment_append(s, n, r->src,
	    (uint64_t)r->in->origin + x->at + 1) == -1)
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
 * The raw pages among which the one of that number is.
 */
static const struct rawrange *
raw_find(const struct ixreader *x, uint64_t ordinal)
{
	const struct rawrange *r;
	size_t lo, hi, mid;

	for (lo = 0, hi = x->nraw; hi - lo > 1;) {
		mid = lo + (hi - lo) / 2;
		if (x->raw[mid].ordinal <= ordinal)
			lo = mid;
		else
			hi = mid;
	}
	r = &x->raw[lo];
	return lo < x->nraw && ordinal >= r->ordinal &&
	    ordinal - r->ordinal < r->n ? r : NULL;
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

static int
index_pages(struct ixreader *x, struct segment *s)
{
	uint64_t v, n;
	int rc;

	while (s->kb < segment_kb(s)) {
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
		if (rc == -1)
			return -1;
	}
	return 0;
}

/*
 * Is that number what stands next in the stream?  Where that is damaged,
 * nobody can tell.
 */
static int
check_num(struct ixreader *x, const char *what, uint64_t num)
{
	char want[24], found[24];
	uint64_t at;
	size_t n;

	at = x->at;
	n = (size_t)num_bytes(num);
	snprintf(want, sizeof want, "%11" PRIu64 " ", num);
	if (index_advance(x, n) == -1)
		return -1;
	if (damage_in(&x->r->damage, at, at + n, NULL))
		return 0;
	if (input_pread(x->r->in, found, n, at) == -1)
		return -1;
	if (memcmp(found, want, n) != 0)
		return errstr_set("%s %" PRIu64 ", but in the stream \"%.*s\"",
		    what, num, (int)n, found);
	return 0;
}

static int
index_segment(struct ixreader *x, struct image *im)
{
	struct segment *s;
	uint64_t base, len;

	if (get_diff(x, x->segend, &base) == -1 || get_num(x, &len) == -1)
		return -1;
	x->segend = base + len;
	if (check_num(x, "base", base) == -1 ||
	    check_num(x, "length", len) == -1)
		return -1;
	if (len / KB > x->r->trailer.bytes - x->at)
		return errstr_set("a segment of %" PRIu64 " bytes", len);
	if ((s = segment_new(base, len)) == NULL)
		return -1;
	if (index_pages(x, s) == -1) {
		segment_free(s);
		return -1;
	}
	return image_insert(im, s);
}

/*
 * The segments of a text or mem record, behind its header.
 */
static int
index_image(struct ixreader *x, enum image_kind kind)
{
	struct image *im;
	uint64_t i, n;

	n = 1;
	if (kind == IMAGE_MEM && (get_num(x, &n) == -1 ||
	    check_num(x, "count", n) == -1))
		return -1;
	if ((im = reader_image(x->r, kind)) == NULL)
		return -1;
	for (i = 0; i < n; i++)
		if (index_segment(x, im) == -1)
			return errstr_wrap("segment %" PRIu64, i);
	return 0;
}

/*
 * The type of a record.
 */
static int
index_name(struct ixreader *x, uint64_t *type, char name[SNAP6_LINE])
{
	uint64_t n;

	if (get_num(x, type) == -1)
		return -1;
	if (*type > TYPE_OTHER)
		return errstr_set("a record of unknown type");
	if (*type < TYPE_OTHER) {
		strlcpy(name, *type == TYPE_TEXT ? "text" : *type ==
		    TYPE_MEM ? "mem" : snap6_field[*type], SNAP6_LINE);
		return 0;
	}
	if (get_num(x, &n) == -1)
		return -1;
	if (n == 0 || n >= SNAP6_LINE || n > x->left)
		return errstr_set("a type of %" PRIu64 " bytes", n);
	memcpy(name, x->p, (size_t)n);
	name[n] = '\0';
	x->p += n;
	x->left -= (size_t)n;
	return 0;
}

/*
 * Is that what stands in the stream where the record begins?
 */
static int
check_head(struct ixreader *x, const char *name)
{
	char found[SNAP6_LINE];
	uint64_t pid;

	if (input_seek(x->r->in, x->at) == -1 ||
	    read_head(x->r, &pid, found) == -1)
		return -1;
	if (pid != x->pid || strcmp(found, name) != 0)
		return errstr_set("%.64s of process %" PRIu64 ", but in the "
		    "stream there is %.64s of process %" PRIu64, name, x->pid,
		    found, pid);
	return 0;
}

static int
index_data(struct ixreader *x, const char *name)
{
	struct reader *r = x->r;
	uint64_t len;

	if (get_num(x, &len) == -1)
		return -1;
	if (damage_in(&r->damage, x->at, x->at + len, NULL)) {
		salvage_say(r, "process %" PRIu64 ": lost: %s", x->pid, name);
		return index_advance(x, len);
	}
	if (reader_check(r, x->at, x->at + len) == -1 ||
	    check_head(x, name) == -1 || read_data(r, name) == -1)
		return -1;
	if (r->in->pos - x->at != len)
		return errstr_set("a record of %" PRIu64 " bytes, but in the "
		    "stream it has %" PRIu64, len, r->in->pos - x->at);
	return index_advance(x, len);
}

static int
index_record(struct ixreader *x, const struct readopts *o)
{
	char name[SNAP6_LINE];
	struct reader *r = x->r;
	uint64_t start, type, len, head;
	int rc;

	start = r->at = x->at;
	if (get_diff(x, x->pid, &x->pid) == -1 ||
	    index_name(x, &type, name) == -1 || reader_proc(r, x->pid) == -1)
		return -1;
	head = num_bytes(x->pid) + strlen(name) + 1;
	x->segend = 0;
	if (type != TYPE_TEXT && type != TYPE_MEM)
		rc = index_data(x, name);
	else {
		rc = 0;
		if (!damage_in(&r->damage, start, start + head,
		    NULL))
			rc = check_head(x, name);
		if (rc == 0)
			rc = index_advance(x, head);
		if (rc == 0)
			rc = index_image(x, type == TYPE_TEXT ? IMAGE_TEXT :
			    IMAGE_MEM);
		if (rc == 0)
			rc = get_num(x, &len);
		if (rc == 0 && len != x->at - start)
			rc = errstr_set("a record of %" PRIu64 " bytes, but "
			    "its pages take %" PRIu64, len, x->at - start);
	}
	if (rc == -1) {
		r->at = start;
		return errstr_wrap("process %" PRIu64 ": %.64s", x->pid, name);
	}
	reader_done(r, o, name, start, x->at - start);
	return 0;
}

/*
 * Read what the index tells of; the first line has been read.
 */
int
read_index(struct reader *r, const struct readopts *o)
{
	struct ixreader x = { .r = r, .p = r->trailer.index,
	    .left = r->trailer.nindex, .at = r->in->pos };
	int rc;

	rc = reader_source(r);
	if (rc == 0 && !r->salvage)
		rc = reader_check(r, 0, x.at);
	if (rc == 0 && x.at > r->trailer.bytes)
		rc = errstr_set("the first line is longer than the stream");
	while (rc == 0 && x.left > 0)
		rc = index_record(&x, o);
	if (rc == 0 && (x.at != r->trailer.bytes ||
	    r->records != r->trailer.records)) {
		r->at = x.at;
		rc = errstr_set("it tells of %" PRIu64 " records, to byte %"
		    PRIu64, r->records, x.at);
	}
	free(x.raw);
	return rc == 0 ? 0 : errstr_wrap("index");
}
