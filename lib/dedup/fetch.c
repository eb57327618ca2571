/*
 * Fetching pages: a ring of blocks that threads fill.  The caller plans a
 * block (what to read, into which slot) and submits it; a thread reads it,
 * finds the pages that are zero, hashes the others and finds those that were
 * described before; the caller takes the blocks back in the order in which it
 * submitted them.
 *
 *	idle -> planned -> submitted -> fetched -> done -> retired, idle
 *
 * There is a thread for each processor but one, and two blocks for each of all
 * that fetch, sixteen at most: the caller fetches, too, when it would otherwise
 * wait, so that all goes on where no thread can be made.
 */
#include "fetch.h"
#include "worker.h"
#include "xxh.h"
#include "zero.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAST = 8,		/* blocks */
	THREADS = 15
};

struct fetcher {
	struct block	*ring;	/* owned */
	size_t		 nring;
	uint64_t	 head;	/* blocks submitted so far */
	uint64_t	 tail;	/* blocks retired so far */
	uint64_t	 taken;	/* blocks being or been fetched; locked */
	uint64_t	 ready;	/* head, as the threads may see it; locked */
	pthread_t	 thread[THREADS];
	size_t		 nthread;
	size_t		 idle;	/* threads that wait for work; locked */
	void		(*find)(void *, struct block *);
	void		*findarg; /* its first argument */
	void		(*call)(void *); /* something else to do; locked */
	void		*arg;	/* its argument; locked */
	bool		 calling; /* it is being done; locked */
	bool		 waiting; /* the caller waits; locked */
	bool		 quit;	/* locked */
	pthread_mutex_t	 lock;
	pthread_cond_t	 work;
	pthread_cond_t	 done;
};

/*
 * Return the hash of a whole page.  The secret, SECRETSIZE random bytes, keeps
 * anyone from making pages that collide.
 */
static uint64_t
page_hash(const uint8_t *p, const uint8_t *secret)
{
	return XXH3_64bits_withSecret(p, KB, secret, SECRETSIZE);
}

/*
 * Read the pages of a want one identity at a time, after reading them
 * together met some that cannot be read.
 */
static int
want_salvage(struct block *b, const struct want *w)
{
	struct run r;
	uint64_t i, k;
	int rc;

	for (i = 0; i < w->run.n; i += r.n) {
		r.loc = w->run.loc + i * w->src->pitch;
		r.n = IDENTITY_KB - r.loc / KB % IDENTITY_KB;
		if (r.n > w->run.n - i)
			r.n = w->run.n - i;
		rc = source_read(w->src, &r, 1,
		    b->data + (size_t)(b->slot[w->kb] + i) * KB);
		if (rc == -1)
			return -1;
		if (rc == SOURCE_OK)
			continue;
		for (k = 0; k < r.n; k++)
			b->state[w->kb + i + k] = PAGE_LOST;
		strlcpy(b->why, snap_errstr(), sizeof b->why);
	}
	return 0;
}

/*
 * Read all wants of one source in one call, as far as they stand together.
 */
static int
block_read(struct block *b)
{
	struct run run[BLOCK];
	size_t i, k, n;
	int rc;

	for (i = 0; i < b->nwant; i += n) {
		for (n = 0; i + n < b->nwant &&
		    b->want[i + n].src == b->want[i].src; n++)
			run[n] = b->want[i + n].run;
		rc = source_read(b->want[i].src, run, n,
		    b->data + (size_t)b->slot[b->want[i].kb] * KB);
		for (k = 0; k < n && rc == SOURCE_LOST; k++)
			if (want_salvage(b, &b->want[i + k]) == -1)
				return -1;
		if (rc == -1)
			return -1;
	}
	return 0;
}

/*
 * Read a block; find out which of its pages are zero, and hash the others.
 * Return true; false if that failed, and b tells why.
 */
static bool
block_fetch(struct block *b)
{
	size_t i, len;
	const uint8_t *p;

	b->rc = block_read(b);
	if (b->rc == -1) {
		strlcpy(b->why, snap_errstr(), sizeof b->why);
		return false;
	}
	for (i = 0; i < b->n; i++) {
		if (b->state[i] != PAGE_READ)
			continue;
		p = b->data + (size_t)b->slot[i] * KB;
		len = segment_kblen(b->seg, b->kb + i);
		if (bytes_arezero(p, len))
			b->state[i] = PAGE_ZERO;
		else if (len == KB)
			b->hash[i] = page_hash(p, b->secret);
	}
	return true;
}

/*
 * Fetch the next block that waits for it.  The lock is held when this is
 * called and when it returns.
 */
static void
fetch_next(struct fetcher *f)
{
	struct block *b;
	char why[1024];

	b = &f->ring[f->taken++ % f->nring];
	pthread_mutex_unlock(&f->lock);
	strlcpy(why, snap_errstr(), sizeof why);
	if (block_fetch(b))
		f->find(f->findarg, b);
	errstr_set("%s", why);	/* the caller may be on its way out */
	pthread_mutex_lock(&f->lock);
	b->done = true;
	if (f->waiting)
		pthread_cond_signal(&f->done);
}

/*
 * Do the something else.  The lock is held, as above.
 */
