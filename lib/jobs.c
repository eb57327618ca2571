/*
 * A ring of jobs. One thread, the caller, fills jobs, submits them and takes
 * them back in the order of submission; worker threads do them:
 *
 *	idle -> submitted -> taken -> done -> retired, idle
 *
 *	tail			retired up to here
 *	tail .. taken		being done, or done
 *	taken .. head		submitted, and wait for a thread
 *	head			idle, and filled next
 *
 * If no thread can be created, the caller does the jobs when it takes them
 * back.
 */
#include "jobs.h"
#include "library.h"
#include "vec.h"
#include "worker.h"

#include <pthread.h>

struct jobs {
	char		*job;	/* owned; "njob" jobs of "size" bytes each */
	bool		*done; /* owned; whether each job is done; under lock */
	size_t		 njob;
	size_t		 size;
	uint64_t	 head;	/* number of jobs submitted */
	uint64_t	 tail;	/* number of jobs retired */
	uint64_t	 taken;	/* number of jobs started; under lock */
	uint64_t	 ready;	/* copy of "head" for the threads; under lock */
	void		(*work)(void *, void *);
	void		*arg;	/* first argument of work() */
	bool		 help;	/* the caller also does jobs while it waits */
	pthread_t	*thread; /* owned */
	size_t		 nthread;
	size_t		 idle;	/* number of threads waiting for jobs; under
				   lock */
	bool		 waiting; /* the caller is waiting; under lock */
	bool		 quit;	/* threads must exit; under lock */
	pthread_mutex_t	 lock;
	pthread_cond_t	 more;	/* signaled when a job is submitted or quit is
				   set */
	pthread_cond_t	 less;	/* signaled when a job is done */
};

/*
 * Do the next submitted job. The caller must hold the lock, which is released
 * during the job.
 */
static void
jobs_work(struct jobs *r)
{
	size_t i;

	i = (size_t)(r->taken++ % r->njob);
	pthread_mutex_unlock(&r->lock);
	r->work(r->arg, r->job + i * r->size);
	pthread_mutex_lock(&r->lock);
	r->done[i] = true;
	if (r->waiting)
		pthread_cond_signal(&r->less);
}

static void *
jobs_thread(void *arg)
{
	struct jobs *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->quit) {
		if (r->taken < r->ready) {
			jobs_work(r);
			continue;
		}
		r->idle++;
		pthread_cond_wait(&r->more, &r->lock);
		r->idle--;
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/*
 * Make a ring of njob jobs of size bytes each, all zero. Start the given number
 * of threads, or as many as can be created. They call work(arg, job), several
 * of them at the same time. If help is set, the caller also does jobs while it
 * would otherwise wait. Return the ring, or NULL with errstr set if memory runs
 * out.
 */
struct jobs *
jobs_new(size_t threads, size_t njob, size_t size,
    void (*work)(void *arg, void *job), void *arg, bool help)
{
	struct jobs *r;

	if ((r = mem_new(1, sizeof *r)) == NULL)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	pthread_cond_init(&r->less, NULL);
	r->njob = njob;
	r->size = size;
	r->work = work;
	r->arg = arg;
	r->help = help;
	if ((r->job = mem_new(njob, size)) == NULL ||
	    (r->done = mem_new(njob, sizeof *r->done)) == NULL ||
	    (r->thread = mem_new(threads + 1, sizeof *r->thread)) == NULL) {
		jobs_free(r, NULL);
		return NULL;
	}
	while (r->nthread < threads &&
	    worker_start(&r->thread[r->nthread], jobs_thread, r) == 0)
		r->nthread++;
	return r;
}

/*
 * End the threads of r, and free r, which may be NULL. Call drop() for each
 * job, unless drop is NULL. Jobs that no thread has begun are not done.
 */
void
jobs_free(struct jobs *r, void (*drop)(void *job))
{
	size_t i;

	if (r == NULL)
		return;
	pthread_mutex_lock(&r->lock);
	r->quit = true;
	pthread_cond_broadcast(&r->more);
	pthread_mutex_unlock(&r->lock);
	for (i = 0; i < r->nthread; i++)
		pthread_join(r->thread[i], NULL);
	for (i = 0; drop != NULL && r->job != NULL && i < r->njob; i++)
		drop(r->job + i * r->size);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->less);
	free(r->thread);
	free(r->done);
	free(r->job);
	free(r);
}

/*
 * Return the next job of r to fill. Its contents are those it had when it was
 * retired. Return NULL if all jobs are submitted.
 */
void *
jobs_idle(const struct jobs *r)
{
	return r->head - r->tail < r->njob ? r->job + r->head % r->njob *
	    r->size : NULL;
}

/*
 * Submit the job that jobs_idle() returned. easy is true if the job is short:
 * it is then done at once in the caller's thread, provided that all earlier
 * jobs have begun.
 */
void
jobs_submit(struct jobs *r, bool easy)
{
	r->head++;
	pthread_mutex_lock(&r->lock);
	r->done[(r->head - 1) % r->njob] = false;
	r->ready = r->head;
	if (easy && r->taken == r->ready - 1)
		jobs_work(r);
	else if (r->idle > 0)
		pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

/*
 * Wait until the oldest submitted job of r is done, and return it. If wait is
 * false, return NULL if the job is not done yet. Return NULL if no job is
 * submitted.
 */
void *
jobs_oldest(struct jobs *r, bool wait)
{
	const size_t i = (size_t)(r->tail % r->njob);
	char why[1024];
	bool done;

	if (r->tail == r->head)
		return NULL;
	pthread_mutex_lock(&r->lock);
	while (!r->done[i] && wait)
		if (r->taken < r->ready && (r->help || r->nthread == 0)) {
			/* the caller may be about to return an error */
			strlcpy(why, snap_errstr(), sizeof why);
			jobs_work(r);
			errstr_set("%s", why);
		} else {
			r->waiting = true;
			pthread_cond_wait(&r->less, &r->lock);
			r->waiting = false;
		}
	done = r->done[i];
	pthread_mutex_unlock(&r->lock);
	return done ? r->job + i * r->size : NULL;
}

/*
 * Retire the oldest job of r, which jobs_oldest() returned.
 */
void
jobs_retire(struct jobs *r)
{
	r->tail++;
}
