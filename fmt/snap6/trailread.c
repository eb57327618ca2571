/*
 * Find a trailer, and parse it: trailer.h. It has a sum of its own, so that
 * damage in it can be distinguished from damage in the stream.
 */
#include "record/record.h"
#include "trailer.h"
#include "num.h"

#define HEADER		"          0 proc\n"
#define REWRITTEN	"0           proc\n"	/* as Plan 9 writes it */

enum {
	FIXED = 4 * KB		/* maximum length of a trailer without its files
				   "sums" and "index", in bytes */
};

/*
 * Judge from its first bytes whether the next record of the stream is a
 * trailer. Return TRAILER_LIKELY if it is; TRAILER_REWRITTEN or TRAILER_DAMAGED
 * if it is one whose header is not as we write it; or TRAILER_NONE if it is
 * none.
 */
enum trailer_kind
trailer_here(struct input *in)
{
	const char *proc = HEADER + SNAP6_NUM;
	const size_t at = TRAILER_HEAD + SNAP6_NUM;
	const uint8_t *p;

	if (input_fill(in, 1) == 0 || (in->buf[in->start] != ' ' &&
	    in->buf[in->start] != '0'))
		return TRAILER_NONE;
	p = input_peek(in, at + sizeof TRAILER_FIRST - 1);
	if (p == NULL || memcmp(p + at, TRAILER_FIRST, sizeof TRAILER_FIRST -
	    1) != 0 || memcmp(p + SNAP6_NUM, proc, strlen(proc)) != 0 ||
	    strspn((const char *)p, " 0") != SNAP6_NUM ||
	    memchr(p, '0', SNAP6_NUM) == NULL)
		return TRAILER_NONE;
	if (memcmp(p, HEADER, TRAILER_HEAD) == 0)
		return TRAILER_LIKELY;
	return memcmp(p, REWRITTEN, TRAILER_HEAD) == 0 ? TRAILER_REWRITTEN :
	    TRAILER_DAMAGED;
}

/*
 * Return true if the n bytes at p begin like a trailer. No other record of
 * process 0 may begin like that.
 */
bool
trailer_begins(const uint8_t *p, size_t n)
{
	return n >= sizeof TRAILER_FIRST - 1 &&
	    memcmp(p, TRAILER_FIRST, sizeof TRAILER_FIRST - 1) == 0;
}

/*
 * Return true if the n bytes at p, the last of a stream, end like a trailer.
 */
bool
trailer_ends(const uint8_t *p, size_t n)
{
	return n >= TRAILER_END && memcmp(p + n - 8, TRAILER_MAGIC, 8) == 0;
}

/*
 * Parse f, the file "before" of a trailer: two numbers separated by a blank,
 * and a newline.
 */
static int
parse_before(struct trailer *t, const struct recfile *f)
{
	char line[64], again[64];

	snprintf(line, sizeof line, "%.*s", (int)(f->len < 63 ? f->len : 63),
	    (const char *)f->data);
	*again = '\0';
	if (sscanf(line, "%20" SCNu64 " %20" SCNu64, &t->records,
	    &t->bytes) == 2)
		snprintf(again, sizeof again, "%" PRIu64 " %" PRIu64 "\n",
		    t->records, t->bytes);
	return *again != '\0' && strlen(again) == f->len &&
	    strcmp(line, again) == 0 ? 0 :
	    errstr_set("before: expected two numbers");
}

static int
parse_files(struct trailer *t)
{
	struct file rec = { NULL, t->data + TRAILER_HEAD + SNAP6_NUM,
	    t->len - TRAILER_HEAD - SNAP6_NUM };
	struct linuxrec r;
	struct recfile f;
	int rc;

	rc = linuxrec_open(&r, &rec);
	if (rc == 0 && !linuxrec_find(&r, "before", &f))
		rc = errstr_set("no file \"before\"");
	if (rc == 0)
		rc = parse_before(t, &f);
	if (rc == 0 && linuxrec_find(&r, "sums", &f)) {
		t->sums = f.data;
		t->nsums = f.len / 8;
	}
	if (rc == 0 && linuxrec_find(&r, "index", &f)) {
		t->index = f.data;
		t->nindex = f.len;
	}
	if (rc == 0 && (t->sums == NULL || t->nsums != t->bytes / SUM_BYTES +
	    (t->bytes % SUM_BYTES != 0)))
		rc = errstr_set("the number of checksums is wrong");
	linuxrec_close(&r);
	return rc;
}

/*
 * Parse the trailer in t->data, which begins at offset pos of the stream.
 */
