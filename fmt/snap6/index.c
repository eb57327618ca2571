/*
 * Read a snap(6) stream with its index, and make the same model as a scan
 * would. Records follow one another without gaps from the first line to the
 * trailer, their pages fill them, and references lead to earlier raw pages
 * (run.c). The small files are read from the stream; pages are not. When a page
 * is read later, its tag r and the sum of its megabyte are checked (checked.c).
 */
#include "index.h"

/*
 * Return the number of bytes that the number v takes up in a stream.
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
 * Advance x by n bytes in the stream.
 */
static int
advance(struct ixreader *x, uint64_t n)
{
	return cursor_advance(&x->c, n, x->r->trailer.bytes);
}

/*
 * Check that the next number in the stream is num, and skip it. label is its
 * name for messages. Omit the check in a damaged megabyte. Also omit it in a
 * compressed stream, where it could require decompressing thousands of
 * megabytes.
 */
static int
check_num(struct ixreader *x, const char *label, uint64_t num)
{
	char want[24], found[24];
	uint64_t at;
	size_t n;

	at = x->c.at;
	n = (size_t)num_bytes(num);
	snprintf(want, sizeof want, "%11" PRIu64 " ", num);
	if (advance(x, n) == -1)
		return -1;
	if (!input_plain(x->r->in) ||
	    damage_in(&x->r->damage, at, at + n, NULL))
		return 0;
	if (input_pread(x->r->in, found, n, at) == -1)
		return -1;
	if (memcmp(found, want, n) != 0)
		return errstr_set("%s is %" PRIu64 ", but the stream has "
		    "\"%.*s\"", label, num, (int)n, found);
	return 0;
}

/*
 * Describe the pages of run p in segment s, for a reader that does not need
 * their contents. All pages that are not zero become one extent.
 */
static int
run_brief(struct ixreader *x, struct segment *s, const struct pagesrun *p)
{
	struct source *src;
	size_t cap;

	cap = s->cap;
	src = p->kind == KIND_ZERO ? NULL : x->r->src;
	if (segment_append(s, p->n, src, s->kb * x->r->src->pitch) == -1)
		return -1;
	return s->cap == cap ? 0 : reader_hold(x->r, (s->cap - cap) *
	    sizeof *s->ext);
}

/*
 * From the index, read the runs of pages that fill segment s.
 */
static int
index_pages(struct ixreader *x, struct segment *s)
{
	const uint64_t kb = segment_kb(s), end = x->r->trailer.bytes;
	const size_t cut = KB - segment_kblen(s, kb - 1);
	const bool brief = x->r->o->brief;
	uint64_t count[] = { [KIND_RAW] = 0, [KIND_ZERO] = 0, [KIND_SAME] = 0 };
	struct pagesrun v[RUNS];
	int i, n, rc;

	rc = brief ? 0 : indexed_begin(x, s);
	while (s->kb < kb && rc == 0) {
		if (!brief && indexed_mark(x, s) == -1)
			return -1;
		if ((n = runs_get(&x->c, end, kb - s->kb, cut, v, RUNS)) == -1)
			return -1;
		for (i = 0; i < n; i++)
			count[v[i].kind] += v[i].n;
		if (!brief)
			rc = indexed_runs(x, s, v, n, cut);
		for (i = 0; brief && i < n && rc == 0; i++)
			rc = run_brief(x, s, &v[i]);
	}
	x->r->proc->count.raw += count[KIND_RAW];
	x->r->proc->count.zero += count[KIND_ZERO];
	x->r->proc->count.same += count[KIND_SAME];
	return rc;
}

static int
index_segment(struct ixreader *x, struct image *im)
{
	struct segment *s;
	uint64_t base, len;

	if (get_diff(&x->c, x->segend, &base) == -1 ||
	    get_num(&x->c, &len) == -1)
		return -1;
	x->segend = base + len;
	if (check_num(x, "base", base) == -1 ||
	    check_num(x, "length", len) == -1)
		return -1;
	if (len == 0)
		return 0;
	if (len / KB > x->r->trailer.bytes - x->c.at)
		return errstr_set("a segment of %" PRIu64 " bytes is longer "
		    "than the stream", len);
	if (reader_hold(x->r, HELD_SEGMENT) == -1 ||
	    (s = segment_new(base, len)) == NULL)
		return -1;
	if (index_pages(x, s) == -1) {
		segment_free(s);
		return -1;
	}
	return image_insert(im, s);
}

/*
 * Read the segments of one record from the index. kind says whether it is a
 * text or a mem record.
 */
