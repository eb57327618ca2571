/*
 * Reading a stream that zstd(1) compressed, from its beginning to its end:
 * frames one after another, as RFC 8878 has them.  libzstd inflates, and checks
 * the sum of a frame that has one.
 *
 * Where the library was not there when this was built, such a stream is known,
 * and not read.
 */
#include "io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ZSTD
#include <zstd.h>

struct unzstd {
	int		 fd;	/* borrowed */
	uint8_t		*buf;	/* owned; what was read from it */
	size_t		 cap;
	size_t		 start;
	size_t		 end;
	bool		 eof;
	uint64_t	 at;	/* of buf[start] in the compressed stream */
	bool		 inside; /* a frame */
	bool		 more;	/* has come of what was read than was taken */
	ZSTD_DStream	*z;	/* owned */
};
#endif

/*
 * Return whether what begins with these n bytes was compressed with zstd.
 */
bool
unzstd_magic(const uint8_t *p, size_t n)
{
	return n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0;
}

#ifdef ZSTD
/*
 * Inflate what comes from a descriptor (or nothing, where eof is true) behind
 * the first n of cap bytes in buf, which is owned from here on, and freed on
 * failure: NULL.
 */
struct unzstd *
unzstd_new(int fd, uint8_t *buf, size_t n, size_t cap, bool eof)
{
	struct unzstd *u;

	u = calloc(1, sizeof *u);
	if (u == NULL || (u->z = ZSTD_createDStream()) == NULL) {
		free(u);
		free(buf);
		errstr_set("out of memory");
		return NULL;
	}
	u->fd = fd;
	u->buf = buf;
	u->end = n;
	u->cap = cap;
	u->eof = eof;
	return u;
}

void
unzstd_free(struct unzstd *u)
{
	if (u == NULL)
		return;
	ZSTD_freeDStream(u->z);
	free(u->buf);
	free(u);
}

/*
 * Have some of the compressed stream at hand, if there is more of it.
 */
static int
unzstd_fill(struct unzstd *u)
{
	ssize_t r;

	if (u->start < u->end || u->eof)
		return 0;
	do
		r = read(u->fd, u->buf, u->cap);
	while (r == -1 && errno == EINTR);
	if (r == -1)
		return errstr_sys("read");
	u->eof = r == 0;
	u->start = 0;
	u->end = (size_t)r;
	return 0;
}

/*
 * Read the next bytes of what the frames hold, at most n, into buf.  Return how
 * many, 0 at the end, or -1 with errstr.
 */
ssize_t
unzstd_read(struct unzstd *u, void *buf, size_t n)
{
	ZSTD_outBuffer out = { buf, n, 0 };
	ZSTD_inBuffer in;
	size_t rc;

	while (out.pos == 0) {
		if (unzstd_fill(u) == -1)
			return -1;
		if (u->start == u->end && !u->more)
			return u->inside ? errstr_set("zstd: the file ends in "
			    "a frame, at byte %ju", (uintmax_t)u->at) : 0;
		in = (ZSTD_inBuffer){ u->buf + u->start, u->end - u->start,
		    0 };
		rc = ZSTD_decompressStream(u->z, &out, &in);
		if (ZSTD_isError(rc))
			return errstr_set("zstd: byte %ju: %s",
			    (uintmax_t)u->at, ZSTD_getErrorName(rc));
		u->start += in.pos;
		u->at += in.pos;
		u->inside = rc != 0;
		u->more = u->inside && out.pos == n;
	}
	return (ssize_t)out.pos;
}

/*
 * Return how many bytes of the compressed stream have been read.
 */
uint64_t
unzstd_taken(const struct unzstd *u)
{
	return u->at;
}
#else
struct unzstd *
unzstd_new(int fd, uint8_t *buf, size_t n, size_t cap, bool eof)
{
	(void)fd;
	(void)n;
	(void)cap;
	(void)eof;
	free(buf);
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
