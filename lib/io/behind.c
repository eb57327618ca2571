/*
 * Writing behind: a thread writes into files what is handed to it, while the
 * caller reads on.  Where there is no second processor for it, the caller
 * writes.
 */
#include "full.h"
#include "io.h"
#include "jobs.h"
#include "vec.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	WAITING = 4,		/* buffers that wait to be written */
	BEGIN = 8 * 1024 * 1024	/* bytes that a disk begins to write at once */
};

struct waiting {		/* to be written */
	int		 fd;
	uint8_t		*data;	/* owned; NULL before use */
	size_t		 n;
	uint64_t	 at;
};

struct behind {
	struct jobs	*ring;	/* owned; of struct waiting */
	size_t		 size;	/* bytes of a buffer */
	struct written	 written;
	atomic_int	 error;	/* errno of the first that failed */
	bool		 kept;	/* fsync(2) follows */
};

/*
 * Have the disk begin to write what was written of a file, which is open as fd,
 * from its beginning to its end, so that fsync(2) finds little to do: n bytes
 * at offset at were written last.  *w has the range that the disk has not begun
 * with, and its holes; at first it is all zero.  A file system without a disk
 * does nothing.
 */
void
disk_begin(struct written *w, int fd, uint64_t at, size_t n)
{
	if (fd != w->fd || at < w->at + w->n) {
		w->fd = fd;
		w->at = at;
	}
	w->n = at + n - w->at;
	if (w->n < BEGIN)
		return;
	(void)sync_file_range(fd, (off_t)w->at, (off_t)w->n,
	    SYNC_FILE_RANGE_WRITE);
	w->at += w->n;
	w->n = 0;
}

/*
 * Write a piece, unless one before it failed: a job of the ring.
 */
static void
piece_write(void *arg, void *job)
{
	struct behind *b = arg;
	const struct waiting *p = job;

	if (b->error != 0)
		return;
	if (full_pwrite(p->fd, p->data, p->n, p->at) == -1)
		b->error = errno;
	else if (b->kept)
		disk_begin(&b->written, p->fd, p->at, p->n);
}

static void
piece_free(void *job)
{
	free(((struct waiting *)job)->data);
}

/*
 * Make what writes behind, for buffers of size bytes; with kept, into files
 * that will be brought to the disk.  Return it, which behind_end ends; or NULL
 * with errstr.
 */
struct behind *
behind_new(size_t size, bool kept)
{
	struct behind *b;

	if ((b = mem_new(1, sizeof *b)) == NULL)
		return NULL;
	b->size = size;
	b->kept = kept;
	b->ring = jobs_new(processors_count() > 1, WAITING,
	    sizeof(struct waiting), piece_write, b, false);
	if (b->ring == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

/*
 * Have b write n bytes of *buf at offset at into the file fd, which stays open
 * until behind_end.  *buf, of malloc(3), is another buffer then, of the same
 * size.  Return 0; or -1 with errno if anything handed over before could not be
 * written.
 */
int
behind_write(struct behind *b, int fd, uint8_t **buf, size_t n, uint64_t at)
{
	struct waiting *p;
	uint8_t *data;

	while ((p = jobs_idle(b->ring)) == NULL) {
		(void)jobs_oldest(b->ring, true);
		jobs_retire(b->ring);
	}
	if ((errno = b->error) != 0)
		return -1;
	if ((data = p->data) == NULL && (data = malloc(b->size)) == NULL)
		return -1;
	*p = (struct waiting){ fd, *buf, n, at };
	*buf = data;
	jobs_submit(b->ring, false);
	return 0;
}

/*
 * End b, when all that was handed over is in its files, and free it.  Return 0;
 * or -1 with errno if something could not be written.
 */
int
behind_end(struct behind *b)
{
	int error;

	while (jobs_oldest(b->ring, true) != NULL)
		jobs_retire(b->ring);
	error = b->error;
	jobs_free(b->ring, piece_free);
	free(b);
	errno = error;
	return error == 0 ? 0 : -1;
}
