/*
 * Write-behind: a thread writes buffers into files while the caller continues.
 * On a machine with one processor, the caller writes.
 */
#include "full.h"
#include "io.h"
#include "jobs.h"
#include "vec.h"
#include "worker.h"

#include <fcntl.h>

enum {
	WAITING = 4,		/* maximum number of buffers waiting to be
				   written */
	BEGIN = 8 * 1024 * 1024	/* number of bytes after which disk_begin()
				   starts write-back */
};

struct waiting {		/* buffer to write */
	int		 fd;
	uint8_t		*data;	/* owned; NULL before use */
	size_t		 n;
	uint64_t	 at;
};

struct behind {
	struct jobs	*ring;	/* owned; jobs are struct waiting */
	size_t		 size;	/* size of each buffer in bytes */
	struct written	 written;
	atomic_int	 error;	/* errno of the first failure, or 0 */
	bool		 kept;	/* the files will be synced with fsync(2) */
};

/*
 * Start write-back of file fd, so that a later fsync(2) has little to do. The
 * file is written sequentially; n bytes were just written, and at is their
 * offset. *w must be zero before the first call. It keeps the range, including
 * holes, whose write-back has not started. This has no effect on file systems
 * without a disk.
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
 * Write one buffer, unless an earlier write failed. This is the work function
 * of the ring.
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
 * Start write-behind: writes in the background, from buffers of size bytes. If
 * kept is set, the files will be synced, so write-back to the disk starts
 * early. Return a handle, or NULL with errstr set. The caller frees the handle
 * with behind_end().
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
 * Write the first n bytes of *buf to file fd in the background. The argument at
 * is their offset in the file. *buf must be from malloc(3). It is replaced by
 * another buffer of the same size. fd must stay open until behind_end(). Return
 * 0, or -1 with errno set if an earlier write failed.
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
 * Wait until all buffers are written, and free b. Return 0, or -1 with errno
 * set if a write failed.
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
