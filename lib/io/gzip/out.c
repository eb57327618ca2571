/*
 * Compressing a stream: a ring of members that threads pack.  The caller
 * fills the next one and writes those that are ready, in order:
 *
 *	tail			written up to here
 *	tail .. taken		being packed, or packed
 *	taken .. head		full, and wait for a thread
 *	head			being filled
 *
 * Where no thread can be made, the caller packs them itself.
 */
#include "gzip.h"
#include "model.h"
#include "num.h"
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 256 };

struct job {
	uint8_t		*raw;	/* owned; GZIP_RAW bytes, NULL before use */
	size_t		 nraw;
	uint8_t		*out;	/* owned; GZIP_ROOM bytes, the same */
	size_t		 nout;
	bool		 done;	/* locked */
};

struct packer {
	struct gzipout	*g;	/* borrowed */
	pthread_t	 thread;
	z_stream	 z;
};

struct gzipout {
	int		(*write)(void *, const void *, size_t);
	void		*arg;	/* its first argument */
	struct buf	 lens;	/* owned; of members written, 4 bytes each */
	struct job	*ring;	/* owned */
	size_t		 nring;
	struct packer	*packer; /* owned; one, or one for each thread */
	size_t		 npacker;
	size_t		 nthread;
	uint64_t	 head;	/* jobs submitted so far */
	uint64_t	 tail;	/* jobs written so far */
	uint64_t	 taken;	/* jobs that a thread has or had; locked */
	uint64_t	 ready;	/* head, as the threads may see it; locked */
	bool		 quit;	/* locked */
	pthread_mutex_t	 lock;
	pthread_cond_t	 work;
	pthread_cond_t	 done;
};

static void *
packer_work(void *arg)
{
	struct packer *p = arg;
	struct gzipout *g = p->g;
	struct job *j;

	pthread_mutex_lock(&g->lock);
	while (!g->quit) {
		if (g->taken == g->ready) {
			pthread_cond_wait(&g->work, &g->lock);
			continue;
		}
		j = &g->ring[g->taken++ % g->nring];
		pthread_mutex_unlock(&g->lock);
		j->nout = gzip_pack(&p->z, j->raw, j->nraw, j->out);
		pthread_mutex_lock(&g->lock);
		j->done = true;
		pthread_cond_signal(&g->done);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/*
 * Start the threads, which take no signals: as many as can be made.
 */
static void
gzipout_start(struct gzipout *g)
{
	struct packer *p;

	for (; g->nthread < g->npacker; g->nthread++) {
		p = &g->packer[g->nthread];
		if (worker_start(&p->thread, packer_work, p) != 0)
			break;
	}
}

/*
 * Compress with so many threads, or with one for each processor where that is
 * 0.  What comes out goes to write, with arg before it, which returns 0 or -1
 * and is called by nobody but who calls us.  Return it, or NULL with errstr.
 */
struct gzipout *
gzipout_new(int threads, int (*write)(void *, const void *, size_t),
    void *arg)
{
	struct gzipout *g;
	size_t n;

	n = (size_t)(threads > 0 ? threads : processors_count());
	if (n > THREADS)
		n = THREADS;
	if ((g = calloc(1, sizeof *g)) == NULL)
		goto nomem;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->work, NULL);
	pthread_cond_init(&g->done, NULL);
	g->write = write;
	g->arg = arg;
	/* one being filled, one written, some that wait for an older one */
	g->nring = 2 * n + 2;
	if ((g->ring = calloc(g->nring, sizeof *g->ring)) == NULL ||
	    (g->packer = calloc(n, sizeof *g->packer)) == NULL)
		goto nomem;
	for (; g->npacker < n; g->npacker++) {
		g->packer[g->npacker].g = g;
		if (gzip_packer(&g->packer[g->npacker].z) == -1)
			goto nomem;
	}
	gzipout_start(g);
	return g;
nomem:
	gzipout_free(g);
	errstr_set("out of memory");
	return NULL;
}

/*
 * End the threads of g, or of NULL, and free it: what is not written is lost.
 */
void
gzipout_free(struct gzipout *g)
{
	size_t i;

	if (g == NULL)
		return;
	pthread_mutex_lock(&g->lock);
	g->quit = true;
	pthread_cond_broadcast(&g->work);
	pthread_mutex_unlock(&g->lock);
	for (i = 0; i < g->nthread; i++)
		pthread_join(g->packer[i].thread, NULL);
	for (i = 0; i < g->npacker; i++)
		deflateEnd(&g->packer[i].z);
	for (i = 0; g->ring != NULL && i < g->nring; i++) {
		free(g->ring[i].raw);
		free(g->ring[i].out);
	}
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->work);
	pthread_cond_destroy(&g->done);
	buf_free(&g->lens);
	free(g->ring);
	free(g->packer);
	free(g);
}

