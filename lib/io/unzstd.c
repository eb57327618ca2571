/*
 * Decompress a stream of zstd(1) sequentially: consecutive frames as in RFC
 * 8878. libzstd inflates, and checks the checksum of frames that have one.
 *
 * If libzstd was missing at build time, such a stream is recognized, but not
 * read.
 */
#include "io.h"
#include "vec.h"

#ifdef ZSTD
#include <zstd.h>

struct unzstd {
	bool		 inside; /* now in the middle of a frame */
	bool		 more;	/* libzstd may have more output without
				   further input */
	ZSTD_DStream	*z;	/* owned */
};
#endif

#ifdef ZSTD
static void
unzstd_free(void *state)
{
	struct unzstd *u = state;

	if (u != NULL)
		ZSTD_freeDStream(u->z);
	free(u);
}

/*
 * Decompress up to n bytes into buf. This is the read function of struct
 * inflater.
 */
static ssize_t
unzstd_read(struct input *packed, void *state, void *buf, size_t n)
{
	struct unzstd *u = state;
	ZSTD_outBuffer out = { buf, n, 0 };
	ZSTD_inBuffer in;
	size_t have, rc;

	while (out.pos == 0) {
		have = input_fill(packed, 1);
		if (have == 0 && input_end(packed) == -1)
			return -1;
		packed->cut = have == 0 && !u->more && u->inside;
		if (have == 0 && !u->more)
			return u->inside ? errstr_set("zstd: the file ends in "
			    "the middle of a frame, at byte %ju",
			    (uintmax_t)packed->pos) : 0;
		in = (ZSTD_inBuffer){ packed->buf + packed->start, have, 0 };
		rc = ZSTD_decompressStream(u->z, &out, &in);
		if (ZSTD_isError(rc))
			return errstr_set("zstd: byte %ju: %s",
			    (uintmax_t)packed->pos, ZSTD_getErrorName(rc));
		input_skip(packed, in.pos);
		u->inside = rc != 0;
		u->more = u->inside && out.pos == n;
	}
	return (ssize_t)out.pos;
}

/*
 * Set up the decompression of in->packed with libzstd for stream in. Return 0,
 * or -1 with errstr set.
 */
int
unzstd_begin(struct input *in)
{
	static const struct inflater inflater = { unzstd_read, unzstd_free };
	struct unzstd *u;

	in->inflater = &inflater;
	if ((u = in->state = mem_new(1, sizeof *u)) == NULL)
		return -1;
	u->z = ZSTD_createDStream();
	return u->z != NULL ? 0 : errstr_set("out of memory");
}
#else
static void
unzstd_free(void *state)
{
	(void)state;
}

int
unzstd_begin(struct input *in)
{
	static const struct inflater inflater = { NULL, unzstd_free };

	in->inflater = &inflater;
	return errstr_set("compressed with zstd, but this program was built "
	    "without it; use zstd -dc");
}
#endif
