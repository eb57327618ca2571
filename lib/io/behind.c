/*
 * Writing behind: a thread writes into files what is handed to it, while who
 * handed it reads on.  Where there is no thread, or no second processor for it,
 * who hands it over writes.
 */
#include "full.h"
#include "io.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	WAITING = 4,		/* buffers that wait to be written */
	BEGIN = 8 * 1024 * 1024	/* bytes that a disk begins to write at once */
};

struct waiting {		/* to be written */
	int		 fd;
	uint8_t		*data;	/* owned */
	size_t		 n;
	uint64_t	 at;
};

struct behind {
	struct waiting	 ring[WAITING];
	uint64_t	 head;	/* pieces handed over so far; locked */
	uint64_t	 tail;	/* pieces written so far; locked */
	struct waiting	 row;	/* what was written and is not begun, and the
				   holes in it */
	int		 error;	/* errno of the first that failed; locked */
	bool		 kept;	/* fsync(2) follows */
	bool		 quit;	/* locked */
	bool		 threaded;
	pthread_t	 thread;
	pthread_mutex_t	 lock;
	pthread_cond_t	 more;
	pthread_cond_t	 less;
};

/*
 * Have the disk begin to write what was written of a file, from its beginning
 * to its end, so that fsync(2) finds little to do.
 */
static void
piece_begin(struct behind *b, const struct waiting *p)
{
	struct waiting *r = &b->row;

	if (p->fd != r->fd || p->at < r->at + r->n) {
		r->fd = p->fd;
		r->at = p->at;
	}
	r->n = (size_t)(p->at + p->n - r->at);
	if (r->n < BEGIN)
		return;
	(void)sync_file_range(r->fd, (off_t)r->at, (off_t)r->n,
	    SYNC_FILE_RANGE_WRITE);
	r->at += r->n;
	r->n = 0;
}

/*
 * Write a piece.  Return 0; or errno.
 */
static int
piece_write(struct behind *b, const struct waiting *p)
{
	if (full_pwrite(p->fd, p->data, p->n, p->at) == -1)
		return errno;
	if (b->kept)
		piece_begin(b, p);
	return 0;
}

/*
 * Write pieces until none is left and there will be no more.
 */
static void *
behind_work(void *arg)
{
	struct behind *b = arg;
	const struct waiting *p;
	int error;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		if (b->tail == b->head) {
			if (b->quit)
				break;
			pthread_cond_wait(&b->more, &b->lock);
			continue;
		}
		p = &b->ring[b->tail % WAITING];
		error = b->error;
		pthread_mutex_unlock(&b->lock);
		if (error == 0)
			error = piece_write(b, p);
		pthread_mutex_lock(&b->lock);
		b->error = error;
		b->tail++;
		pthread_cond_signal(&b->less);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/*
 * Start the thread, if it can be.
 */
static void
behind_start(struct behind *b)
{
	b->threaded = processors_count() > 1 &&
	    worker_start(&b->thread, behind_work, b) == 0;
}

static void
behind_free(struct behind *b)
{
	size_t i;

	for (i = 0; i < WAITING; i++)
		free(b->ring[i].data);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->more);
	pthread_cond_destroy(&b->less);
	free(b);
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
	size_t i;

	if ((b = calloc(1, sizeof *b)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->more, NULL);
	pthread_cond_init(&b->less, NULL);
	for (i = 0; i < WAITING; i++)
		if ((b->ring[i].data = malloc(size)) == NULL) {
			errstr_set("out of memory");
			behind_free(b);
			return NULL;
		}
	b->kept = kept;
	behind_start(b);
	return b;
}

/*
 * Have b write n bytes of *buf at offset at into the file fd, which stays open
 * until behind_end.  *buf, of malloc(3), is another buffer then, of the same
 * size.  Return 0; or -1 with errno if that or anything handed over before
 * could not be written.
 */
int
behind_write(struct behind *b, int fd, uint8_t **buf, size_t n, uint64_t at)
{
	struct waiting *p;
	uint8_t *data;
	int error;

	if (!b->threaded) {
		if (b->error == 0)
			b->error = piece_write(b, &(struct waiting){ fd, *buf,
			    n, at });
		errno = b->error;
		return b->error == 0 ? 0 : -1;
	}
	pthread_mutex_lock(&b->lock);
	while (b->head - b->tail == WAITING)
		pthread_cond_wait(&b->less, &b->lock);
	if ((error = b->error) == 0) {
		p = &b->ring[b->head++ % WAITING];
		data = p->data;
		p->data = *buf;
		*buf = data;
		p->fd = fd;
		p->n = n;
		p->at = at;
		pthread_cond_signal(&b->more);
	}
	pthread_mutex_unlock(&b->lock);
	errno = error;
	return error == 0 ? 0 : -1;
}

/*
 * End b, when all that was handed over is in its files, and free it.  Return 0;
 * or -1 with errno if something could not be written.
 */
int
behind_end(struct behind *b)
{
	int error;

	pthread_mutex_lock(&b->lock);
	b->quit = true;
	pthread_cond_signal(&b->more);
	pthread_mutex_unlock(&b->lock);
	if (b->threaded)
		pthread_join(b->thread, NULL);
	error = b->error;
	behind_free(b);
	errno = error;
	return error == 0 ? 0 : -1;
}
