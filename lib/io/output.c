/*
 * Output streams to files or pipes. Small pieces are collected in a buffer,
 * large ones are written directly, and zeros can become holes of a file.
 * newfile.c gives a file its name; io/gzip/out.c compresses.
 */
#include "io.h"
#include "io/gzip/gzip.h"
#include "vec.h"

#include <fcntl.h>
#include <unistd.h>

enum { SMALL = 288 * 1024 };

struct output {
	int		 fd;
	struct newfile	 file;	/* output file; path is NULL for standard
				   output */
	uint64_t	 pos;
	bool		 tail;	/* the stream now ends in a hole */
	bool		 failed; /* an error occurred; "why" describes it */
	char		 why[256];
	struct gzipout	*gz;	/* owned; compressor; NULL: not compressed */
	uint8_t		*small;	/* owned; buffer for small pieces */
	size_t		 nsmall;
	struct sums	*sums;	/* borrowed; checksums of bytes written; or
				   NULL */
	uint64_t	 written; /* number of bytes written to "fd", after
				     compression */
	struct written	 unbegun; /* range for which write-back has not
				     started */
	bool		 ended;	/* output_end() was called */
	bool		 published; /* output_publish() was called */
	struct progress	*progress; /* borrowed; or NULL */
	bool		 waits;	/* writing may block until a reader reads */
	bool		 muted;	/* write nothing, see output_mute() */
	bool		 framed; /* write the stream as frames of a move: see
				    frame.c */
};

/*
 * Open an output to path. If path is NULL or "-", use standard output, which
 * must not be a terminal. A file is readable only by its owner. For other kinds
 * of paths, see newfile.c. Return the output, or NULL with errstr set.
 */
struct output *
output_open(const char *path)
{
	struct output *o;

	if ((o = mem_new(1, sizeof *o)) == NULL ||
	    (o->small = mem_new(1, SMALL)) == NULL)
		goto fail;
	o->fd = STDOUT_FILENO;
	if (path != NULL && strcmp(path, "-") != 0) {
		if (newfile_open(&o->file, path) == -1)
			goto fail;
		o->fd = o->file.fd;
	} else if (isatty(STDOUT_FILENO)) {
		errstr_set("standard output is a terminal; "
		    "use -o file, > file or a pipe");
		goto fail;
	}
	return o;
fail:
	if (o != NULL)
		free(o->small);
	free(o);
	return NULL;
}

static void
output_fail(struct output *o, const char *what)
{
	if (!o->failed)
		snprintf(o->why, sizeof o->why, "%s: %s: %s",
		    o->file.path != NULL ? o->file.path : "standard output",
		    what, strerror(errno));
	o->failed = true;
}

/*
 * Write all n bytes at data to the descriptor of o. Set o->failed on an error.
 */
static void
output_write(struct output *o, const uint8_t *data, size_t n)
{
	ssize_t done;

	if (o->muted) {
		o->written += n;
		return;
	}
	if (o->framed && n > 0 && !o->failed) {
		progress_write(o->progress);
		if (frame_write(o->fd, FRAME_DATA, data, n) == -1)
			output_fail(o, "write");
		progress_write(o->progress);
		o->written += n;
		return;
	}

	for (; n > 0 && !o->failed; data += done, n -= (size_t)done) {
		if (o->waits)
			progress_write(o->progress);
		done = write(o->fd, data, n);
		if (o->waits)
			progress_write(o->progress);
		if (done == -1) {
			if (errno != EINTR)
				output_fail(o, "write");
			done = 0;
			continue;
		}
		if (output_isnew(o))
			disk_begin(&o->unbegun, o->fd, o->written,
			    (size_t)done);
		o->written += (uint64_t)done;
		o->tail = false;
	}
}

/*
 * Write the n compressed bytes at data. This is the write callback of
 * io/gzip/out.c.
 */
static int
output_packed(void *arg, const void *data, size_t n)
{
	struct output *o = arg;

	output_write(o, data, n);
	return o->failed ? -1 : 0;
}

/*
 * Write the n bytes at data, through the compressor if there is one.
 */
static void
output_pass(struct output *o, const void *data, size_t n)
{
	if (o->sums != NULL)
		sums_add(o->sums, data, n);
	if (o->gz == NULL)
		output_write(o, data, n);
	else if (!o->failed && gzipout_put(o->gz, data, n) == -1)
		output_fail(o, "compress");
}

/*
 * Make o compress with gzip everything that is written to it. Use the given
 * number of threads, or one for each processor if it is 0. Call this before
 * anything is written. Return 0, or -1 with errstr set.
 */
