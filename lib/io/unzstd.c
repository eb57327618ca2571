/*
 * Reading a stream that zstd(1) compressed, from its beginning to its end:
 * frames one after another, as RFC 8878 has them.  libzstd inflates, and checks
 * the sum of a frame that has one.
 *
 * Where the library was not there when this was built, such a stream is known,
 * and not read.
 */
#include "io.h"
#include "io/gzip/gzip.h"

#include <stdlib.h>
#include <string.h>

#ifdef ZSTD
#include <zstd.h>

struct unzstd {
	struct inbuf	 in;	/* owned; the compressed stream */
	bool		 inside; /* a frame */
	bool		 more;	/* has come of what was read than was taken */
	ZSTD_DStream	*z;	/* owned */
};
#endif

/*
 * Return whether what begins with the n bytes at p was compressed with zstd
 * (RFC 8878).
 */
bool
unzstd_magic(const uint8_t *p, size_t n)
{
	return n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0;
}

#ifdef ZSTD
/*
 * Inflate the stream whose beginning is in the buffer in, which is owned from
 * here on, and freed on failure.  Return what unzstd_read reads, or NULL with
 * errstr.
 */
struct unzstd *
unzstd_new(struct inbuf in)
{
	struct unzstd *u;

	u = calloc(1, sizeof *u);
	if (u == NULL || (u->z = ZSTD_createDStream()) == NULL) {
		free(u);
		free(in.buf);
		errstr_set("out of memory");
		return NULL;
	}
	u->in = in;
	return u;
}

/*
 * Free u, or NULL, and its buffer; the descriptor that it reads is left open.
 */
void
unzstd_free(struct unzstd *u)
{
	if (u == NULL)
		return;
	ZSTD_freeDStream(u->z);
	free(u->in.buf);
	free(u);
}

/*
 * Read the next bytes of what the frames of u hold, at most n, into buf.
 * Return how many, 0 at the end, or -1 with errstr.
 */
ssize_t
unzstd_read(struct unzstd *u, void *buf, size_t n)
{
	ZSTD_outBuffer out = { buf, n, 0 };
	ZSTD_inBuffer in;
	size_t have, rc;

	while (out.pos == 0) {
		if (inbuf_fill(&u->in, 1, &have) == -1)
			return -1;
		if (have == 0 && !u->more)
			return u->inside ? errstr_set("zstd: the file ends in "
			    "a frame, at byte %ju", (uintmax_t)u->in.at) : 0;
		in = (ZSTD_inBuffer){ u->in.buf + u->in.start, have, 0 };
		rc = ZSTD_decompressStream(u->z, &out, &in);
		if (ZSTD_isError(rc))
			return errstr_set("zstd: byte %ju: %s",
			    (uintmax_t)u->in.at, ZSTD_getErrorName(rc));
		inbuf_take(&u->in, in.pos);
		u->inside = rc != 0;
		u->more = u->inside && out.pos == n;
	}
	return (ssize_t)out.pos;
}

/*
 * Return how many bytes of the compressed stream u have been read.
 */
uint64_t
unzstd_taken(const struct unzstd *u)
{
	return u->in.at;
}
#else
struct unzstd *
unzstd_new(struct inbuf in)
{
	free(in.buf);
	errstr_set("compressed with zstd, which this was built without: use "
	    "zstd -dc");
	return NULL;
}

void
unzstd_free(struct unzstd *u)
{
	(void)u;
}

ssize_t
unzstd_read(struct unzstd *u, void *buf, size_t n)
{
	(void)u;
	(void)buf;
	(void)n;
	return -1;
}

uint64_t
unzstd_taken(const struct unzstd *u)
{
	(void)u;
	return 0;
}
#endif
