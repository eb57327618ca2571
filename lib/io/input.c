/*
 * Input streams from files or pipes: a reader looks at the next bytes and then
 * skips them. Nothing is allocated for a length that a stream claims until its
 * bytes have been read. Compressed streams are decompressed: inflate.c.
 */
#include "full.h"
#include "io.h"
#include "io/gzip/gzip.h"
#include "vec.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Open the file at path as a stream. If path is NULL or "-", use standard
 * input. The caller closes the stream with input_close(). Return the stream, or
 * NULL with errstr set.
 */
struct input *
input_open(const char *path)
{
	int fd;

	if (path != NULL && strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	else if (isatty(STDIN_FILENO)) {
		errstr_set("standard input is a terminal; name a file");
		return NULL;
	} else {
		path = "standard input";
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	}
	if (fd == -1) {
		errstr_sys("%s", path);
		return NULL;
	}
	return input_fd(path, fd);
}

/*
 * Return a stream called name without a descriptor, with room for cap bytes, or
 * NULL with errstr set.
 */
static struct input *
input_new(const char *name, size_t cap)
{
	struct input *in;

	if ((in = mem_new(1, sizeof *in)) == NULL)
		return NULL;
	in->fd = -1;
	in->cap = cap;
	in->size = in->most = in->real = UINT64_MAX;
	if ((in->name = str_dup(name)) != NULL &&
	    (in->buf = malloc(cap)) != NULL)
		return in;
	errstr_set("out of memory");
	input_close(in);
	return NULL;
}

/*
 * Make a stream called name from descriptor fd. The stream owns fd, which is
 * closed even on failure. Return the stream, or NULL with errstr set.
 */
struct input *
input_fd(const char *name, int fd)
{
	struct input *in;
	struct stat st;

	if ((in = input_new(name, INPUT_CHUNK)) == NULL) {
		close(fd);
		return NULL;
	}
	in->fd = fd;
	if (fstat(fd, &st) == -1)
		errstr_sys("%s", name);
	else if (S_ISDIR(st.st_mode))
		errstr_set("%s: is a directory", name);
	else {
		in->st = st;
		if (!S_ISREG(st.st_mode))
			return in;
		in->origin = lseek(in->fd, 0, SEEK_CUR);
		in->real = room_real(in->fd, &st, in->origin);
		in->size = st.st_size < in->origin ? 0 :
		    (uint64_t)(st.st_size - in->origin);
		(void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
		return in;
	}
	input_close(in);
	return NULL;
}

/*
 * Make a stream called name from a copy of the len bytes at data. Return the
 * stream, or NULL with errstr set.
 */
struct input *
input_memory(const char *name, const void *data, size_t len)
{
	struct input *in;

	if ((in = input_new(name, len + 1)) == NULL)
		return NULL;
	if (len > 0)
		memcpy(in->buf, data, len);
	in->end = len;
	in->size = in->real = len;
	in->eof = true;
	return in;
}

/*
 * Return true if in reads a regular file that was written after in was opened.
 */
bool
input_changed(const struct input *in)
{
	struct stat st;

	return in->real != UINT64_MAX && in->fd != -1 &&
	    fstat(in->fd, &st) == 0 && (st.st_size != in->st.st_size ||
	    st.st_mtim.tv_sec != in->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != in->st.st_mtim.tv_nsec);
}

/*
 * Free the decompressor of stream in, if it has one.
 */
void
input_unpacked(struct input *in)
{
	if (in->packed == NULL)
		return;
	in->inflater->free(in->state);
	in->packed->fd = -1;
	input_close(in->packed);
	in->packed = NULL;
}

/*
 * Close and free stream in, which may be NULL.
 */
void
input_close(struct input *in)
{
	if (in == NULL)
		return;
	input_unpacked(in);
	fd_drop(in->fd);
	gzipfile_free(in->gzfile);
	free(in->name);
	free(in->buf);
	free(in);
}

/*
 * Add to in->sums the skipped bytes in the buffer that have not been added yet.
 */
static void
input_tally(struct input *in)
{
	if (in->sums != NULL)
		sums_add(in->sums, in->buf + in->verified, in->start -
		    in->verified);
	in->verified = in->start;
}

/*
 * Drop bytes beyond position in->most from the buffer.
 */
static void
input_trim(struct input *in)
{
	uint64_t left;

	left = in->most > in->pos ? in->most - in->pos : 0;
	if (in->end - in->start >= left) {
		in->end = in->start + (size_t)left;
		in->eof = true;
	}
}

/*
 * Read into buf up to n bytes that follow the buffered bytes of stream in.
 * Return their number, 0 at the end, or -1 with errstr set.
 */
static ssize_t
input_read(struct input *in, uint8_t *buf, size_t n)
{
	uint64_t at;
	ssize_t r;

	if (in->random) {
		at = in->pos + (in->end - in->start);
		if (at >= in->size)
			return 0;
		if (n > in->size - at)
			n = (size_t)(in->size - at);
		/* stay in one megabyte, since the next may be damaged */
		if (n > SUM_BYTES - at % SUM_BYTES)
			n = (size_t)(SUM_BYTES - at % SUM_BYTES);
		/* the next moment of a series removes the trailer */
		return input_some(in, buf, n, at);
	}
	if (in->packed != NULL)
		return in->inflater->read(in->packed, in->state, buf, n);
	do
		r = read(in->fd, buf, n);
	while (r == -1 && errno == EINTR);
	return r == -1 ? errstr_sys("read") : r;
}

/*
 * Read more bytes into the buffer. Return 0, even at the end of the stream, or
 * -1 with errstr set.
 */
static int
input_more(struct input *in)
{
	uint8_t *p;
	ssize_t n;

	if (in->end == in->cap) {
		if ((p = realloc(in->buf, in->cap * 2)) == NULL)
			return errstr_set("out of memory");
		in->buf = p;
		in->cap *= 2;
	}
	n = input_read(in, in->buf + in->end, in->cap - in->end);
	if (n == -1)
		return -1;
	if (n == 0)
		in->eof = true;
	in->end += (size_t)n;
	progress_read(in->progress, (uint64_t)n);
	input_trim(in);
	return 0;
}

/*
 * Read until the buffer contains at least n bytes. They start at in->buf +
 * in->start. Return the number of bytes there. It is less than n at the end of
 * the stream or before an error; input_end() tells which.
 */
size_t
input_fill(struct input *in, size_t n)
{
	size_t have;

	have = in->end - in->start;
	if (have >= n)
		return have;
	if (in->start > 0) {
		input_tally(in);
		memmove(in->buf, in->buf + in->start, have);
		in->start = in->verified = 0;
		in->end = have;
	}
	while (in->end < n && !in->eof && !in->failed)
		if (input_more(in) == -1) {
			strlcpy(in->why, snap_errstr(), sizeof in->why);
			in->failed = true;
		}
	return in->end;
}

/*
 * Return the next n bytes of stream in, without skipping them. They are valid
 * until the next call. Return NULL if there are fewer; input_end() tells why.
 */
const uint8_t *
input_peek(struct input *in, size_t n)
{
	return input_fill(in, n) >= n ? in->buf + in->start : NULL;
}

/*
 * Return 0 if input_fill() had too few bytes because the stream ends, or -1
 * with errstr set if reading failed.
 */
int
input_end(const struct input *in)
{
	return in->failed ? errstr_set("%s", in->why) : 0;
}

/*
 * Skip the next n bytes of stream in; they must all be in the buffer.
 */
void
input_skip(struct input *in, size_t n)
{
	in->start += n;
	in->pos += n;
}

/*
 * Read n bytes of stream in, from position pos on, into buf. The size of the
 * stream must be known. Its current position does not change. Return the number
 * of bytes, which is less than n if the file became shorter, or -1 with errstr
 * set.
 */
ssize_t
input_some(struct input *in, void *buf, size_t n, uint64_t pos)
{
	uint64_t first;
	size_t got;

	if (pos > in->size || n > in->size - pos)
		return errstr_set("byte %ju: need %zu bytes, but the stream "
		    "ends at byte %ju", (uintmax_t)pos, n,
		    (uintmax_t)in->size);
	if (in->gzfile != NULL)
		return gzipfile_read(in->gzfile, buf, n,
		    (uint64_t)in->origin + pos) == -1 ? -1 : (ssize_t)n;
	if (in->fd == -1) {
		first = in->pos - in->start;	/* position of buf[0] in the
						   stream */
		if (pos < first || pos - first > in->end ||
		    n > in->end - (pos - first))
			return errstr_set("cannot seek to byte %ju",
			    (uintmax_t)pos);
		memcpy(buf, in->buf + (size_t)(pos - first), n);
		return (ssize_t)n;
	}
	got = full_pread(in->fd, buf, n, (uint64_t)in->origin + pos);
	return got < n && errno != 0 ? errstr_sys("byte %ju",
	    (uintmax_t)(pos + got)) : (ssize_t)got;
}

/*
 * Read n bytes as input_some() does. If there are fewer bytes, this fails.
 * Return 0, or -1 with errstr set.
 */
int
input_pread(struct input *in, void *buf, size_t n, uint64_t pos)
{
	ssize_t got = input_some(in, buf, n, pos);

	if (got == -1 || got == (ssize_t)n)
		return got == -1 ? -1 : 0;
	return errstr_set("byte %ju: the file became shorter",
	    (uintmax_t)pos + (uintmax_t)got);
}

/*
 * Move to position pos of stream in, and use random access from then on. The
 * size of the stream must be known. Return 0, or -1 with errstr set.
 */
int
input_seek(struct input *in, uint64_t pos)
{
	uint64_t first;

	first = in->pos - in->start;	/* position of buf[0] in the stream */
	if (pos >= first && pos - first <= in->end) {
		in->start = (size_t)(pos - first);
		in->pos = pos;
		return 0;
	}
	if (in->fd == -1 || pos > in->size)
		return errstr_set("cannot seek to byte %ju",
		    (uintmax_t)pos);
	in->random = true;
	in->start = in->end = in->verified = 0;
	in->pos = pos;
	in->eof = in->failed = false;
	return 0;
}

/*
 * Fill the buffer of in with the first n bytes of the stream, or with as many
 * as can be decompressed, even if the stream is damaged. Do nothing unless it
 * is a compressed file with random access.
 */
void
input_guess(struct input *in, size_t n)
{
	if (in->gzfile == NULL)
		return;
	in->random = true;
	in->failed = false;
	in->start = in->verified = 0;
	in->pos = 0;
	in->end = gzipfile_guess(in->gzfile, in->buf, n < in->cap ? n :
	    in->cap);
}

/*
 * Keep in memory at most mib MiB of the decompressed data of stream in. This
 * has no effect unless the stream is a compressed file with random access.
 */
void
input_keep(struct input *in, size_t mib)
{
	if (in->gzfile != NULL)
		gzipfile_keep(in->gzfile, mib);
}

/*
 * Set the size of stream in, which is compressed and damaged, to size bytes.
 * The caller knows the size from another source. Return 0, or -1 with errstr
 * set if that size is impossible.
 */
int
input_widen(struct input *in, uint64_t size)
{
	if (in->gzfile == NULL || size <= in->size || gzipfile_widen(
	    in->gzfile, size - in->size) == -1)
		return errstr_set("invalid stream length: %ju bytes",
		    (uintmax_t)size);
	in->size = size;
	return 0;
}

/*
 * Treat position pos as the end of the stream. pos must not be before the
 * current position.
 */
void
input_cut(struct input *in, uint64_t pos)
{
	in->most = pos;
	if (pos < in->size)
		in->size = pos;
	input_trim(in);
}

/*
 * From now on, add to sums all bytes of the stream that are skipped. If sums is
 * NULL, stop doing that.
 */
void
input_sum(struct input *in, struct sums *sums)
{
	input_tally(in);
	in->sums = sums;
}
