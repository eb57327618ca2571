/*
 * Streams that are compressed: what tells that, and which way.  gzip/in.c
 * inflates in order, and gzip/file.c at random; unzstd.c in order.
 */
#include "io.h"
#include "io/gzip/gzip.h"

#include <stdlib.h>
#include <string.h>

/*
 * Move what was read of a stream, and what comes behind it, to *packed, which
 * the caller inflates: in reads what comes of that, size bytes of it.
 */
static int
input_packed(struct input *in, uint64_t size, struct inbuf *packed)
{
	uint8_t *fresh;

	if ((fresh = malloc(INPUT_CHUNK)) == NULL)
		return errstr_set("out of memory");
	*packed = (struct inbuf){ .fd = in->fd, .buf = in->buf, .cap = in->cap,
	    .end = in->end, .eof = in->eof };
	in->buf = fresh;
	in->cap = INPUT_CHUNK;
	in->end = 0;
	in->eof = false;
	in->origin = 0;
	in->size = size;
	return 0;
}

/*
 * If stream in, of which nothing has been skipped, is compressed with gzip or
 * zstd, it is from here on what it was before, and its position and size are of
 * that.  The size is known of our own members in a regular file (snap(6)),
 * which can be read at random; what is wrong with the stream is told as it is
 * read.  With salvage, even a damaged file of our members can be.  Return 0, or
 * -1 with errstr.
 */
int
input_gunzip(struct input *in, bool salvage)
{
	struct inbuf packed;
	uint64_t start;
	bool magic;

	magic = input_fill(in, 4) >= 2 && gzip_magic(in->buf, in->end);
	salvage = salvage && in->size >= GZIP_HEAD && in->end >= 4 &&
	    memcmp(in->buf, "proc", 4) != 0 &&
	    memcmp(in->buf, "\177ELF", 4) != 0;
	if (in->end >= 4 && unzstd_magic(in->buf, in->end)) {
		if (input_packed(in, UINT64_MAX, &packed) == -1)
			return -1;
		in->unzstd = unzstd_new(packed);
		in->eof = in->unzstd == NULL;
		return in->eof ? errstr_wrap("%s", in->name) : 0;
	}
	if (!magic && !salvage)
		return 0;
	start = (uint64_t)in->origin;
	if (in->size != UINT64_MAX && in->fd != -1 && gzipfile_open(&in->gzfile,
	    in->fd, start, start + in->size, salvage) == -1)
		return errstr_wrap("%s", in->name);
	if (!magic && in->gzfile == NULL)
		return 0;
	if (input_packed(in, in->gzfile == NULL ? UINT64_MAX :
	    gzipfile_size(in->gzfile), &packed) == -1)
		return -1;
	in->gunzip = gunzip_new(packed);
	in->eof = in->gunzip == NULL;
	return in->eof ? errstr_wrap("%s", in->name) : 0;
}

/*
 * Return true if the bytes of stream in are those of its descriptor, not
 * inflated.
 */
bool
input_plain(const struct input *in)
{
	return in->gunzip == NULL && in->unzstd == NULL;
}
