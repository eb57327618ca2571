/*
 * What is read as a source of pages (lib/source.c): a file by its name, and
 * streams, as they are or kept in a spool.
 */
#include "source.h"
#include "io.h"
#include "io/gzip/gzip.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Make a source of snapshot s of a file by its path, with kilobytes one after
 * another.  Return NULL with errstr where it cannot be read or is no regular
 * file: whatever a path leads to, nothing happens to it.  A confined program
 * has ELF files alone.
 */
struct source *
source_open(struct snap *s, const char *path)
{
	int fd, rc;

	fd = helper_there() ? helper_ask('E', path, &rc) : regular_open(path);
	return fd == -1 ? NULL : source_file(s, fd, path, KB);
}

/*
 * Make a source of snapshot s of stream in, in a file whose size is known, with
 * kilobytes pitch bytes apart: locations are in->origin and the position.
 * Return it, or NULL with errstr.
 */
struct source *
input_source(struct snap *s, struct input *in, uint32_t pitch)
{
	int fd;

	if (in->gzfile != NULL)
		return gzipfile_source(s, in->gzfile, in->name, pitch);
	if ((fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 3)) == -1) {
		errstr_sys("%s", in->name);
		return NULL;
	}
	return source_file(s, fd, in->name, pitch);
}

/*
 * Make a source of snapshot s of all of stream in, of which nothing has been
 * skipped: the file that it is, or else a spool of it.  Return it, or NULL with
 * errstr.
 */
struct source *
source_input(struct snap *s, struct input *in)
{
	struct source *src;
	size_t n;
	int fd;

	if (in->size != UINT64_MAX && in->origin == 0 && input_plain(in)) {
		if ((fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 3)) == -1) {
			errstr_sys("%s", in->name);
			return NULL;
		}
		return source_file(s, fd, in->name, KB);
	}
	if ((src = source_spool(s)) == NULL)
		return NULL;
	progress_phase(in->progress, in->size == UINT64_MAX ? 0 : in->size);
	while ((n = input_fill(in, KB)) > 0) {
		n = n < KB ? n : KB;
		if (spool_add(src, in->buf + in->start, n) == -1)
			return NULL;
		input_skip(in, n);
	}
	if (input_end(in) == -1) {
		errstr_wrap("%s", in->name);
		return NULL;
	}
	if (spool_finish(src) == -1)
		return NULL;
	/* the last kilobyte was filled up */
	if (ftruncate(source_fd(src), (off_t)in->pos) == -1) {
		errstr_sys("spool");
		return NULL;
	}
	((struct filesource *)src)->size = in->pos;
	return src;
}

/*
 * Read all that is left of stream in, of which nothing has been skipped, into a
 * temporary file, which is the stream from here on: its size is known, and it
 * can be gone about in.  Return 1 if it could be read to its end; 0 if it ends
 * where it could not, and the error string tells why; -1 with errstr if it
 * cannot be kept.
 */
int
input_spool(struct input *in)
{
	uint64_t size;
	bool whole;
	size_t n;
	int fd;

	if ((fd = spool_file()) == -1)
		return -1;
	for (size = 0; (n = input_fill(in, 1)) > 0; size += n) {
		if (spool_write(fd, in->buf + in->start, n) == -1)
			goto fail;
		input_skip(in, n);
	}
	whole = input_end(in) == 0;
	if (lseek(fd, 0, SEEK_SET) == -1) {
		errstr_sys("spool");
		goto fail;
	}
	in->real = input_taken(in);
	input_unpacked(in);
	close(in->fd);
	in->fd = fd;
	in->origin = 0;
	in->size = size;
	in->start = in->end = in->summed = 0;
	in->pos = 0;
	in->eof = in->failed = in->random = false;
	return whole;
fail:
	close(fd);
	return -1;
}
