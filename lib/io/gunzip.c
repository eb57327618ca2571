/*
 * Decompress a gzip stream sequentially.
 *
 * In a stream that we wrote (member.c), each member is read completely, and its
 * contents are passed on only if they are correct. Any other stream is
 * inflated as it comes; zlib checks the checksum at the end of a member. The
 * first member shows which kind the stream is, and all others must be of the
 * same kind, so that a damaged first header of our own stream is not taken for
 * the other kind.
 */
#include "io.h"
#include "io/gzip/gzip.h"
#include "num.h"
#include "vec.h"

struct gunzip {
	struct input	*in;	/* borrowed; the compressed stream */
	uint64_t	 member; /* number of the current member, from 1 */
	uint64_t	 begin;	/* offset of the current member in the
				   compressed stream */
	bool		 ours;
	uLong		 lens; /* CRC-32 of the lengths of our members read so
				  far */
	bool		 partial; /* the last member had less than GZIP_RAW
				     bytes */
	bool		 last;	/* the empty member at the end was read */
	bool		 inside; /* the position is within a member that we did
				    not write */
	z_stream	 z;
	uint8_t		*raw;	/* owned; contents of the current member, if we
				   wrote it */
	size_t		 nraw;
	size_t		 given;	/* number of bytes of "raw" already passed on */
	bool		 failed; /* an error occurred; "why" describes it */
	char		 why[512];
};

/*
 * Decompress the current member, one of ours, into g->raw. Its header h is
 * still in the input buffer.
 */
static int
read_ours(struct gunzip *g, const struct gzhead *h)
{
	const uint8_t *lens;
	uint8_t len[4];
	size_t n;

	if (g->partial && h->raw > 0)
		return errstr_set("expected the empty end member: the previous "
		    "one is short");
	if ((n = input_fill(g->in, h->len)) < h->len && input_end(g->in) == -1)
		return -1;
	g->in->cut = n < h->len;
	if (g->in->cut)
		return gzip_cut(g->in->pos + n, h);
	if (g->raw == NULL && (g->raw = malloc(GZIP_RAW)) == NULL)
		return errstr_set("out of memory");
	if (gzip_unpack(&g->z, g->in->buf + g->in->start, h, g->raw) == -1)
		return -1;
	if (h->head == GZIP_HEAD) {
		num_put(len, h->len, sizeof len);
		g->lens = crc32(g->lens, len, sizeof len);
	} else if ((lens = gzip_listed(g->in->buf + g->in->start, h,
	    &n)) == NULL ||
	    n != g->member - 1 || crc32(crc32(0, NULL, 0), lens,
	    (uInt)(4 * n)) != g->lens)
		return errstr_set("its list of members is wrong");
	g->nraw = h->raw;
	g->given = 0;
	g->partial = h->raw < GZIP_RAW;
	g->last = h->raw == 0;
	input_skip(g->in, h->len);
	return 0;
}

/*
 * Check the end of the stream. n is the number of bytes that remain, up to
 * GZIP_HEAD.
 */
static int
read_end(struct gunzip *g, size_t n)
{
	if (n > 0)
		return errstr_set("trailing garbage after the last member");
	g->in->cut = g->ours && !g->last;
	if (g->in->cut)
		return errstr_set("missing: the file was cut off before the "
		    "empty end member");
	return 0;
}

/*
 * Begin the next member. Return 1; 0 at the end of the stream; or -1 with
 * errstr set.
 */
