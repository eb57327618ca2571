/*
 * Detect compressed streams. gunzip.c and unzstd.c decompress sequentially,
 * gzip/file.c at random.
 */
#include "io.h"
#include "io/gzip/gzip.h"
#include "vec.h"

/*
 * Put a decompressor in front of stream in, which from now on consists of the
 * decompressed bytes. size is their number, or UINT64_MAX if it is unknown. The
 * compressed stream, with its buffer, becomes in->packed. begin() sets up
 * in->inflater.
 */
static int
input_packed(struct input *in, uint64_t size, int (*begin)(struct input *))
{
	struct input *packed;
	uint8_t *fresh;

	packed = mem_new(1, sizeof *packed);
	fresh = malloc(INPUT_CHUNK);
	if (packed == NULL || fresh == NULL) {
		free(packed);
		free(fresh);
		return errstr_set("out of memory");
	}
	*packed = (struct input){ .fd = in->fd, .buf = in->buf, .cap = in->cap,
	    .end = in->end, .eof = in->eof, .size = UINT64_MAX,
	    .most = UINT64_MAX };
	in->packed = packed;
	in->buf = fresh;
	in->cap = INPUT_CHUNK;
	in->end = 0;
	in->origin = 0;
	in->size = size;
	in->eof = begin(in) == -1;
	return in->eof ? errstr_wrap("%s", in->name) : 0;
}

/*
 * If the stream is compressed with gzip or zstd, replace it with the
 * decompressed stream. The caller must not have skipped any bytes of it. A
 * stream that we wrote (snap(6)), in a regular file, has a known size and
 * allows random access. If salvage is set, this is so even if the stream is
 * damaged; later reads report the damage. Return 0, or -1 with errstr set.
 */
int
input_gunzip(struct input *in, bool salvage)
{
	uint64_t start;
	bool magic;

	magic = input_fill(in, 4) >= 2 && gzip_magic(in->buf, in->end);
	salvage = salvage && in->size >= GZIP_HEAD && in->end >= 4 &&
	    memcmp(in->buf, "proc", 4) != 0 &&
	    memcmp(in->buf, "\177ELF", 4) != 0;
	if (in->end >= 4 && memcmp(in->buf, "\x28\xb5\x2f\xfd", 4) == 0)
		return input_packed(in, UINT64_MAX, unzstd_begin);
	if (!magic && !salvage)
		return 0;
	start = (uint64_t)in->origin;
	if (in->size != UINT64_MAX && in->fd != -1 && gzipfile_open(&in->gzfile,
	    in->fd, start, start + in->size, salvage) == -1)
		return errstr_wrap("%s", in->name);
	if (!magic && in->gzfile == NULL)
		return 0;
	return input_packed(in, in->gzfile == NULL ? UINT64_MAX :
	    gzipfile_size(in->gzfile), gunzip_begin);
}

/*
 * Return true if the stream is not compressed.
 */
bool
input_plain(const struct input *in)
{
	return in->packed == NULL;
}

/*
 * Return true if the stream is compressed and ended too early.
 */
bool
input_iscut(const struct input *in)
{
	return in->packed != NULL && in->packed->cut;
}