static void
call_now(struct fetcher *f)
{
	void (*fn)(void *);
	char why[1024];

	fn = f->call;
	f->call = NULL;
	f->calling = true;
	pthread_mutex_unlock(&f->lock);
	strlcpy(why, snap_errstr(), sizeof why);
	fn(f->arg);
	errstr_set("%s", why);
	pthread_mutex_lock(&f->lock);
	f->calling = false;
	if (f->waiting)
		pthread_cond_signal(&f->done);
}

static void *
fetcher_work(void *arg)
{
	struct fetcher *f = arg;

	pthread_mutex_lock(&f->lock);
	while (!f->quit) {
		if (f->call != NULL) {
			call_now(f);
			continue;
		}
		if (f->taken < f->ready) {
			fetch_next(f);
			continue;
		}
		f->idle++;
		pthread_cond_wait(&f->work, &f->lock);
		f->idle--;
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/*
 * Make the ring, for so many threads beside the caller.  Return 0, or -1 if
 * there is no memory.
 */
static int
fetcher_ring(struct fetcher *f, size_t threads)
{
	size_t i;

	f->nring = 2 * (threads + 1);
	if (f->nring < LEAST)
		f->nring = LEAST;
	if ((f->ring = calloc(f->nring, sizeof *f->ring)) == NULL)
		return -1;
	for (i = 0; i < f->nring; i++)
		if ((f->ring[i].data = malloc(BLOCK * KB)) == NULL)
			return -1;
	return 0;
}

/*
 * Start so many threads, or as many as can be.  They take no signals.
 */
static void
fetcher_start(struct fetcher *f, size_t threads)
{
	while (f->nthread < threads &&
	    worker_start(&f->thread[f->nthread], fetcher_work, f) == 0)
		f->nthread++;
}

/*
 * Make a fetcher.  find is called, with arg, for each block that was read, by
 * several threads at a time.  Return NULL with errstr if there is no memory.
 */
struct fetcher *
fetcher_new(void (*find)(void *, struct block *), void *arg)
{
	struct fetcher *f;
	size_t threads;

	threads = (size_t)processors_count() - 1;
	if (threads > THREADS)
		threads = THREADS;
	if ((f = calloc(1, sizeof *f)) == NULL)
		goto nomem;
	f->find = find;
	f->findarg = arg;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->work, NULL);
	pthread_cond_init(&f->done, NULL);
	if (fetcher_ring(f, threads) == -1)
		goto nomem;
	fetcher_start(f, threads);
	return f;
nomem:
	fetcher_free(f);
	errstr_set("out of memory");
	return NULL;
}

/*
 * End the threads of f, or of NULL, and free it.
 */
void
fetcher_free(struct fetcher *f)
{
	size_t i;

	if (f == NULL)
		return;
	pthread_mutex_lock(&f->lock);
	f->quit = true;
	pthread_cond_broadcast(&f->work);
	pthread_mutex_unlock(&f->lock);
	for (i = 0; i < f->nthread; i++)
		pthread_join(f->thread[i], NULL);
	for (i = 0; f->ring != NULL && i < f->nring; i++)
		free(f->ring[i].data);
	free(f->ring);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->work);
	pthread_cond_destroy(&f->done);
	free(f);
}

/*
 * Return a block of f to plan, or NULL when all are under way.
 */
struct block *
fetcher_idle(struct fetcher *f)
{
	return f->head - f->tail < f->nring ? &f->ring[f->head % f->nring] :
	    NULL;
}

/*
 * Have block b, which fetcher_idle gave, fetched by f.
 */
void
fetcher_submit(struct fetcher *f, struct block *b)
{
	f->head++;
	pthread_mutex_lock(&f->lock);
	f->ready = f->head;
	b->done = b->nwant == 0 && f->taken == f->ready - 1;
	if (b->done)
		f->taken++;
	else if (f->idle > 0)
		pthread_cond_signal(&f->work);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Wait for the oldest block under way in f, and return it; NULL when there is
 * none.
 */
struct block *
fetcher_oldest(struct fetcher *f)
{
	struct block *b;

	if (f->tail == f->head)
		return NULL;
	b = &f->ring[f->tail % f->nring];
	pthread_mutex_lock(&f->lock);
	while (!b->done)
		if (f->taken < f->ready)
			fetch_next(f);
		else {
			f->waiting = true;
			pthread_cond_wait(&f->done, &f->lock);
			f->waiting = false;
		}
	pthread_mutex_unlock(&f->lock);
	return b;
}

/*
 * Give back the oldest block of f, which has been used.
 */
void
fetcher_retire(struct fetcher *f)
{
	f->tail++;
}

/*
 * Have fn called soon with arg, by a thread of f or by fetcher_await: one at a
 * time.
 */
void
fetcher_call(struct fetcher *f, void (*fn)(void *), void *arg)
{
	pthread_mutex_lock(&f->lock);
	f->call = fn;
	f->arg = arg;
	if (f->idle > 0)
		pthread_cond_signal(&f->work);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Wait until what fetcher_call was given for f has been done.
 */
void
fetcher_await(struct fetcher *f)
{
	pthread_mutex_lock(&f->lock);
	if (f->call != NULL)
		call_now(f);
	while (f->calling) {
		f->waiting = true;
		pthread_cond_wait(&f->done, &f->lock);
		f->waiting = false;
	}
	pthread_mutex_unlock(&f->lock);
}