static int
read_member(struct gunzip *g)
{
	const uint8_t *p;
	struct gzhead h;
	size_t n;
	int rc;

	g->member++;
	g->begin = g->in->pos;
	if ((n = input_fill(g->in, GZIP_HEAD)) < GZIP_HEAD &&
	    input_end(g->in) == -1)
		return -1;
	p = g->in->buf + g->in->start;
	if (g->last || n == 0 || (!gzip_magic(p, n) && n != 1))
		return read_end(g, n);
	rc = n < GZIP_HEAD ? 0 : gzip_head(p, &h);
	if (rc == -1)
		return -1;
	if (g->member == 1)
		g->ours = rc == 1;
	g->in->cut = g->ours && n < GZIP_HEAD;
	if (g->in->cut)
		return errstr_set("its header is cut off at byte %"
		    PRIu64, g->in->pos + n);
	if (g->ours != (rc == 1))
		return errstr_set("its header %s the field SN, unlike the "
		    "first member's", rc == 1 ? "has" : "lacks");
	if (g->ours)
		return read_ours(g, &h) == -1 ? -1 : 1;
	if (inflateReset2(&g->z, MAX_WBITS + 16) != Z_OK)
		return errstr_set("out of memory");
	g->inside = true;
	return 1;
}

/*
 * Decompress a part of a member that we did not write. If there are bytes
 * before an error, return these first; the next call of inflate() reports the
 * error again. Return the number of bytes, 0 if there are none yet or the
 * member ended, or -1 with errstr set.
 */
static ssize_t
read_other(struct gunzip *g, void *buf, size_t most)
{
	z_stream *z = &g->z;
	size_t n, used;
	int rc;

	if ((n = input_fill(g->in, 1)) == 0 && input_end(g->in) == -1)
		return -1;
	g->in->cut = n == 0 && z->msg == NULL;
	if (g->in->cut)
		return errstr_set("cut off at byte %" PRIu64,
		    g->in->pos);
	z->next_in = g->in->buf + g->in->start;
	z->avail_in = (uInt)n;
	z->next_out = buf;
	z->avail_out = (uInt)most;
	rc = inflate(z, Z_NO_FLUSH);
	used = n - z->avail_in;
	input_skip(g->in, used);
	if (rc == Z_STREAM_END)
		g->inside = false;
	else if (rc == Z_MEM_ERROR)
		return errstr_set("out of memory");
	else if (rc != Z_OK && rc != Z_BUF_ERROR && z->avail_out == most)
		return errstr_set("byte %" PRIu64 ": %s", g->in->pos,
		    z->msg == NULL ? "damaged" : z->msg);
	return (ssize_t)(most - z->avail_out);
}

/*
 * Decompress up to n bytes (at most 1 GiB) into buf. Return the number of
 * bytes, 0 at the end, or -1 with errstr set. After an error, every later call
 * returns the same error. This is the read function of struct inflater.
 */
static ssize_t
gunzip_read(struct input *packed, void *state, void *buf, size_t n)
{
	struct gunzip *g = state;
	ssize_t got;

	g->in = packed;
	if (g->failed)
		return errstr_set("%s", g->why);
	for (got = 1; got >= 0;) {
		if (g->given < g->nraw) {
			if (n > g->nraw - g->given)
				n = g->nraw - g->given;
			memcpy(buf, g->raw + g->given, n);
			g->given += n;
			return (ssize_t)n;
		}
		if (g->inside) {
			if ((got = read_other(g, buf, n)) > 0)
				return got;
		} else if ((got = read_member(g)) == 0)
			return 0;
	}
	errstr_wrap("gzip member %" PRIu64 ", at byte %" PRIu64, g->member,
	    g->begin);
	strlcpy(g->why, snap_errstr(), sizeof g->why);
	g->failed = true;
	return -1;
}

static void
gunzip_free(void *state)
{
	struct gunzip *g = state;

	if (g == NULL)
		return;
	inflateEnd(&g->z);
	free(g->raw);
	free(g);
}

/*
 * Set up the decompression of in->packed with zlib for stream in. Return 0, or
 * -1 with errstr set.
 */
int
gunzip_begin(struct input *in)
{
	static const struct inflater inflater = { gunzip_read, gunzip_free };
	struct gunzip *g;

	in->inflater = &inflater;
	if ((g = in->state = mem_new(1, sizeof *g)) == NULL)
		return -1;
	return inflateInit2(&g->z, MAX_WBITS + 16) == Z_OK ? 0 :
	    errstr_set("out of memory");
}
