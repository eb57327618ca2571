/*
 * A part of a stream as a stream of its own.
 */
#include "io.h"
#include "io/gzip/gzip.h"

#include <fcntl.h>

/*
 * Make a stream called name from a part of stream in: n bytes at position pos.
 * The size of in must be known. The new stream stays valid after the other is
 * closed. Return the new stream, or NULL with errstr set.
 */
struct input *
input_part(const struct input *in, const char *name, uint64_t pos, uint64_t n)
{
	struct input *part;
	int fd;

	if (in->fd == -1 || pos > in->size || n > in->size - pos) {
		errstr_set("%s: cannot read %ju bytes at byte %ju", in->name,
		    (uintmax_t)n, (uintmax_t)pos);
		return NULL;
	}
	if ((fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 3)) == -1) {
		errstr_sys("%s", in->name);
		return NULL;
	}
	if ((part = input_fd(name, fd)) == NULL)
		return NULL;
	part->origin = in->origin + (off_t)pos;
	part->size = n;
	part->real = n < in->real ? n : in->real;
	part->random = true;
	if (in->gzfile != NULL)
		part->gzfile = gzipfile_share(in->gzfile);
	return part;
}
