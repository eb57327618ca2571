/*
 * Streams out, to a file or a pipe.  Small pieces are gathered, large ones
 * are written from where they lie.  A file is written without a name, or
 * under a name beside its own where the file system knows no other way,
 * and gets its own name when it is whole and on the disk.  What is zero may be
 * left out of it, as a hole.  What is to be compressed goes through gzipout.c.
 */
#include "gzip.h"

#include <sys/stat.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SMALL = 64 * 1024,
	VECTORS = 1024		/* UIO_MAXIOV of the kernel */
};

struct output {
	int		 fd;
	char		*path;	/* owned; NULL: standard output */
	char		*dir;	/* owned; where path is */
	char		*tmp;	/* owned; NULL: the file has no name yet */
	uint64_t	 pos;
	bool		 tail;	/* a hole is the last that was written */
	bool		 failed; /* the error is in why */
	char		 why[256];
	struct gzipout	*gz;	/* owned; NULL: nothing is compressed */
	uint8_t		*small;	/* owned; gathered bytes */
	size_t		 nsmall;
	struct iovec	 iov[VECTORS];
	int		 niov;
	struct sums	*sums;	/* borrowed; of what is written, or NULL */
	uint64_t	 written; /* bytes that were, compressed or not */
	bool		 ended;	/* output_end was called */
	struct progress	*progress; /* borrowed; or NULL */
	bool		 waits;	/* who reads it may keep it waiting */
};

/* the name beside its own that a file has just now; for signal handlers */
static const char *volatile unfinished;

static char *
dir_of(const char *path)
{
	const char *slash;

	slash = strrchr(path, '/');
	if (slash == NULL)
		return strdup(".");
	if (slash == path)
		return strdup("/");
	return strndup(path, (size_t)(slash - path));
}

/*
 * A name beside path that is not taken.
 */
