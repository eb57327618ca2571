/*
 * Output streams to files or pipes. Small pieces are collected in a buffer,
 * large ones are written directly, and zeros can become holes of a file.
 * outlife.c begins and ends an output; newfile.c gives a file its name;
 * io/gzip/out.c compresses.
 */
#include "io/gzip/gzip.h"
#include "outstream.h"
#include "vec.h"

#include <fcntl.h>
#include <unistd.h>

enum { SMALL = 288 * 1024 };

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

/*
 * Mark o as failed. what says what has failed, and errno why. The first failure
 * counts.
 */
void
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
	for (; n > 0 && !o->failed; data += done, n -= (size_t)done) {
		if (o->waits)
			progress_write(o->progress);
		done = !o->framed ? write(o->fd, data, n) :
		    frame_write(o->fd, FRAME_DATA, data, n) == 0 ? (ssize_t)n :
		    -1;
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
 * Return the struct progress of o, or NULL if it has none.
 */
struct progress *
output_progress(const struct output *o)
{
	return o->progress;
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
 * argument end points just past the last of them. Nothing else must have been
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
