/*
 * Streams out, to a file or a pipe.  Small pieces are gathered, large ones
 * are written from where they lie, zeros may be left out of a file, as a hole.
 * newfile.c gives a file its name.  What is to be compressed goes through
 * io/gzip/out.c.
 */
#include "io.h"
#include "io/gzip/gzip.h"
#include "vec.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = 288 * 1024 };

struct output {
	int		 fd;
	struct newfile	 file;	/* without path: fd is standard output */
	uint64_t	 pos;
	bool		 tail;	/* a hole is the last that was written */
	bool		 failed; /* the error is in why */
	char		 why[256];
	struct gzipout	*gz;	/* owned; NULL: nothing is compressed */
	uint8_t		*small;	/* owned; gathered bytes */
	size_t		 nsmall;
	struct sums	*sums;	/* borrowed; of what is written, or NULL */
	uint64_t	 written; /* bytes that were, compressed or not */
	struct written	 unbegun; /* of them, those that no disk writes yet */
	bool		 ended;	/* output_end was called */
	struct progress	*progress; /* borrowed; or NULL */
	bool		 waits;	/* who reads it may keep it waiting */
};

/*
 * Open an output: a path, or NULL or "-" for standard output, which must not be
 * a terminal.  The file will be readable by its owner alone; newfile.c tells
 * what else a path may be.  Return it, or NULL with errstr.
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
 * Write the n bytes at data, all of them.
 */
static void
output_write(struct output *o, const uint8_t *data, size_t n)
{
	ssize_t done;

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
 * Write what io/gzip/out.c has made.
 */
static int
output_packed(void *arg, const void *data, size_t n)
{
	struct output *o = arg;

	output_write(o, data, n);
	return o->failed ? -1 : 0;
}

/*
 * Write the n bytes at data, compressed if they are to be.
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
 * Have all that is written to o from here on compressed with gzip, by so many
 * threads, or by one for each processor where that is 0.  Nothing was written
 * before.  Return 0, or -1 with errstr.
 */
int
output_compress(struct output *o, int threads)
{
	o->gz = gzipout_new(threads, output_packed, o);
	return o->gz == NULL ? -1 : 0;
}

/*
 * Have a pipe hold more, if it may, so that who writes and who reads seldom
 * wait for one another.
 */
static void
pipe_widen(int fd)
{
	enum { LARGE = 1 << 20 };	/* pipe-max-size: pipe(7) */

	if (fcntl(fd, F_GETPIPE_SZ) < LARGE)
		(void)fcntl(fd, F_SETPIPE_SZ, LARGE);
}

/*
 * Have p told how far the writing to o is; much will be written.
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
 * Return what output_watch was given for o, or NULL.
 */
struct progress *
output_progress(const struct output *o)
{
	return o->progress;
}

/*
 * Open an output to path as programs have it, as output_open: compressed, if
 * compress, by all processors, and p is told how far the writing is.  Return
 * it, or NULL with errstr.
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
 * Return 0; or -1 with errstr if any writing to o failed so far.
 */
int
output_check(const struct output *o)
{
	return o->failed ? errstr_set("%s", o->why) : 0;
}

/*
 * Write all that was put to o; what is compressed may be kept back.  Return 0;
 * or -1 with errstr if that or any call before it failed.
 */
int
output_flush(struct output *o)
{
	output_pass(o, o->small, o->nsmall);
	o->nsmall = 0;
	return output_check(o);
}

/*
 * Return room to write into, for o: at least n bytes (a few hundred at the
 * most), *most in all.
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
 * Tell o that the writing into the room ended before end; nothing else was put
 * between.
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
 * Write the n bytes at data to o; output_flush tells of errors.
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
 * Return true if the next n bytes can be skipped instead of written: in a
 * regular file, where nothing lies yet.
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
 * Write n zeros to o; in a file they become a hole, if it can have one.
 * output_flush tells of errors.
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
 * Return how many bytes were written to o so far, before they were compressed.
 */
uint64_t
output_pos(const struct output *o)
{
	return o->pos;
}

/*
 * Return how many bytes of o have left us so far, compressed if they are to be.
 */
uint64_t
output_written(const struct output *o)
{
	return o->written;
}

/*
 * Write all that is left in o; nothing more will be put.  Return 0, or -1 with
 * errstr if that or any call before it failed.
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
 * Have all that is put to o from here on, holes excepted, added to sums too,
 * or, with NULL, no more of it.  Return 0, or -1 with errstr.
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
 * Return true if nothing is left of what is written to o if it is given up.
 */
bool
output_isnew(const struct output *o)
{
	return o->file.path != NULL && newfile_isnew(&o->file);
}

/*
 * Return the descriptor that o writes to; the output keeps it.
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
 * Finish output o: all bytes are written, and a file gets its name.  The output
 * is freed; on failure nothing is left of a file.  Return 0, or -1 with errstr.
 */
int
output_commit(struct output *o)
{
	off_t at;

	(void)output_end(o);
	/* a file that ends in a hole has no length yet */
	if (!o->failed && ((o->tail && ((at = lseek(o->fd, 0,
	    SEEK_CUR)) == -1 || ftruncate(o->fd, at) == -1)) ||
	    (o->file.path != NULL && newfile_finish(&o->file) == -1)))
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
 * Give up output o, or NULL, and free it: nothing is left of a file.
 */
void
output_abort(struct output *o)
{
	if (o != NULL)
		output_free(o);
}