static int
output_tmpname(struct output *o)
{
	static unsigned int serial;

	unfinished = NULL;
	free(o->tmp);
	/* 200 bytes of it leave room for the rest: a name has 255 */
	if (asprintf(&o->tmp, "%s/.%.200s.%ld.%u", o->dir,
	    strrchr(o->path, '/') == NULL ? o->path :
	    strrchr(o->path, '/') + 1, (long)getpid(), serial++) == -1) {
		o->tmp = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

/*
 * Take away a file that will not be finished.  May be called by a signal
 * handler before it ends the program.
 */
void
output_cleanup(void)
{
	if (unfinished != NULL)
		(void)unlink(unfinished);
}

/*
 * The file has its own name now, or none.
 */
static void
output_unname(struct output *o)
{
	int e;

	e = errno;
	unfinished = NULL;
	free(o->tmp);
	o->tmp = NULL;
	errno = e;
}

/*
 * A file without a name vanishes by itself if we do.  Not all file systems
 * can make one.
 */
static int
output_create(struct output *o)
{
	struct stat st;

	if (*o->path == '\0') {
		errno = ENOENT;
		return errstr_sys("\"\"");
	}
	if (stat(o->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* a device or a fifo is written as it stands */
		free(o->dir);
		o->dir = NULL;
		o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
		return o->fd == -1 ? errstr_sys("%s", o->path) : 0;
	}
	o->fd = open(o->dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (o->fd != -1)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return errstr_sys("%s", o->path);
	if (output_tmpname(o) == -1)
		return -1;
	o->fd = open(o->tmp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (o->fd == -1) {
		output_unname(o);
		return errstr_sys("%s", o->path);
	}
	unfinished = o->tmp;
	return 0;
}

/*
 * Open an output: a path, or NULL or "-" for standard output, which must
 * not be a terminal.  The file will be readable by its owner alone.
 */
struct output *
output_open(const char *path)
{
	struct output *o;

	if ((o = calloc(1, sizeof *o)) == NULL ||
	    (o->small = malloc(SMALL)) == NULL)
		goto nomem;
	if (path == NULL || strcmp(path, "-") == 0) {
		if (isatty(STDOUT_FILENO)) {
			errstr_set("standard output is a terminal; "
			    "use -o file, > file or a pipe");
			goto fail;
		}
		o->fd = STDOUT_FILENO;
		return o;
	}
	if ((o->path = strdup(path)) == NULL ||
	    (o->dir = dir_of(path)) == NULL)
		goto nomem;
	if (output_create(o) == -1)
		goto fail;
	return o;
nomem:
	errstr_set("out of memory");
fail:
	if (o != NULL) {
		free(o->path);
		free(o->dir);
		free(o->small);
	}
	free(o);
	return NULL;
}

static void
output_fail(struct output *o, const char *what)
{
	if (!o->failed)
		snprintf(o->why, sizeof o->why, "%s: %s: %s", o->path != NULL ?
		    o->path : "standard output", what, strerror(errno));
	o->failed = true;
}

/*
 * Write some vectors, all of them; they are changed.
 */
static void
output_writev(struct output *o, struct iovec *v, int left)
{
	ssize_t n;

	while (left > 0 && !o->failed) {
		if (o->waits)
			progress_write(o->progress);
		n = writev(o->fd, v, left);
		if (o->waits)
			progress_write(o->progress);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			output_fail(o, "write");
			break;
		}
		o->written += (uint64_t)n;
		for (; left > 0 && (size_t)n >= v->iov_len; left--, v++)
			n -= (ssize_t)v->iov_len;
		if (left > 0) {
			v->iov_base = (uint8_t *)v->iov_base + n;
			v->iov_len -= (size_t)n;
		}
		o->tail = false;
	}
}

/*
 * What gzipout.c has made.
 */
static int
output_packed(void *arg, const void *data, size_t n)
{
	struct output *o = arg;
	struct iovec v = { .iov_base = (void *)(uintptr_t)data, .iov_len = n };

	output_writev(o, &v, 1);
	return o->failed ? -1 : 0;
}

/*
 * Have all that is written from here on compressed with gzip, by so many
 * threads, or by one for each processor where that is 0.  Nothing was
 * written before.
 */
int
output_compress(struct output *o, int threads)
{
	o->gz = gzipout_new(threads, output_packed, o);
	return o->gz == NULL ? -1 : 0;
}

/*
 * Have it told how far the writing is.
 */
void
output_watch(struct output *o, struct progress *p)
{
	struct stat st;

	o->progress = p;
	o->waits = fstat(o->fd, &st) == 0 && (S_ISFIFO(st.st_mode) ||
	    S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

struct progress *
output_progress(const struct output *o)
{
	return o->progress;
}

/*
 * Write all that was put and referred to.  -1 if that or any call before
 * it failed.  What is compressed need not have been written, but is not
 * referred to any more.
 */
int
output_flush(struct output *o)
{
	int i;

	for (i = 0; o->sums != NULL && i < o->niov; i++)
		sums_add(o->sums, o->iov[i].iov_base, o->iov[i].iov_len);
	if (o->gz == NULL)
		output_writev(o, o->iov, o->niov);
	for (i = 0; o->gz != NULL && i < o->niov && !o->failed; i++)
		if (gzipout_put(o->gz, o->iov[i].iov_base,
		    o->iov[i].iov_len) == -1)
			output_fail(o, "compress");
	o->niov = 0;
	o->nsmall = 0;
	return o->failed ? errstr_set("%s", o->why) : 0;
}

/*
 * Write n bytes, which must stay as they are until output_flush.
 */
void
output_refer(struct output *o, const void *data, size_t n)
{
	struct iovec *last;

	if (n == 0)
		return;
	o->pos += n;
	if (o->niov > 0) {
		last = &o->iov[o->niov - 1];
		if ((const uint8_t *)last->iov_base + last->iov_len == data) {
			last->iov_len += n;
			return;
		}
	}
	if (o->niov == VECTORS)
		(void)output_flush(o);
	o->iov[o->niov].iov_base = (void *)(uintptr_t)data;
	o->iov[o->niov++].iov_len = n;
}

/*
 * Room to write into: at least n bytes (a few hundred at the most), *most in
 * all.
 */
char *
output_room(struct output *o, size_t n, size_t *most)
{
	if (SMALL - o->nsmall < n || o->niov == VECTORS)
		(void)output_flush(o);
	*most = SMALL - o->nsmall;
	return (char *)o->small + o->nsmall;
}

/*
 * Tell where the writing into the room ended; nothing else was put between.
 */
void
output_filled(struct output *o, const char *end)
{
	size_t n;

	n = (size_t)(end - ((char *)o->small + o->nsmall));
	output_refer(o, o->small + o->nsmall, n);
	o->nsmall += n;
}

/*
 * Write n bytes, which are copied.
 */
void
output_put(struct output *o, const void *data, size_t n)
{
	const uint8_t *p;
	size_t part;

	for (p = data; n > 0; p += part, n -= part) {
		if (o->nsmall == SMALL || o->niov == VECTORS)
			(void)output_flush(o);
		part = SMALL - o->nsmall < n ? SMALL - o->nsmall : n;
		memcpy(o->small + o->nsmall, p, part);
		output_refer(o, o->small + o->nsmall, part);
		o->nsmall += part;
	}
}

/*
 * May the next n bytes be skipped instead of written?  In a regular file,
 * where nothing lies yet.
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
 * Write n zeros; in a file they become a hole, if it can have one.
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
		output_refer(o, zero, (size_t)part);
	}
}

/*
 * A file that ends in a hole gets its length.
 */
static int
output_length(const struct output *o)
{
	off_t at;

	if (!o->tail)
		return 0;
	at = lseek(o->fd, 0, SEEK_CUR);
	return at == -1 ? -1 : ftruncate(o->fd, at);
}

/*
 * How many bytes were written so far, before they were compressed.
 */
uint64_t
output_pos(const struct output *o)
{
	return o->pos;
}

/*
 * How many bytes have left us so far, compressed if they are to be.
 */
uint64_t
output_written(const struct output *o)
{
	return o->written;
}

/*
 * Nothing more will be put: write all that is left.  -1 if that or any call
 * before it failed.
 */
int
output_end(struct output *o)
{
	(void)output_flush(o);
	if (!o->ended && !o->failed && o->gz != NULL &&
	    gzipout_end(o->gz) == -1)
		output_fail(o, "compress");
	o->ended = true;
	return o->failed ? errstr_set("%s", o->why) : 0;
}

/*
 * Have all that is put from here on, holes excepted, added to sums too, or,
 * with NULL, no more of it.
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
 * The descriptor that is written to; the output keeps it.
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
	free(o->path);
	free(o->dir);
	free(o->small);
	free(o);
}

/*
 * Give the finished file its name, through one that tells that it is not
 * finished.
 */
static int
output_link(struct output *o)
{
	char fd[64];
	int rc;

	if (o->tmp == NULL) {
		snprintf(fd, sizeof fd, "/proc/self/fd/%d", o->fd);
		do {
			if (output_tmpname(o) == -1)
				return -1;
			rc = linkat(AT_FDCWD, fd, AT_FDCWD, o->tmp,
			    AT_SYMLINK_FOLLOW);
		} while (rc == -1 && errno == EEXIST);
		if (rc == -1) {
			output_unname(o);
			return -1;
		}
		unfinished = o->tmp;
	}
	if (rename(o->tmp, o->path) == -1)
		return -1;
	output_unname(o);
	return 0;
}

/*
 * The same, with signals that end us waiting: whoever cleans up must know
 * what there is.
 */
static int
output_name(struct output *o)
{
	sigset_t ending, old;
	int e, rc;

	if (fsync(o->fd) == -1)
		return -1;
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ending, &old);
	rc = output_link(o);
	e = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = e;
	return rc;
}

/*
 * Finish an output: all bytes are written, and a file gets its name.  The
 * output is freed; on failure nothing is left of a file.
 */
int
output_commit(struct output *o)
{
	(void)output_end(o);
	if (!o->failed && (output_length(o) == -1 ||
	    (o->dir != NULL && output_name(o) == -1)))
		output_fail(o, "finish");
	if (o->failed) {
		errstr_set("%s", o->why);
		output_abort(o);
		return -1;
	}
	/* what close(2) could tell, fsync(2) has told */
	if (o->path != NULL)
		(void)close(o->fd);
	output_free(o);
	return 0;
}

/*
 * Give up an output: nothing is left of a file.
 */
void
output_abort(struct output *o)
{
	if (o == NULL)
		return;
	if (o->tmp != NULL)
		(void)unlink(o->tmp);
	output_unname(o);
	if (o->path != NULL)
		(void)close(o->fd);
	output_free(o);
}
