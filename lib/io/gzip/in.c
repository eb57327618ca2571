/*
 * Reading a compressed stream from its beginning to its end.
 *
 * Of a stream of ours (member.c) a member is read whole, and what it holds is
 * given only when it is right.  A stream of anybody else's is inflated as it
 * comes, by zlib, which checks the sum when the member ends.  The first
 * member tells whose the stream is, and all others must be like it: a stream
 * of ours whose first header was damaged is not taken for another's.
 */
#include "gzip.h"
#include "num.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct gunzip {
	struct inbuf	 in;	/* owned; the compressed stream */
	uint64_t	 member; /* the one being read, from 1 */
	uint64_t	 begin;	/* where it begins */
	bool		 ours;
	uLong		 lens;	/* sum of the lengths of members so far */
	bool		 partial; /* the last member was not full */
	bool		 last;	/* the one that holds nothing was read */
	bool		 inside; /* a member of another's */
	z_stream	 z;
	uint8_t		*raw;	/* owned; what a member of ours held */
	size_t		 nraw;
	size_t		 given;	/* of it */
	bool		 failed; /* the error is in why */
	char		 why[512];
};

/*
 * Inflate the stream whose beginning is in the buffer in, which is owned from
 * here on, and freed on failure.  Return what gunzip_read reads, or NULL with
 * errstr.
 */
struct gunzip *
gunzip_new(struct inbuf in)
{
	struct gunzip *g;

	g = calloc(1, sizeof *g);
	if (g == NULL || inflateInit2(&g->z, MAX_WBITS + 16) != Z_OK) {
		free(g);
		free(in.buf);
		errstr_set("out of memory");
		return NULL;
	}
	g->in = in;
	return g;
}

/*
 * Free g, or NULL, and its buffer; the descriptor that it reads is left open.
 */
void
gunzip_free(struct gunzip *g)
{
	if (g == NULL)
		return;
	inflateEnd(&g->z);
	free(g->in.buf);
	free(g->raw);
	free(g);
}

/*
 * Read a member of ours, of which the header is at hand.
 */
static int
read_ours(struct gunzip *g, const struct gzhead *h)
{
	const uint8_t *lens;
	uint8_t len[4];
	size_t n;

	if (g->partial && h->raw > 0)
		return errstr_set("it should be the empty one that marks the "
		    "end: the one before it is not full");
	if (inbuf_fill(&g->in, h->len, &n) == -1)
		return -1;
	if (n < h->len)
		return errstr_set("the file ends in it, at byte %" PRIu64
		    "; it has %zu bytes", g->in.at + n, h->len);
	if (g->raw == NULL && (g->raw = malloc(GZIP_RAW)) == NULL)
		return errstr_set("out of memory");
	if (gzip_unpack(&g->z, g->in.buf + g->in.start, h, g->raw) == -1)
		return -1;
	if (h->head == GZIP_HEAD) {
		num_put(len, h->len, sizeof len);
		g->lens = crc32(g->lens, len, sizeof len);
	} else if ((lens = gzip_listed(g->in.buf + g->in.start, h,
	    &n)) == NULL ||
	    n != g->member - 1 || crc32(crc32(0, NULL, 0), lens,
	    (uInt)(4 * n)) != g->lens)
		return errstr_set("it lists other members than there are");
	g->nraw = h->raw;
	g->given = 0;
	g->partial = h->raw < GZIP_RAW;
	g->last = h->raw == 0;
	inbuf_take(&g->in, h->len);
	return 0;
}

/*
 * There are n bytes behind the last member, GZIP_HEAD or fewer.
 */
static int
read_end(struct gunzip *g, size_t n)
{
	if (n > 0)
		return errstr_set("these bytes behind the last member are "
		    "none");
	if (g->ours && !g->last)
		return errstr_set("the file ends where it should begin: it is "
		    "cut, for an empty member marks the end");
	return 0;
}

/*
 * Begin with the next member.  1; 0 at the end; or -1.
 */
static int
read_member(struct gunzip *g)
{
	const uint8_t *p;
	struct gzhead h;
	size_t n;
	int rc;

	g->member++;
	g->begin = g->in.at;
	if (inbuf_fill(&g->in, GZIP_HEAD, &n) == -1)
		return -1;
	p = g->in.buf + g->in.start;
	if (g->last || n == 0 || (!gzip_magic(p, n) && n != 1))
		return read_end(g, n);
	rc = n < GZIP_HEAD ? 0 : gzip_head(p, &h);
	if (rc == -1)
		return -1;
	if (g->member == 1)
		g->ours = rc == 1;
	if (g->ours && n < GZIP_HEAD)
		return errstr_set("the file ends in its header, at byte %"
		    PRIu64, g->in.at + n);
	if (g->ours != (rc == 1))
		return errstr_set("its header is %s the field SN, unlike that "
		    "of the first", rc == 1 ? "with" : "without");
	if (g->ours)
		return read_ours(g, &h) == -1 ? -1 : 1;
	if (inflateReset2(&g->z, MAX_WBITS + 16) != Z_OK)
		return errstr_set("out of memory");
	g->inside = true;
	return 1;
}

/*
 * Inflate some of a member of another's: how many bytes, 0 if they are not
 * there yet or the member ended, or -1.  What came before an error is given
 * first: inflate(3) tells of it again.
 */
static ssize_t
read_other(struct gunzip *g, void *buf, size_t most)
{
	z_stream *z = &g->z;
	size_t n, used;
	int rc;

	if (inbuf_fill(&g->in, 1, &n) == -1)
		return -1;
	if (n == 0 && z->msg == NULL)
		return errstr_set("the file ends in it, at byte %" PRIu64,
		    g->in.at);
	z->next_in = g->in.buf + g->in.start;
	z->avail_in = (uInt)n;
	z->next_out = buf;
	z->avail_out = (uInt)most;
	rc = inflate(z, Z_NO_FLUSH);
	used = n - z->avail_in;
	inbuf_take(&g->in, used);
	if (rc == Z_STREAM_END)
		g->inside = false;
	else if (rc == Z_MEM_ERROR)
		return errstr_set("out of memory");
	else if (rc != Z_OK && rc != Z_BUF_ERROR && z->avail_out == most)
		return errstr_set("byte %" PRIu64 ": %s", g->in.at,
		    z->msg == NULL ? "damaged" : z->msg);
	return (ssize_t)(most - z->avail_out);
}

/*
 * Read the next bytes of what the members of g hold, at most n and no more than
 * 1 gigabyte, into buf.  Return how many, 0 at the end, or -1 with errstr,
 * which is what each later call does.
 */
ssize_t
gunzip_read(struct gunzip *g, void *buf, size_t n)
{
	ssize_t got;

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

/*
 * Return how many bytes of the compressed stream g have been read.
 */
uint64_t
gunzip_taken(const struct gunzip *g)
{
	return g->in.at;
}