/*
 * Write the oldest members that are ready, until at most most are under way.
 */
static int
gzipout_write(struct gzipout *g, uint64_t most)
{
	uint8_t len[4];
	struct job *j;
	bool done;

	while (g->tail < g->head) {
		j = &g->ring[g->tail % g->nring];
		pthread_mutex_lock(&g->lock);
		while (!j->done && g->head - g->tail > most)
			pthread_cond_wait(&g->done, &g->lock);
		done = j->done;
		j->done = false;
		pthread_mutex_unlock(&g->lock);
		if (!done)
			break;
		g->tail++;
		if (j->nout == 0) {
			errno = EIO;
			return errstr_set("zlib cannot compress this");
		}
		if (g->write(g->arg, j->out, j->nout) == -1)
			return -1;
		num_put(len, j->nout, sizeof len);
		if (g->lens.len < 4 * (GZIP_LISTED + 1))
			buf_add(&g->lens, len, sizeof len);
	}
	return 0;
}

/*
 * Have the member that is filled, or the last, compressed.
 */
static int
gzipout_submit(struct gzipout *g)
{
	struct job *j;

	j = &g->ring[g->head++ % g->nring];
	if (g->nthread == 0)
		j->nout = gzip_pack(&g->packer[0].z, j->raw, j->nraw, j->out);
	pthread_mutex_lock(&g->lock);
	j->done = g->nthread == 0;
	g->ready = g->head;
	pthread_cond_signal(&g->work);
	pthread_mutex_unlock(&g->lock);
	return gzipout_write(g, g->nring - 1);
}

/*
 * Return the member to be filled, with room for its bytes.
 */
static struct job *
gzipout_job(struct gzipout *g)
{
	struct job *j;

	j = &g->ring[g->head % g->nring];
	if (j->raw == NULL)
		j->raw = malloc(GZIP_RAW);
	if (j->out == NULL)
		j->out = malloc(GZIP_ROOM);
	if (j->raw != NULL && j->out != NULL)
		return j;
	errno = ENOMEM;
	errstr_set("out of memory");
	return NULL;
}

/*
 * Compress the n bytes at data, which are copied, with g.  Return 0; or -1 if
 * writing failed, or, with errno ENOMEM, for want of memory; after that g can
 * only be freed.
 */
int
gzipout_put(struct gzipout *g, const void *data, size_t n)
{
	const uint8_t *p;
	struct job *j;
	size_t part;

	for (p = data; n > 0; p += part, n -= part) {
		if ((j = gzipout_job(g)) == NULL)
			return -1;
		part = GZIP_RAW - j->nraw < n ? GZIP_RAW - j->nraw : n;
		memcpy(j->raw + j->nraw, p, part);
		j->nraw += part;
		if (j->nraw < GZIP_RAW)
			continue;
		if (gzipout_submit(g) == -1)
			return -1;
		g->ring[g->head % g->nring].nraw = 0;
	}
	return 0;
}

/*
 * Write the member at the end, with the lengths of those before.
 */
static int
gzipout_list(struct gzipout *g)
{
	uint8_t *out;
	int rc;

	if ((out = malloc(GZIP_TABLE + g->lens.len)) == NULL) {
		errno = ENOMEM;
		return errstr_set("out of memory");
	}
	rc = g->write(g->arg, out, gzip_list(&g->lens, out));
	free(out);
	return rc;
}

/*
 * Write all that is left in g, and the member that marks the end.  Return as
 * gzipout_put.
 */
int
gzipout_end(struct gzipout *g)
{
	if (gzipout_job(g) == NULL)
		return -1;
	if (g->ring[g->head % g->nring].nraw > 0) {
		if (gzipout_submit(g) == -1)
			return -1;
		g->ring[g->head % g->nring].nraw = 0;
		if (gzipout_job(g) == NULL)
			return -1;
	}
	if (gzipout_write(g, 0) == -1)
		return -1;
	if (!g->lens.failed && g->lens.len >= 4 * GZIP_MANY &&
	    g->lens.len <= 4 * GZIP_LISTED)
		return gzipout_list(g);
	return gzipout_submit(g) == -1 ? -1 : gzipout_write(g, 0);
}
