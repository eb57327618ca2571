/*
 * smaps of many processes, read by several threads before any is stopped: the
 * kernel looks at each page for it, which takes 15 milliseconds for a gigabyte.
 * Each thread asks a proxy of its own.
 */
#include "linux/proxy/proxy.h"
#include "live.h"
#include "worker.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { EACH = 4 };		/* processes that a thread is worth */

struct reading {
	struct lproc	**v;	/* owned; what it points to is borrowed */
	size_t		 n;
	atomic_size_t	 next;
	atomic_size_t	 lane;	/* that is free */
};

static void
reading_go(struct reading *r)
{
	size_t i;

	while ((i = r->next++) < r->n)
		(void)mappings_readrunning(r->v[i]);
}

static void *
reading_work(void *arg)
{
	struct reading *r = arg;

	proxy_enter(r->lane++);
	reading_go(r);
	proxy_leave();
	return NULL;
}

/*
 * Read smaps of all processes of set l that have memory, if they are many.
 * Where that fails, there is none.
 */
void
live_readahead(struct live *l)
{
	struct reading r = { .lane = 1 };
	pthread_t thread[PROXY_LANES];
	struct lproc *p;
	size_t i, n, most;

	TAILQ_FOREACH(p, &l->procs, entry)
		r.n += !p->skip && !p->kernel;
	most = (size_t)processors_count();
	if (most > PROXY_LANES)
		most = PROXY_LANES;
	if (most > r.n / EACH)
		most = r.n / EACH;
	if (most < 2 || (r.v = calloc(r.n, sizeof(*r.v))) == NULL)
		return;
	r.n = 0;
	TAILQ_FOREACH(p, &l->procs, entry)
		if (!p->skip && !p->kernel)
			r.v[r.n++] = p;
	for (n = 0; n + 1 < most && worker_start(&thread[n], reading_work,
	    &r) == 0; n++)
		continue;
	reading_go(&r);
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(r.v);
}
