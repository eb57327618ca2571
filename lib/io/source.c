/*
 * Files and streams as sources of pages (lib/source.c), read in place or copied
 * to a spool.
 */
#include "source.h"
#include "io.h"
#include "io/gzip/gzip.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Make a source of snapshot s from the regular file at path. Its kilobytes are
 * adjacent. Opening the file has no side effects, whatever path refers to. A
 * confined program can open only ELF files. Return the source, or NULL with
 * errstr set.
 */
struct source *
source_open(struct snap *s, const char *path)
{
	int fd, rc;

	fd = helper_there() ? helper_ask('E', path, &rc) : regular_open(path);
	return fd == -1 ? NULL : source_file(s, fd, path, KB);
}

/*
 * Make a source of snapshot s that reads the stream *in, which must be a file
 * of known size. The kilobytes of the source are pitch bytes apart in the file.
 * A location in the source is a position in the stream plus in->origin. Return
 * the source, or NULL with errstr set.
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
 * Make a source of snapshot s from the whole stream in. The caller must not
 * have skipped any bytes of it. The source reads the stream's file, or a copy
 * in a temporary file. Return the source, or NULL with errstr set.
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
	/* drop the padding of the last kilobyte */
	if (ftruncate(source_fd(src), (off_t)in->pos) == -1) {
		errstr_sys("spool");
		return NULL;
	}
	((struct filesource *)src)->size = in->pos;
	return src;
}

/*
 * Copy a stream to a temporary file, and from then on read the stream from the
 * copy. The caller must not have skipped any bytes of the stream. It then has a
 * known size and can seek. Return 1 if everything was copied. Return 0 with
 * errstr set if reading stopped at an error. Return -1 with errstr set if the
 * copy cannot be written.
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
	in->start = in->end = in->verified = 0;
	in->pos = 0;
	in->eof = in->failed = in->random = false;
	return whole;
fail:
	close(fd);
	return -1;
}
