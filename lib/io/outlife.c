/*
 * The start and the end of an output: the properties of its file, and then its
 * last bytes and the name of its file.
 */
#include "io/gzip/gzip.h"
#include "outstream.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Make o record in p the start and the end of each write that may wait for a
 * reader. If o is a pipe, enlarge its buffer, if that is permitted, so that
 * writer and reader seldom wait for each other.
 */
static void
output_watch(struct output *o, struct progress *p)
{
	enum { LARGE = 1 << 20 }; /* default of pipe-max-size: see pipe(7) */
	struct stat st;

	o->progress = p;
	if (fstat(o->fd, &st) == -1)
		return;
	o->waits = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	    S_ISCHR(st.st_mode);
	if (S_ISFIFO(st.st_mode) && fcntl(o->fd, F_GETPIPE_SZ) < LARGE)
		(void)fcntl(o->fd, F_SETPIPE_SZ, LARGE);
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
 * Write the rest of o. If its file is new, give the file its name, or remove it
 * on failure. Free o in any case. Return 0, or -1 with errstr set.
 */
int
output_commit(struct output *o)
{
	off_t at;
	int copy, rc;

	(void)output_end(o);
	/* standard output is never closed: close(2) of a duplicate reports
	   errors that NFS has delayed */
	if (!o->failed && !output_isnew(o) &&
	    (copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 3)) != -1 &&
	    close(copy) == -1 && errno != EINTR)
		output_fail(o, "close");
	/* a final hole does not yet count in the file's size */
	if (!o->failed && ((o->tail && ((at = lseek(o->fd, 0,
	    SEEK_CUR)) == -1 || ftruncate(o->fd, at) == -1)) ||
	    (o->file.path != NULL && !o->published &&
	    newfile_finish(&o->file) == -1)))
		output_fail(o, "finish");
	rc = output_check(o);
	output_abort(o);
	return rc;
}

/*
 * Free output o, which may be NULL, and remove its file if it is new and not
 * finished.
 */
void
output_abort(struct output *o)
{
	if (o == NULL)
		return;
	gzipout_free(o->gz);
	gzipfile_free(o->reads);
	buf_free(&o->ending);
	if (o->file.path != NULL)
		newfile_close(&o->file);
	free(o->small);
	free(o);
}
