/*
 * What snap(6) streams are made of: numbers, lines and runs of bytes, and the
 * names of records.
 */
#include "snap6read.h"

#include <inttypes.h>
#include <string.h>

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
int
read_line(struct reader *r, const char *what, size_t before, char nul,
    char line[SNAP6_LINE])
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
