/*
 * Streams that are compressed: what tells that, and which way.  gzip/in.c
 * inflates in order, and gzip/file.c at random; unzstd.c in order.
 */
#include "io.h"
#include "io/gzip/gzip.h"

#include <stdlib.h>
#include <string.h>

/*
 * Read a stream from here on as it was before zstd compressed it.
 */
static int
input_unzstd(struct input *in)
{
	uint8_t *fresh;

	if ((fresh = malloc(INPUT_CHUNK)) == NULL)
		return errstr_set("out of memory");
	in->unzstd = unzstd_new(in->fd, in->buf, in->end, in->cap, in->eof);
	in->buf = fresh;
	in->cap = INPUT_CHUNK;
	in->end = 0;
	in->eof = in->unzstd == NULL;
	in->origin = 0;
	in->size = UINT64_MAX;
	return in->unzstd == NULL ? errstr_wrap("%s", in->name) : 0;
}

/*
 * If a stream, of which nothing has been skipped, is compressed with gzip or
 * zstd, it is from here on what it was before, and its position and size are of
 * that.  The size is known of our own members in a regular file (snap(6)),
 * which can be read at random; what is wrong with the stream is told as it is
 * read.  With salvage, even a damaged file of our members can be.
 */
int
input_gunzip(struct input *in, bool salvage)
{
	uint8_t *fresh;
	uint64_t start;
	bool magic;

	magic = input_fill(in, 4) >= 2 && gzip_magic(in->buf, in->end);
	salvage = salvage && in->size >= GZIP_HEAD && in->end >= 4 &&
	    memcmp(in->buf, "proc", 4) != 0 &&
	    memcmp(in->buf, "\177ELF", 4) != 0;
	if (in->end >= 4 && unzstd_magic(in->buf, in->end))
		return input_unzstd(in);
	if (!magic && !salvage)
		return 0;
	start = (uint64_t)in->origin;
	if (in->size != UINT64_MAX && in->fd != -1 && gzipfile_open(&in->gzfile,
	    in->fd, start, start + in->size, salvage) == -1)
		return errstr_wrap("%s", in->name);
	if (!magic && in->gzfile == NULL)
		return 0;
	if ((fresh = malloc(INPUT_CHUNK)) == NULL)
		return errstr_set("out of memory");
	in->gunzip = gunzip_new(in->fd, in->buf, in->end, in->cap, in->eof);
	in->buf = fresh;
	in->cap = INPUT_CHUNK;
	in->end = 0;
	in->eof = in->gunzip == NULL;
	in->origin = 0;
	in->size = in->gzfile == NULL ? UINT64_MAX :
	    gzipfile_size(in->gzfile);
	return in->gunzip == NULL ? -1 : 0;
}

/*
 * Return true if the bytes of a stream are those of its descriptor, not
 * inflated.
 */
bool
input_plain(const struct input *in)
{
	return in->gunzip == NULL && in->unzstd == NULL;
}