int
output_compress(struct output *o, int threads)
{
	o->gz = gzipout_new(threads, output_packed, o);
	return o->gz == NULL ? -1 : 0;
}

/*
 * Make o count and sum the bytes that are appended to it, but not write them,
 * until output_unmute() is called. Return false, with nothing changed, if o
 * writes no frames or compresses.
 */
bool
output_mute(struct output *o)
{
	if (!o->framed || o->gz != NULL)
		return false;
	(void)output_flush(o);
	o->muted = true;
	return true;
}

/*
 * Write a frame of type letter with the n bytes at data. It replaces the bytes
 * that were appended to o since output_mute().
 */
void
output_unmute(struct output *o, char letter, const void *data, size_t n)
{
	(void)output_flush(o);
	o->muted = false;
	if (!o->failed && frame_write(o->fd, letter, data, n) == -1)
		output_fail(o, "write");
}

/*
 * Make o write all of its data in frames of type FRAME_DATA, as a move of
 * processes requires. Call this before anything is written to o.
 */
void
output_frames(struct output *o)
{
	o->framed = true;
}

/*
 * Enlarge the buffer of pipe fd, if that is permitted, so that writer and
 * reader seldom wait for each other.
 */
static void
pipe_widen(int fd)
{
	enum { LARGE = 1 << 20 }; /* default of pipe-max-size: see pipe(7) */

	if (fcntl(fd, F_GETPIPE_SZ) < LARGE)
		(void)fcntl(fd, F_SETPIPE_SZ, LARGE);
}

/*
 * Make o record in p the start and the end of each write that may wait for a
 * reader. If o is a pipe, enlarge its buffer, since a long stream may follow.
 */
static void
output_watch(struct output *o, struct progress *p)
{
	struct stat st;

	o->progress = p;
	if (fstat(o->fd, &st) == -1)
		return;
	o->waits = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	    S_ISCHR(st.st_mode);
	if (S_ISFIFO(st.st_mode))
		pipe_widen(o->fd);
}

/*
 * Return the struct progress of o, or NULL if it has none.
 */
struct progress *
output_progress(const struct output *o)
{
	return o->progress;
}

/*
 * Open an output to path for a program, as output_open() does. If compress is
 * set, compress with all processors. Unless p is NULL, record in p the start
 * and the end of each write that may wait for a reader. Return the output, or
 * NULL with errstr set.
 */
struct output *
output_begin(const char *path, bool compress, struct progress *p)
{
	struct output *o;

	if ((o = output_open(path)) == NULL)
		return NULL;
	if (compress && output_compress(o, 0) == -1) {
		output_abort(o);
		return NULL;
	}
	output_watch(o, p);
	return o;
}

/*
 * Return 0, or -1 with errstr set if writing to o has failed.
 */
int
output_check(const struct output *o)
{
	return o->failed ? errstr_set("%s", o->why) : 0;
}

/*
 * Write everything that was appended to o. The compressor may still hold some
 * of it. Return 0, or -1 with errstr set if this or any earlier call failed.
 */
int
output_flush(struct output *o)
{
	output_pass(o, o->small, o->nsmall);
	o->nsmall = 0;
	return output_check(o);
}

/*
 * Return space in the buffer of o for at least n bytes. n must be at most a few
 * hundred. Set *most to the size of the space.
 */
char *
output_room(struct output *o, size_t n, size_t *most)
{
	if (SMALL - o->nsmall < n)
		(void)output_flush(o);
	*most = SMALL - o->nsmall;
	return (char *)o->small + o->nsmall;
}

/*
 * Append to o the bytes that were stored in the space from output_room(). The
 * argument end points behind the last of them. Nothing else must have been
 * written to o between the two calls.
 */
void
output_filled(struct output *o, const char *end)
{
	size_t n;

	n = (size_t)(end - ((char *)o->small + o->nsmall));
	o->pos += n;
	o->nsmall += n;
}

/*
 * Append the n bytes at data to o. output_flush() reports errors.
 */
void
output_put(struct output *o, const void *data, size_t n)
{
	if (SMALL - o->nsmall < n)
		(void)output_flush(o);
	o->pos += n;
	if (n >= SMALL)
		output_pass(o, data, n);
	else if (n > 0) {
		memcpy(o->small + o->nsmall, data, n);
		o->nsmall += n;
	}
}

/*
 * Return true if the next n bytes can be skipped as a hole. This requires that
 * the output is at the end of a regular file, and is not compressed.
 */
