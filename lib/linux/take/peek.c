/*
 * What is read below /proc of processes that stand still, by several threads
 * at once: of a thread whether it has run, its name, and what else any thread
 * of ours may ask of it; of a process that is cloned its maps, descriptors and
 * links.  The one that traces them asks ptrace(2) meanwhile, and then reads,
 * too.
 */
#include "linux/stop/stop.h"
#include "model.h"
#include "taking.h"
#include "worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	WORKERS = 3,		/* beside the one that traces, at the most */
	LEAST = 8,		/* things to read for each of them */
	TOGETHER = 64		/* threads that one of ours reads in a row */
};

struct peek {			/* something to be read */
	struct lproc	*proc;	/* borrowed */
	struct lthread	*first;	/* borrowed; of threads of that, n in a row; or
				   NULL: the process */
	size_t		 n;
};

struct peeks {
	struct peek	*v;	/* owned */
	size_t		 n;
	atomic_size_t	 next;	/* that nobody has begun with */
	pthread_t	 thread[WORKERS];
	size_t		 nthread;
};

/*
 * Read what is to be read of thread t of process p; q holds the directory of
 * its threads.
 */
static void
thread_peek(const struct lproc *p, struct lproc *q, struct lthread *t)
{
	t->peeked = true;
	if (t->tid != p->pid && t->hold == HOLD_GONE)
		return;
	t->stayed = t->hold == HOLD_STOPPED && p->mmtid == p->pid &&
	    thread_stayed(q, t);
	thread_name(q, t);
	if (t->hold == HOLD_STOPPED || t->hold == HOLD_DUMPED)
		outside_look(t);
}

static void *
peek_work(void *arg)
{
	struct peeks *all = arg;
	struct lthread *t;
	struct peek *k;
	struct lproc q;
	size_t i;

	while ((i = atomic_fetch_add(&all->next, 1)) < all->n) {
		k = &all->v[i];
		if (k->first == NULL)
			proc_peek(k->proc);
		q = (struct lproc){ .pid = k->proc->pid, .taskdir = -1 };
		for (t = k->first, i = 0; i < k->n;
		    t = TAILQ_NEXT(t, entry), i++)
			thread_peek(k->proc, &q, t);
		threads_close(&q);
	}
	return NULL;
}

/*
 * Note that threads of process p are to be read, and p itself with whole.
 */
static void
peeks_add(struct peeks *all, struct lproc *p, bool whole)
{
	struct lthread *t;
	struct peek *k = NULL;

	TAILQ_FOREACH(t, &p->threads, entry) {
		if (k == NULL || k->n == TOGETHER) {
			k = &all->v[all->n++];
			k->proc = p;
			k->first = t;
		}
		k->n++;
	}
	if (whole)
		all->v[all->n++].proc = p;
}

/*
 * Return how many things are to be read of set l, at the most.
 */
static size_t
peeks_count(const struct live *l)
{
	const struct lproc *p;
	const struct lthread *t;
	size_t n, threads;

	n = 0;
	TAILQ_FOREACH(p, &l->procs, entry) {
		threads = 0;
		TAILQ_FOREACH(t, &p->threads, entry)
			threads++;
		n += (threads + TOGETHER - 1) / TOGETHER + 1;
	}
	return n;
}

/*
 * Begin to read all of set l, which stands still.  Return what is for
 * peeks_end; NULL where that cannot be.
 */
struct peeks *
peeks_begin(const struct live *l)
{
	struct peeks *k;
	struct lproc *p;
	size_t want;

	if ((k = calloc(1, sizeof *k)) == NULL)
		return NULL;
	if ((k->v = calloc(peeks_count(l) + 1, sizeof *k->v)) == NULL) {
		free(k);
		return NULL;
	}
	TAILQ_FOREACH(p, &l->procs, entry)
		if (!p->skip && !p->kernel)
			peeks_add(k, p, l->opts.clone);
	want = k->n / LEAST;
	if (want > (size_t)processors_count() - 1)
		want = (size_t)processors_count() - 1;
	if (want > WORKERS)
		want = WORKERS;
	while (k->nthread < want && worker_start(&k->thread[k->nthread],
	    peek_work, k) == 0)
		k->nthread++;
	return k;
}

/*
 * Read what is left, wait until all is read, and free k; NULL: nothing was.
 */
void
peeks_end(struct peeks *k)
{
	size_t i;

	if (k == NULL)
		return;
	(void)peek_work(k);
	for (i = 0; i < k->nthread; i++)
		pthread_join(k->thread[i], NULL);
	free(k->v);
	free(k);
}

/*
 * Read what is to be read of thread t of process p, unless that was done.
 */
void
peek_thread(struct lproc *p, struct lthread *t)
{
	if (!t->peeked)
		thread_peek(p, p, t);
}