static int
trailer_parse(struct trailer *t, uint64_t pos)
{
	const uint8_t *end;
	char want[SNAP6_NUM + 12];

	if (t->len < TRAILER_HEAD + SNAP6_NUM + sizeof TRAILER_FIRST - 1 +
	    TRAILER_END || !trailer_ends(t->data, t->len))
		return errstr_set("it does not end like a trailer");
	end = t->data + t->len - TRAILER_END;
	if (num_get(end, 8) != t->len)
		return errstr_set("it has %zu bytes, but states %" PRIu64,
		    t->len, num_get(end, 8));
	if (num_get(end + 8, 8) != sums_of(t->data, t->len - TRAILER_SUMMED))
		return errstr_set("its checksum does not match its bytes");
	snprintf(want, sizeof want, "%11zu ",
	    t->len - TRAILER_HEAD - SNAP6_NUM);
	if (memcmp(t->data, HEADER, TRAILER_HEAD) != 0 ||
	    memcmp(t->data + TRAILER_HEAD, want, SNAP6_NUM) != 0 ||
	    memcmp(t->data + TRAILER_HEAD + SNAP6_NUM, TRAILER_FIRST,
	    sizeof TRAILER_FIRST - 1) != 0)
		return errstr_set("it does not begin with a trailer header");
	if (parse_files(t) == -1)
		return -1;
	t->moved = t->bytes != pos;
	if (t->moved)
		return errstr_set("%" PRIu64 " bytes precede it, but it states "
		    "%" PRIu64, pos, t->bytes);
	return 0;
}

/*
 * Parse the record in b, which begins at offset pos of its stream, as the
 * trailer *t. t takes over the data of b, and t->pos becomes pos, even on
 * failure. Free t with trailer_free() in any case. Return 0. Return -1 with
 * errstr set if the record is not a valid trailer; t->moved is then true if
 * only the offset stated in the trailer is wrong.
 */
int
trailer_take(struct trailer *t, const struct buf *b, uint64_t pos)
{
	memset(t, 0, sizeof *t);
	t->pos = pos;
	t->data = b->data;
	t->len = b->len;
	return trailer_parse(t, pos);
}

/*
 * Return the maximum size in bytes of a trailer that begins at offset pos of
 * stream in.
 */
uint64_t
trailer_most(const struct input *in, uint64_t pos)
{
	uint64_t most, room;

	most = pos / 100 + pos / SUM_BYTES * 8 + FIXED;
	room = input_room(in);
	return most < room ? most : room;
}

/*
 * Read the last len bytes of the stream as the trailer t. Return 1; 0 with
 * errstr set if these bytes are not a valid trailer; or -1 with errstr set on a
 * read error.
 */
static int
trailer_read(struct trailer *t, struct input *in, uint64_t len)
{
	const uint64_t pos = in->size - len, most = trailer_most(in, pos);
	struct buf b = { 0 };
	ssize_t got;

	/* if it is too long to be a trailer, the part that is read is
	   rejected */
	b.len = (size_t)(len < most ? len : most);
	if ((b.data = mem_new(b.len, 1)) == NULL)
		return -1;
	got = input_some(in, b.data, b.len, pos);
	if (got == (ssize_t)b.len)
		return trailer_take(t, &b, pos) == 0;
	free(b.data);
	return got == -1 ? -1 : 0;
}

/*
 * Find the trailer at the end of a stream, and read it into t. Afterwards the
 * stream is at its start. Free t with trailer_free(). Return 1 if the trailer
 * is valid. Return 0 if there is none. If there is one that is not valid, also
 * return 0, but with errstr set and with t as trailer_take() leaves it. Return
 * -1 with errstr set on a read error.
 */
int
trailer_find(struct trailer *t, struct input *in)
{
	const uint8_t *p;
	uint64_t len;
	int rc;

	memset(t, 0, sizeof *t);
	if (in->size == UINT64_MAX || in->size < TRAILER_END)
		return 0;
	if (input_seek(in, in->size - TRAILER_END) == -1)
		return -1;
	rc = 0;
	p = input_peek(in, TRAILER_END);
	if (p != NULL && trailer_ends(p, TRAILER_END)) {
		len = num_get(p, 8);
		if (len <= in->size)
			rc = trailer_read(t, in, len);
	}
	if (input_seek(in, 0) == -1)
		return -1;
	return rc;
}

/*
 * Free the data of t, and clear t.
 */
void
trailer_free(struct trailer *t)
{
	free(t->data);
	memset(t, 0, sizeof *t);
}