static bool
can_skip(const struct output *o, uint64_t n)
{
	struct stat st;
	off_t at;
	int flags;

	if (o->gz != NULL || fstat(o->fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (flags = fcntl(o->fd, F_GETFL)) == -1 || flags & O_APPEND ||
	    (at = lseek(o->fd, 0, SEEK_CUR)) == -1)
		return false;
	return at >= st.st_size && n <= (uint64_t)(INT64_MAX - at);
}

/*
 * Append n zeros to o, as a hole if o is a file that can have one.
 * output_flush() reports errors.
 */
void
output_hole(struct output *o, uint64_t n)
{
	static const uint8_t zero[SMALL];
	uint64_t part;

	if (n == 0 || output_flush(o) == -1)
		return;
	if (can_skip(o, n)) {
		o->pos += n;
		o->written += n;
		o->tail = true;
		if (lseek(o->fd, (off_t)n, SEEK_CUR) == -1)
			output_fail(o, "seek");
		return;
	}
	for (; n > 0 && !o->failed; n -= part) {
		part = n < sizeof zero ? n : sizeof zero;
		output_put(o, zero, (size_t)part);
	}
}

/*
 * Return the number of bytes appended to o so far, before compression.
 */
uint64_t
output_pos(const struct output *o)
{
	return o->pos;
}

/*
 * Return the number of bytes that o has written so far, after compression.
 */
uint64_t
output_written(const struct output *o)
{
	return o->written;
}

/*
 * Write the rest of o. Nothing more may be appended. Return 0, or -1 with
 * errstr set if this or any earlier call failed.
 */
int
output_end(struct output *o)
{
	(void)output_flush(o);
	if (!o->ended && !o->failed && o->gz != NULL &&
	    gzipout_end(o->gz) == -1)
		output_fail(o, "compress");
	o->ended = true;
	return output_check(o);
}

/*
 * Add to sums all bytes, except holes, that are appended to o from now on. If
 * sums is NULL, stop doing that. Return 0, or -1 with errstr set.
 */
int
output_sum(struct output *o, struct sums *sums)
{
	int rc;

	rc = output_flush(o);
	o->sums = sums;
	return rc;
}

/*
 * Return true if o is a new file, which output_abort() removes.
 */
bool
output_isnew(const struct output *o)
{
	return o->file.path != NULL && newfile_isnew(&o->file);
}

/*
 * Return the descriptor that o writes to, which o still owns.
 */
int
output_fd(const struct output *o)
{
	return o->fd;
}

static void
output_free(struct output *o)
{
	gzipout_free(o->gz);
	if (o->file.path != NULL)
		newfile_close(&o->file);
	free(o->small);
	free(o);
}

/*
 * Give the new file of o its name, with what was appended so far. More can be
 * appended, and output_abort() keeps the file. Return 0, or -1 with errstr set.
 */
int
output_publish(struct output *o)
{
	(void)output_flush(o);
	if (!o->failed && !o->published && newfile_finish(&o->file) == -1)
		output_fail(o, "finish");
	o->published = true;
	return output_check(o);
}

/*
 * Truncate the new file of o to its first pos bytes, and append there. Return
 * 0, or -1 with errstr set.
 */
int
output_rewind(struct output *o, uint64_t pos)
{
	(void)output_flush(o);
	if (!o->failed && (ftruncate(o->fd, (off_t)pos) == -1 ||
	    lseek(o->fd, (off_t)pos, SEEK_SET) == -1))
		output_fail(o, "seek");
	o->pos = o->written = pos;
	return output_check(o);
}

/*
 * Write the rest of o. If its file is new, give the file its name, or remove it
 * on failure. Free o in any case. Return 0, or -1 with errstr set.
 */
int
output_commit(struct output *o)
{
	off_t at;

	(void)output_end(o);
	/* a final hole does not yet count in the file's size */
	if (!o->failed && ((o->tail && ((at = lseek(o->fd, 0,
	    SEEK_CUR)) == -1 || ftruncate(o->fd, at) == -1)) ||
	    (o->file.path != NULL && !o->published &&
	    newfile_finish(&o->file) == -1)))
		output_fail(o, "finish");
	if (o->failed) {
		errstr_set("%s", o->why);
		output_abort(o);
		return -1;
	}
	output_free(o);
	return 0;
}

/*
 * Free output o, which may be NULL, and remove its file if it is new.
 */
void
output_abort(struct output *o)
{
	if (o != NULL)
		output_free(o);
}