static int
index_image(struct ixreader *x, enum image_kind kind)
{
	struct image *im;
	uint64_t i, n;

	n = 1;
	if (kind == IMAGE_MEM && (get_num(&x->c, &n) == -1 ||
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
 * Read a record type from the index. Set *type to the type, and name to its
 * name.
 */
static int
index_name(struct ixreader *x, uint64_t *type, char name[SNAP6_LINE])
{
	uint64_t n;

	if (get_num(&x->c, type) == -1)
		return -1;
	if (*type > TYPE_OTHER)
		return errstr_set("unknown record type");
	if (*type < TYPE_OTHER) {
		strlcpy(name, *type == TYPE_TEXT ? "text" : *type ==
		    TYPE_MEM ? "mem" : snap6_field[*type], SNAP6_LINE);
		return 0;
	}
	if (get_num(&x->c, &n) == -1)
		return -1;
	if (n == 0 || n >= SNAP6_LINE || n > x->c.left)
		return errstr_set("invalid record type length: %" PRIu64
		    " bytes", n);
	memcpy(name, x->c.p, (size_t)n);
	name[n] = '\0';
	x->c.p += n;
	x->c.left -= (size_t)n;
	return 0;
}

/*
 * Check that a record of process x->pid is at the current offset of the stream,
 * and that its type is the one called name.
 */
static int
check_head(struct ixreader *x, const char *name)
{
	char found[SNAP6_LINE];
	uint64_t pid;

	if (input_seek(x->r->in, x->c.at) == -1)
		return -1;
	if (trailer_here(x->r->in) != TRAILER_NONE)
		return errstr_set("unexpected trailer among the records");
	if (read_head(x->r, &pid, found) == -1)
		return -1;
	if (pid != x->pid || strcmp(found, name) != 0)
		return errstr_set("expected %.64s of process %" PRIu64
		    ", found %.64s of process %" PRIu64 " in the stream",
		    name, x->pid, found, pid);
	return 0;
}

static int
index_data(struct ixreader *x, const char *name)
{
	struct reader *r = x->r;
	uint64_t len;

	if (get_num(&x->c, &len) == -1)
		return -1;
	if (damage_in(&r->damage, x->c.at, x->c.at + len, NULL)) {
		salvage_say(r, "%s: lost: %s", pid_text(x->pid), name);
		return advance(x, len);
	}
	if (reader_check(r, x->c.at, x->c.at + len) == -1 ||
	    check_head(x, name) == -1 || read_data(r, name) == -1)
		return -1;
	if (r->in->pos - x->c.at != len)
		return errstr_set("length: %" PRIu64 " bytes, but the record "
		    "in the stream has %" PRIu64, len,
		    r->in->pos - x->c.at);
	return advance(x, len);
}

static int
index_record(struct ixreader *x)
{
	char name[SNAP6_LINE];
	struct reader *r = x->r;
	uint64_t start, type, len, head;
	int rc;

	start = r->fault.at = x->c.at;
	if (get_diff(&x->c, x->pid, &x->pid) == -1 ||
	    index_name(x, &type, name) == -1 || reader_proc(r, x->pid) == -1)
		return -1;
	head = num_bytes(x->pid) + strlen(name) + 1;
	x->segend = 0;
	if (type != TYPE_TEXT && type != TYPE_MEM)
		rc = index_data(x, name);
	else {
		rc = 0;
		if (input_plain(r->in) && !damage_in(&r->damage, start, start +
		    head, NULL))
			rc = check_head(x, name);
		if (rc == 0)
			rc = advance(x, head);
		if (rc == 0)
			rc = index_image(x, type == TYPE_TEXT ? IMAGE_TEXT :
			    IMAGE_MEM);
		if (rc == 0)
			rc = get_num(&x->c, &len);
		if (rc == 0 && len != x->c.at - start)
			rc = errstr_set("length: %" PRIu64 " bytes, but the "
			    "header and pages take %" PRIu64, len,
			    x->c.at - start);
	}
	if (rc == -1) {
		r->fault.at = start;
		return errstr_wrap("%s: %.64s", pid_text(x->pid), name);
	}
	reader_done(r, name, start, x->c.at - start);
	return 0;
}

/*
 * Read all records listed in the index. The first line has already been read.
 * Return 0, or -1 with errstr set.
 */
int
read_index(struct reader *r)
{
	struct ixreader x = { .r = r, .c = { .p = r->trailer.index,
	    .left = r->trailer.nindex, .at = r->in->pos } };
	int rc;

	rc = reader_source(r);
	if (rc == 0 && !r->o->salvage)
		rc = reader_check(r, 0, x.c.at);
	if (rc == 0 && x.c.at > r->trailer.bytes)
		rc = errstr_set("the first line extends past the end of "
		    "the stream");
	if (rc == 0 && (x.indexed = indexed_new(r)) == NULL)
		rc = -1;
	while (rc == 0 && x.c.left > 0)
		rc = index_record(&x);
	if (rc == 0 && (x.c.at != r->trailer.bytes ||
	    r->records != r->trailer.records)) {
		r->fault.at = x.c.at;
		rc = errstr_set("it lists %" PRIu64 " records up to byte %"
		    PRIu64 ", but the trailer states otherwise", r->records,
		    x.c.at);
	}
	if (x.indexed != NULL)
		indexed_end(x.indexed, r->held);
	return rc == 0 ? 0 : errstr_wrap("index");
}
