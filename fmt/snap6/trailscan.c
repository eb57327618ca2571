/*
 * Handle a record that begins like a trailer, which a scan meets among the
 * records. It is the trailer if it is the last record and valid; the stream
 * must then match its checksums. Otherwise it is ignored, because no record of
 * a process begins like that: the stream is then read as one without trailer
 * and checksums.
 */
#include "read.h"
#include "num.h"
#include "vec.h"

/*
 * Append the next record of the stream to b, with its header. If it is too
 * large for a trailer, append only its header, and skip the rest.
 */
static int
trailer_bytes(struct reader *r, struct buf *b)
{
	const uint8_t *p;
	uint64_t len, pos;
	size_t n;

	pos = r->in->pos;
	if ((p = input_peek(r->in, TRAILER_HEAD + SNAP6_NUM)) == NULL)
		return reader_short(r, "record header");
	buf_add(b, p, TRAILER_HEAD + SNAP6_NUM);
	input_skip(r->in, TRAILER_HEAD);
	if (read_num(r, "length", &len) == -1)
		return -1;
	if (len <= trailer_most(r->in, pos))
		return read_bytes(r, b, len);
	for (; len > 0; len -= n) {
		if ((n = input_fill(r->in, 1)) == 0)
			return reader_short(r, "data");
		n = n < len ? n : (size_t)len;
		input_skip(r->in, n);
	}
	return 0;
}

/*
 * Compare the stream with the checksums and the number of records in its
 * trailer. Return 1 if they match; 0 with errstr set if the trailer is not
 * valid; or -1 with errstr set if the stream is damaged.
 */
static int
trailer_compare(struct reader *r)
{
	uint64_t mb;

	for (mb = 0; mb < r->sums->n; mb++)
		if (r->sums->sum[mb] != num_get(r->trailer.sums + mb * 8,
		    8)) {
			r->fault.at = mb * SUM_BYTES;
			return errstr_set("megabyte %" PRIu64 " is damaged: "
			    "its checksum does not match the trailer", mb);
		}
	if (r->trailer.records == r->records)
		return 1;
	errstr_set("%" PRIu64 " records precede it, but it states %" PRIu64,
	    r->records, r->trailer.records);
	return 0;
}

/*
 * Decide whether the record in b, which begins at offset pos, is the valid
 * trailer of the stream. r->trailer takes ownership of the data of b. Return 1
 * if the trailer is valid; 0 with errstr set if it is not; or -1 with errstr
 * set if the stream is damaged or cannot be read.
 */
static int
trailer_judge(struct reader *r, enum trailer_kind kind, const struct buf *b,
    uint64_t pos)
{
	bool sound, more;

	more = input_fill(r->in, 1) > 0;
	if (!more && input_end(r->in) == -1) {
		free(b->data);
		return -1;
	}
	trailer_free(&r->trailer);
	sound = trailer_take(&r->trailer, b, pos) == 0;
	r->snap->damaged = false;
	if (kind == TRAILER_REWRITTEN)
		errstr_set("another program has rewritten it");
	else if (more)
		errstr_set("records follow it");
	else {
		r->snap->damaged = true;
		return sound ? trailer_compare(r) : 0;
	}
	return 0;
}

/*
 * Record in the snapshot that the trailer at offset pos was rejected, for the
 * reason in errstr. Without a trailer there are no checksums.
 */
static int
trailer_refuse(struct reader *r, uint64_t pos)
{
	struct snap *s = r->snap;

	trailer_free(&r->trailer);
	s->trailer_error = str_printf("byte %" PRIu64 ": no trailer: %s", pos,
	    snap_errstr());
	if (s->trailer_error == NULL)
		return -1;
	if (s->damaged && r->o->salvage)
		salvage_say(r, "%s: %s; no checksums: data before the "
		    "trailer may also be damaged", r->in->name,
		    s->trailer_error);
	return 0;
}

/*
 * Read from r a record that begins like a trailer of the given kind. If it is
 * the valid trailer, compare the stream with its checksums. They cover all
 * bytes before the first such record. Return 0, or -1 with errstr set.
 */
int
read_trailer(struct reader *r, enum trailer_kind kind)
{
	const struct readopts *o = r->o;
	struct snap *s = r->snap;
	struct buf b = { 0 };
	uint64_t start;
	int rc;

	start = r->in->pos;
	input_sum(r->in, NULL);
	if (sums_end(r->sums) == -1 || trailer_bytes(r, &b) == -1) {
		buf_free(&b);
		return errstr_wrap("trailer");
	}
	if (o->record != NULL)
		o->record(o->arg, 0, "proc", start, r->in->pos - start);
	reader_part(r, (struct readpart){ .kind = PART_HEAD, .at = start,
	    .len = TRAILER_HEAD, .data = "proc" });
	reader_part(r, (struct readpart){ .kind = PART_DATA, .at = start +
	    TRAILER_HEAD, .data = b.data + TRAILER_HEAD + SNAP6_NUM,
	    .n = b.len - TRAILER_HEAD - SNAP6_NUM });
	if (s->trailer_error != NULL) {
		buf_free(&b);
		return 0;
	}
	if ((rc = trailer_judge(r, kind, &b, start)) == 0)
		return trailer_refuse(r, start);
	if (rc == -1)
		return -1;
	s->verified = true;
	s->verified_index = r->trailer.index != NULL;
	s->damaged = false;
	return 0;
}
