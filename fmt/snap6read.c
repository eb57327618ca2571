/*
 * Reading snap(6) streams, as man6/snap.6 tells: both
 * justifications, records in any order, sections that repeat.
 *
 * The reader is a loop over records; the segments of text and mem records
 * are read in snap6seg.c.
 */
#include "snap6read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 1000 };	/* data records of a process, by type */

const char *const snap6_field[F_MAX] = {
	[F_SEGMENT] = "segment",
	[F_FD] = "fd",
	[F_FPREGS] = "fpregs",
	[F_KREGS] = "kregs",
	[F_NOTEID] = "noteid",
	[F_NS] = "ns",
	[F_PROC] = "proc",
	[F_REGS] = "regs",
	[F_STATUS] = "status",
};

/*
 * Is this the type of a record that snap(6) has?
 */
bool
snap6_known(const char *name)
{
	int i;

	for (i = 0; i < F_MAX; i++)
		if (strcmp(name, snap6_field[i]) == 0)
			return true;
	return strcmp(name, "text") == 0 || strcmp(name, "mem") == 0;
}

/*
 * The stream has fewer bytes than it should.
 */
int
reader_short(struct reader *r, const char *what)
{
	const char *why;

	why = snap_errstr();
	if (*why != '\0')
		return errstr_wrap("%s", what);
	r->cut = true;
	r->at = r->in->pos + (r->in->end - r->in->start);
	return errstr_set("%s: the stream ends here", what);
}

/*
 * Read a number: 12 bytes, and one more while the last is a digit; blanks,
 * digits, blanks, the last byte a blank.
 */
