/*
 * Read the records of snap(6) streams: headers, small files, text and memory.
 * segment.c reads their segments.
 */
#include "read.h"

enum { MAX_FILES = 1000 };	/* maximum number of types of data records that
				   one process may have */

/*
 * Return true if a data record may end at the current position: the next bytes
 * begin like a header, or the stream ends.
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

/*
 * Read the length and the data of a data record from r into b.
 */
static int
read_body(struct reader *r, struct buf *b)
{
	uint64_t len;

	if (read_num(r, "length", &len) == -1)
		return -1;
	if (len > reader_rest(r)) {
		r->fault.cut = true;
		return errstr_set("length: %" PRIu64 " bytes, but only %"
		    PRIu64 " are left", len, reader_rest(r));
	}
	if (len > SNAP6_DATA)
		return errstr_set("length: %" PRIu64 " bytes, expected at most "
		    "%d", len, SNAP6_DATA);
	return read_bytes(r, b, len);
}

/*
 * Read the rest of a data record of r->proc; name is its type. Return 0, or -1
 * with errstr set.
 */
int
read_data(struct reader *r, const char *name)
{
	const uint64_t start = r->in->pos;
	struct buf b = { 0 };

	if (r->proc->nfile >= MAX_FILES && proc_file(r->proc, name) == NULL) {
		errstr_set("more than %d record types", MAX_FILES);
		goto fail;
	}
	if (reader_hold(r, HELD_RECORD) == -1 || read_body(r, &b) == -1)
		goto fail;
	if (trailer_ends(b.data, b.len) && input_fill(r->in, 1) == 0) {
		errstr_set("it ends like a trailer, but does not begin like "
		    "one");
		goto fail;
	}
	if (r->proc->pid == 0 && strcmp(name, "proc") == 0 &&
	    trailer_begins(b.data, b.len)) {
		errstr_set("its data begins like a trailer, but its header "
		    "does not");
		goto fail;
	}
	if (!snap6_known(name) && !at_record(r)) {
		r->fault.at = r->in->pos;
		errstr_set("unknown record type, which cannot be skipped as "
		    "data");
		goto fail;
	}
	reader_part(r, (struct readpart){ .kind = PART_DATA, .at = start,
	    .data = b.data, .n = b.len });
	return reader_keep(r, name, &b);
fail:
	buf_free(&b);
	return -1;
}

/*
 * Return r->proc's image of the given kind, ready for another record. Create
 * the image if there is none. Return NULL with errstr set on failure.
 */
struct image *
reader_image(struct reader *r, enum image_kind kind)
{
	struct image **im;

	im = kind == IMAGE_TEXT ? &r->proc->text : &r->proc->mem;
	if (*im == NULL)
		*im = image_new(r->proc, kind);
	if (*im != NULL)
		image_section(*im);
	return *im;
}

static int
read_mem(struct reader *r)
{
	struct image *im;
	const uint64_t start = r->in->pos;
	uint64_t i, n;

	r->memend = 0;
	if ((im = reader_image(r, IMAGE_MEM)) == NULL ||
	    read_num(r, "count", &n) == -1)
		return -1;
	if (n > reader_rest(r) / (2 * SNAP6_NUM)) {
		r->fault.cut = true;
		return errstr_set("count: %" PRIu64 " segments, but only %"
		    PRIu64 " bytes are left", n, reader_rest(r));
	}
	reader_part(r, (struct readpart){ .kind = PART_COUNT, .at = start,
	    .n = n });
	for (i = 0; i < n; i++)
		if (read_segment(r, im) == -1)
			return errstr_wrap("segment %" PRIu64, i);
	r->memend = UINT64_MAX;
	return 0;
}

/*
 * Return true if s is valid as a record type: one word of ASCII.
 */
static bool
name_ok(const char *s)
{
	const char *start;

	for (start = s; *s > ' ' && *s < 0x7f; s++)
		continue;
	return s > start && *s == '\0';
}

/*
 * Return true if another snapshot, appended to the first, begins at the current
 * position.
 */
static bool
another_begins(struct input *in)
{
	const size_t n = sizeof SNAP6_MAGIC - 1;
	const uint8_t *p;

	if (input_fill(in, 1) == 0 || in->buf[in->start] != SNAP6_MAGIC[0])
		return false;
	p = input_peek(in, n);
	return p != NULL && memcmp(p, SNAP6_MAGIC, n) == 0;
}

/*
 * Read the header of a record from r. Set *pid to its process ID, and name to
 * its type. Return 0, or -1 with errstr set.
 */
int
read_head(struct reader *r, uint64_t *pid, char name[SNAP6_LINE])
{
	uint64_t start;

	start = r->fault.at = r->in->pos;
	if (another_begins(r->in))
		return errstr_set("another snapshot begins here; merge them "
		    "with snapcat");
	if (read_num(r, "record header: process id", pid) == -1 ||
	    read_line(r, "record header", (size_t)(r->in->pos - start),
	    '\177', name) == -1)
		return -1;
	if (!name_ok(name))
		return errstr_set("%s: \"%.64s\" is not the type of a record",
		    pid_text(*pid), name);
	return 0;
}

/*
 * Set r->proc to the process with ID pid. Create it if there is none. Return 0,
 * or -1 with errstr set.
 */
int
reader_proc(struct reader *r, uint64_t pid)
{
	if ((r->proc = snap_find(r->snap, pid)) != NULL)
		return 0;
	if (reader_hold(r, HELD_PROC) == -1)
		return -1;
	r->proc = snap_add(r->snap, pid);
	return r->proc == NULL ? -1 : 0;
}

/*
 * Count a record of r->proc that was read, and report it to o->record. name is
 * the type of the record, start its offset in the stream, and len its length in
 * bytes.
 */
void
reader_done(struct reader *r, const char *name, uint64_t start, uint64_t len)
{
	r->records++;
	snprintf(r->fault.last, sizeof r->fault.last, "%.64s of %s", name,
	    pid_text(r->proc->pid));
	if (r->o->record != NULL)
		r->o->record(r->o->arg, r->proc->pid, name, start, len);
}

/*
 * Read one record from r. Return 0, or -1 with errstr set.
 */
int
read_record(struct reader *r)
{
	char name[SNAP6_LINE];
	struct image *im;
	uint64_t pid, start;
	int rc;

	start = r->in->pos;
	if (read_head(r, &pid, name) == -1 || reader_proc(r, pid) == -1)
		return -1;
	reader_part(r, (struct readpart){ .kind = PART_HEAD, .at = start,
	    .data = name, .pid = pid });
	if (strcmp(name, "text") == 0)
		rc = (im = reader_image(r, IMAGE_TEXT)) == NULL ? -1 :
		    read_segment(r, im);
	else if (strcmp(name, "mem") == 0)
		rc = read_mem(r);
	else
		rc = read_data(r, name);
	if (rc == -1)
		return errstr_wrap("%s: %.64s", pid_text(pid), name);
	reader_done(r, name, start, r->in->pos - start);
	return 0;
}
