/*
 * Numbers, lines and bytes of snap(6) streams, and the names of record types.
 */
#include "read.h"
#include "bisect.h"
#include "digits.h"

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

static const char pair[] =
    "0001020304050607080910111213141516171819"
    "2021222324252627282930313233343536373839"
    "4041424344454647484950515253545556575859"
    "6061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/*
 * Write the four digits of v, which is below 10^4, to s.
 */
void
num_last(char *s, uint32_t v)
{
	memcpy(s, pair + v / 100 * 2, 2);
	memcpy(s + 2, pair + v % 100 * 2, 2);
}

/*
 * Write the eight digits of v, which is below 10^8, to s.
 */
void
num_low(char *s, uint32_t v)
{
	num_last(s, v / SNAP6_LAST);
	num_last(s + SNAP6_LASTDIGITS, v % SNAP6_LAST);
}

/*
 * Write the number v to s, right-justified in 11 columns, and a blank after it.
 * Return a pointer to the end, at most SNAP6_NUMMOST bytes after s.
 */
char *
num_format(char *s, uint64_t v)
{
	uint64_t p10;
	char *p, *end;
	int n;

	for (n = 1, p10 = 10; n < 20 && v >= p10; n++)
		p10 *= 10;
	end = s + (n < SNAP6_NUM - 1 ? SNAP6_NUM - 1 : n);
	memset(s, ' ', SNAP6_NUM - 1);
	*end = ' ';
	for (p = end; v >= SNAP6_LOW; v /= SNAP6_LOW)
		num_low(p -= SNAP6_LOWDIGITS, (uint32_t)(v % SNAP6_LOW));
	for (; v >= 10; v /= 100)
		memcpy(p -= 2, pair + v % 100 * 2, 2);
	if (v > 0 || p == end)
		*--p = (char)('0' + v);
	return end + 1;
}

/*
 * Return true if name is a record type of snap(6).
 */
bool
snap6_known(const char *name)
{
	return PSEEK(snap6_field, F_MAX, strcmp(name, x) == 0) != NULL ||
	    strcmp(name, "text") == 0 || strcmp(name, "mem") == 0;
}

/*
 * Report p to r->o->part. If p.len is 0, it ends at the current position.
 */
void
reader_part(const struct reader *r, struct readpart p)
{
	if (r->o->part == NULL)
		return;
	if (p.len == 0)
		p.len = r->in->pos - p.at;
	r->o->part(r->o->arg, &p);
}

/*
 * Set errstr to say that the stream of r ends early. part is the name of the
 * part that was being read. Return -1.
 */
int
reader_short(struct reader *r, const char *part)
{
	if (input_end(r->in) == -1)
		return errstr_wrap("%s", part);
	r->fault.cut = true;
	r->fault.at = r->in->pos + (r->in->end - r->in->start);
	return errstr_set("%s: the stream ends here", part);
}

/*
 * Read a number into *num. It consists of blanks, digits and blanks: 12 bytes
 * in all, the last of which is a blank. If the twelfth byte is a digit instead,
 * the number ends with the first byte after it that is not a digit, which must
 * be a blank. label is the name of the number for messages. Return 0, or -1
 * with errstr set.
 */
int
read_num(struct reader *r, const char *label, uint64_t *num)
{
	const char *s, *end;
	const uint8_t *p;
	uint64_t v;
	size_t n;

	r->fault.at = r->in->pos;
	for (n = SNAP6_NUM;; n++) {
		if ((p = input_peek(r->in, n)) == NULL)
			return reader_short(r, label);
		if (p[n - 1] < '0' || p[n - 1] > '9')
			break;
		if (n >= 64)
			return errstr_set("%s: the number has too many "
			    "digits", label);
	}
	s = (const char *)p;
	for (end = s + n; s < end && *s == ' '; s++)
		continue;
	if (s == end)
		return errstr_set("%s: expected a number, found blanks", label);
	if ((s = digits_read(s, end, 10, &v)) == NULL)
		return errstr_set("%s: the number is 2^64 or more", label);
	for (; s < end && *s == ' '; s++)
		continue;
	if (s != end)
		return errstr_set("%s: invalid byte 0x%02x in a number", label,
		    (uint8_t)*s);
	input_skip(r->in, n);
	*num = v;
	return 0;
}

/*
 * Read the rest of a line into line (SNAP6_LINE bytes), without its newline.
 * Replace each NUL byte with nul. done is the number of bytes of the line that
 * were already read. label is its name for messages. Return 0, or -1 with
 * errstr set.
 */
int
read_line(struct reader *r, const char *label, size_t done, char nul,
    char line[SNAP6_LINE])
{
	const uint8_t *p, *nl;
	size_t i, n, most;

	r->fault.at = r->in->pos;
	most = SNAP6_LINE - done;
	n = input_fill(r->in, most);
	p = r->in->buf + r->in->start;
	if (n > most)
		n = most;
	if ((nl = memchr(p, '\n', n)) == NULL) {
		if (n == most)
			return errstr_set("%s: the line is longer than %d "
			    "bytes", label, SNAP6_LINE);
		return reader_short(r, label);
	}
	n = (size_t)(nl - p);
	for (i = 0; i < n; i++)
		line[i] = p[i] == '\0' ? nul : (char)p[i];
	line[n] = '\0';
	input_skip(r->in, n + 1);
	return 0;
}

/*
 * Append the next n bytes of the stream of r to b. Memory is allocated only as
 * the bytes arrive, because a damaged stream may state a huge n. Return 0, or
 * -1 with errstr set.
 */
int
read_bytes(struct reader *r, struct buf *b, uint64_t n)
{
	size_t have;

	while (n > 0) {
		have = input_fill(r->in, 1);
		if (have == 0)
			return reader_short(r, "data");
		if (have > n)
			have = (size_t)n;
		if (reader_hold(r, have) == -1)
			return -1;
		buf_add(b, r->in->buf + r->in->start, have);
		if (buf_check(b) == -1)
			return -1;
		input_skip(r->in, have);
		n -= have;
	}
	return 0;
}

/*
 * Return the number of bytes left in the stream of r, or UINT64_MAX if that is
 * unknown.
 */
uint64_t
reader_rest(const struct reader *r)
{
	if (r->in->size == UINT64_MAX)
		return UINT64_MAX;
	return r->in->size > r->in->pos ? r->in->size - r->in->pos : 0;
}

/*
 * Return true if r copies the raw pages while it reads the stream in order. It
 * does so for a pipe, which cannot be read again. It also does so for a
 * compressed file if there is a page store, so that pages need not be
 * decompressed again.
 */
bool
reader_copies(const struct reader *r)
{
	return r->in->size == UINT64_MAX ||
	    (r->o->store != NULL && !input_plain(r->in));
}

/*
 * Return true if r can read a trailer at the end of the stream first: the
 * stream is not to be scanned, and no pages are copied while it is read in
 * order.
 */
bool
reader_seeks(const struct reader *r)
{
	return !r->o->scan && !reader_copies(r);
}

/*
 * Add n to the number of bytes of memory that the description of the stream of
 * r takes. Return 0, or -1 with errstr set if the sum is too much for a stream
 * of this size.
 */
int
reader_hold(struct reader *r, uint64_t n)
{
	r->held += n;
	if (r->held <= input_room(r->in))
		return 0;
	return errstr_set("it would take %" PRIu64 " megabytes of memory, too "
	    "much for so small a file", r->held / (KB * KB));
}