int
read_num(struct reader *r, const char *what, uint64_t *num)
{
	const uint8_t *p;
	uint64_t v;
	size_t i, n;

	r->at = r->in->pos;
	for (n = SNAP6_NUM;; n++) {
		if ((p = input_peek(r->in, n)) == NULL)
			return reader_short(r, what);
		if (p[n - 1] < '0' || p[n - 1] > '9')
			break;
		if (n >= 64)
			return errstr_set("%s: a number of too many digits",
			    what);
	}
	for (i = 0; i < n && p[i] == ' '; i++)
		continue;
	if (i == n)
		return errstr_set("%s: blanks where a number belongs", what);
	for (v = 0; i < n && p[i] >= '0' && p[i] <= '9'; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
			return errstr_set("%s: the number is 2^64 or more",
			    what);
	for (; i < n && p[i] == ' '; i++)
		continue;
	if (i != n)
		return errstr_set("%s: byte 0x%02x in a number", what, p[i]);
	input_skip(r->in, n);
	*num = v;
	return 0;
}

/*
 * Read a line, of which some bytes have been read already, without its
 * newline into line (SNAP6_LINE bytes), with something else for a NUL.
 */
static int
read_line(struct reader *r, const char *what, size_t before, char nul,
    char *line)
{
	const uint8_t *p, *nl;
	size_t i, n, most;

	r->at = r->in->pos;
	most = SNAP6_LINE - before;
	n = input_fill(r->in, most);
	p = r->in->buf + r->in->start;
	if (n > most)
		n = most;
	if ((nl = memchr(p, '\n', n)) == NULL) {
		if (n == most)
			return errstr_set("%s: a line of more than %d bytes",
			    what, SNAP6_LINE);
		return reader_short(r, what);
	}
	n = (size_t)(nl - p);
	for (i = 0; i < n; i++)
		line[i] = p[i] == '\0' ? nul : (char)p[i];
	line[n] = '\0';
	input_skip(r->in, n + 1);
	return 0;
}

/*
 * Copy n bytes of the stream; memory grows as they come.
 */
static int
read_bytes(struct reader *r, struct buf *b, uint64_t n)
{
	size_t have;

	while (n > 0) {
		have = input_fill(r->in, 1);
		if (have == 0)
			return reader_short(r, "data");
		if (have > n)
			have = (size_t)n;
		buf_add(b, r->in->buf + r->in->start, have);
		if (buf_check(b) == -1)
			return -1;
		input_skip(r->in, have);
		n -= have;
	}
	return 0;
}

/*
 * How many bytes of the stream are left, as far as one can know.
 */
uint64_t
reader_rest(const struct reader *r)
{
	if (r->in->size == UINT64_MAX)
		return UINT64_MAX;
	return r->in->size > r->in->pos ? r->in->size - r->in->pos : 0;
}

/*
 * Does the stream go on as after a data record: with a header, or not at
 * all?
 */
static bool
at_record(struct reader *r)
{
	const uint8_t *p;
	size_t i, n;
	bool digit;

	n = input_fill(r->in, SNAP6_NUM);
	p = r->in->buf + r->in->start;
	for (i = 0, digit = n < SNAP6_NUM; i < n && i < SNAP6_NUM; i++) {
		if (p[i] >= '0' && p[i] <= '9')
			digit = true;
		else if (p[i] != ' ')
			return false;
	}
	return digit;
}

static int
read_data(struct reader *r, const char *name)
{
	struct buf b = { 0 };
	uint64_t len;

	if (r->proc->nfile >= FILES_MOST) {
		errstr_set("more than %d types of records", FILES_MOST);
		goto fail;
	}
	if (read_num(r, "length", &len) == -1)
		goto fail;
	if (len > reader_rest(r)) {
		errstr_set("length: %" PRIu64 " bytes, but only %" PRIu64
		    " are left", len, reader_rest(r));
		r->cut = true;
		goto fail;
	}
	if (read_bytes(r, &b, len) == -1)
		goto fail;
	if (!snap6_known(name) && !at_record(r)) {
		r->at = r->in->pos;
		errstr_set("a record type that is not known, and not data");
		goto fail;
	}
	return proc_setfile(r->proc, name, b.data, b.len);
fail:
	buf_free(&b);
	return -1;
}

static int
read_text(struct reader *r)
{
	if (r->proc->text == NULL &&
	    (r->proc->text = image_new(r->proc, IMAGE_TEXT)) == NULL)
		return -1;
	return read_segment(r, r->proc->text);
}

static int
read_mem(struct reader *r)
{
	uint64_t i, n;

	if (r->proc->mem == NULL &&
	    (r->proc->mem = image_new(r->proc, IMAGE_MEM)) == NULL)
		return -1;
	if (read_num(r, "count", &n) == -1)
		return -1;
	if (n > reader_rest(r) / (2 * SNAP6_NUM)) {
		r->cut = true;
		return errstr_set("count: %" PRIu64 " segments, but only %"
		    PRIu64 " bytes are left", n, reader_rest(r));
	}
	for (i = 0; i < n; i++)
		if (read_segment(r, r->proc->mem) == -1)
			return errstr_wrap("segment %" PRIu64, i);
	return 0;
}

/*
 * A record type is one word of ASCII.
 */
static bool
name_ok(const char *s)
{
	const char *start;

	for (start = s; *s > ' ' && *s < 0x7f; s++)
		continue;
	return s > start && *s == '\0';
}

static int
read_record(struct reader *r, const struct readopts *o)
{
	char name[SNAP6_LINE];
	uint64_t pid, start;
	int rc;

	start = r->in->pos;
	if (read_num(r, "record header: process id", &pid) == -1 ||
	    read_line(r, "record header", (size_t)(r->in->pos - start),
	    '\177', name) == -1)
		return -1;
	if (!name_ok(name))
		return errstr_set("process %" PRIu64 ": \"%.64s\" is not the "
		    "type of a record", pid, name);
	if ((r->proc = snap_find(r->snap, pid)) == NULL &&
	    (r->proc = snap_add(r->snap, pid)) == NULL)
		return -1;
	if (strcmp(name, "text") == 0)
		rc = read_text(r);
	else if (strcmp(name, "mem") == 0)
		rc = read_mem(r);
	else
		rc = read_data(r, name);
	if (rc == -1)
		return errstr_wrap("process %" PRIu64 ": %.64s", pid, name);
	snprintf(r->last, sizeof r->last, "%.64s of process %" PRIu64, name,
	    pid);
	if (o != NULL && o->record != NULL)
		o->record(o->arg, pid, name, start, r->in->pos - start);
	return 0;
}

static int
read_stream(struct reader *r, const struct readopts *o)
{
	char line[SNAP6_LINE];
	const uint8_t *p;
	size_t n, magic;

	magic = sizeof SNAP6_MAGIC - 1;
	p = input_peek(r->in, magic);
	if (p == NULL && *snap_errstr() != '\0')
		return -1;
	if (p == NULL && r->in->end == r->in->start)
		return errstr_set("no snapshot: it is empty");
	if (p == NULL || memcmp(p, SNAP6_MAGIC, magic) != 0)
		return errstr_set("not a snapshot: it does not begin with "
		    "\"%s\"", SNAP6_MAGIC);
	if (read_line(r, "first line", 0, '?', line) == -1)
		return -1;
	if ((r->snap->header = strdup(line)) == NULL)
		return errstr_set("out of memory");
	if (o != NULL && o->record != NULL)
		o->record(o->arg, 0, line, 0, r->in->pos);
	while ((n = input_fill(r->in, 1)) > 0)
		if (read_record(r, o) == -1)
			return -1;
	return *snap_errstr() == '\0' ? 0 : -1;
}

/*
 * Read a snap(6) stream to its end.  Page data stays in the file, or goes
 * to a spool when it comes from a pipe; with o->nodata it is not kept at
 * all.  o->record is called for each record that was read: its process,
 * type, position and length.  NULL on an error, with the name of the input
 * and the byte in the error string; the last whole record too when the
 * stream was cut.
 */
struct snap *
snap6_read(struct input *in, const struct readopts *o)
{
	struct reader r;
	size_t i;

	memset(&r, 0, sizeof r);
	r.in = in;
	r.nodata = o != NULL && o->nodata;
	r.keep = o == NULL ? NULL : o->keep;
	r.keeper = o == NULL ? NULL : o->keeper;
	if ((r.snap = snap_new()) == NULL)
		return NULL;
	if (read_stream(&r, o) == -1) {
		if (r.cut)
			errstr_wrap("%s: byte %" PRIu64
			    " (the last whole record is %s)", in->name,
			    r.at, r.last[0] != '\0' ? r.last : "none");
		else
			errstr_wrap("%s: byte %" PRIu64, in->name, r.at);
		goto fail;
	}
	if (r.spool && spool_finish(r.src) == -1)
		goto fail;
	for (i = 0; i < r.snap->nproc; i++)
		if (linuxrec_apply(r.snap->proc[i]) == -1) {
			errstr_wrap("%s: process %" PRIu64, in->name,
			    r.snap->proc[i]->pid);
			goto fail;
		}
	return r.snap;
fail:
	snap_free(r.snap);
	return NULL;
}
