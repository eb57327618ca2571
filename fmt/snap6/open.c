/*
 * A snapshot by its path: a file or a pipe, compressed or not.
 */
#include "snap6.h"

/*
 * Read a snapshot, by read with options o, from a path, or from standard input
 * where it is NULL or "-"; it may be compressed with gzip or zstd.  Return it,
 * or NULL with errstr.
 */
struct snap *
snap6_stream(const char *path, const struct readopts *o,
    struct snap *(*read)(struct input *, const struct readopts *))
{
	struct input *in;
	struct snap *s;

	if ((in = input_open(path)) == NULL)
		return NULL;
	s = NULL;
	/* behind damage in a compressed one is more, but not in order */
	if (o != NULL && o->salvage && in->size == UINT64_MAX &&
	    input_spool(in) == -1)
		goto out;
	if (input_gunzip(in, o != NULL && o->salvage) == -1)
		goto out;
	if ((s = read(in, o)) != NULL)
		s->st = in->st;
out:
	input_close(in);
	return s;
}

/*
 * Read a snap(6) stream, and nothing else, from a path as snap6_stream, with
 * options o as snap6_read.  Return it, or NULL with errstr.
 */
struct snap *
snap6_open(const char *path, const struct readopts *o)
{
	return snap6_stream(path, o, snap6_read);
}
