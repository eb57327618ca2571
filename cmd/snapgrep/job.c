/*
 * Bodies searched by several threads, in the order in which they are asked for:
 * a megabyte is a job.  A match belongs to the job in which it begins.
 *
 * When a job is asked for that is not done, all threads do a round: that job
 * and those behind it, more in each round, so that little is done in vain if
 * the first matches are enough.  A thread takes several that follow one another
 * at once: what it reads and checks beyond the end of one is at hand for the
 * next.  Of a job that has very many matches none are kept: it is done again
 * when it is asked for.
 */
#include "snapgrep.h"
#include "worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	TOGETHER = 16,		/* jobs that are taken at once, at most */
	SHARES = 4,		/* of a round, that a thread takes at least */
	GROWTH = 4,		/* of a round, from the one before */
	MANY = 8192		/* matches that are kept of a job */
};

struct job {
	size_t		 body;
	uint64_t	 at;	/* of its first byte, in the body */
	bool		 done;
	bool		 many;	/* more matches than are kept */
	struct found	*v;	/* owned */
	size_t		 n;
};

struct worker {			/* a thread's */
	struct matcher	 m;	/* owned */
	uint8_t		*buf;	/* owned */
};

struct search {
	const struct plan *p;	/* borrowed */
	struct job	*job;	/* owned */
	size_t		 most;	/* bytes to read for one */
	struct job	 again;	/* one of very many matches, done again */
	struct worker	*w;	/* owned; the first is also that of who asks */
	size_t		 nw;
	size_t		 round;	/* jobs of the next round */
	size_t		 end;	/* of the present one; exclusive */
	size_t		 together; /* jobs that are taken at once */
	atomic_size_t	 next;	/* job of the round that nobody has taken */
	atomic_size_t	 begun;	/* workers that have a thread in the round */
	pthread_mutex_t	 lock;	/* of these: */
	uint64_t	 lost;	/* kilobytes that could not be read */
	char		 why[512]; /* the first could not */
};

static void
search_lose(struct search *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->lost++ == 0)
		strlcpy(s->why, snap_errstr(), sizeof s->why);
	pthread_mutex_unlock(&s->lock);
}

/*
 * Read n kilobytes, those that cannot be read as zeros.
 */
static void
read_run(struct search *s, struct source *src, uint64_t loc, uint64_t n,
    uint8_t *buf)
{
	struct run r = { loc, n };

	if (source_read(src, &r, 1, buf) == SOURCE_OK)
		return;
	for (r.n = 1; n > 0; n--, r.loc += src->pitch, buf += KB)
		if (source_read(src, &r, 1, buf) != SOURCE_OK) {
			memset(buf, 0, KB);
			search_lose(s);
		}
}

/*
 * Read len bytes of a body, which has them, from a byte of it on.
 */
void
search_read(struct search *s, size_t body, uint64_t at, uint8_t *buf,
    size_t len)
{
	const struct stored *t;
	uint8_t page[KB];
	uint64_t left, loc;
	size_t n, skip;

	if (body == BODY_ZERO) {
		memset(buf, 0, len);
		return;
	}
	for (; len > 0; at += n, buf += n, len -= n) {
		t = plan_stored(s->p, body, at);
		left = t->len - (at - t->at);
		n = left < len ? (size_t)left : len;
		if (!stored_place(t, at - t->at, &loc, &skip))
			memset(buf, 0, n);
		else if (skip == 0 && n >= KB) {
			n -= n % KB;
			read_run(s, t->src, loc, n / KB, buf);
		} else {
			n = n < KB - skip ? n : KB - skip;
			read_run(s, t->src, loc, 1, page);
			memcpy(buf, page + skip, n);
		}
	}
}

/*
 * Do a job of s as worker w.
 */
static void
job_do(struct search *s, struct worker *w, struct job *j)
{
	const struct plan *p = s->p;
	const struct body *b = &p->body[j->body];
	uint64_t first, end;
	size_t from, start, stop, lead;

	first = j->at - (j->at < p->pattern->before ? j->at :
	    p->pattern->before);
	end = b->len - first < s->most ? b->len : first + s->most;
	lead = (size_t)(j->at - first);
	w->m.base = b->addr + first;
	search_read(s, j->body, first, w->buf, (size_t)(end - first));
	for (from = lead; matcher_next(&w->m, w->buf, (size_t)(end - first),
	    from, false, &start, &stop) == MATCH_FOUND && start < lead + JOB;
	    from = stop) {
		MUST_ROOM(j->v, j->n);
		j->v[j->n++] = (struct found){ (uint32_t)(start - lead),
		    (uint32_t)(stop - start) };
	}
}

static void
job_drop(struct job *j)
{
	free(j->v);
	j->v = NULL;
	j->n = 0;
}

/*
 * Do jobs of the round that others have not taken.
 */
static void *
worker_main(void *arg)
{
	struct search *s = arg;
	struct worker *w = &s->w[atomic_fetch_add(&s->begun, 1)];
	struct job *j;
	size_t i, n;

	while ((i = atomic_fetch_add(&s->next, s->together)) < s->end)
		for (n = s->together; n > 0 && i < s->end; n--, i++) {
			j = &s->job[i];
			if (j->done)
				continue;
			job_do(s, w, j);
			if ((j->many = j->n > MANY))
				job_drop(j);
			j->done = true;
		}
	return NULL;
}

/*
 * Do job i and those of a round behind it.
 */
static void
search_round(struct search *s, size_t i)
{
	const size_t left = s->p->njob - i;
	const size_t n = s->round < left ? s->round : left;

	s->round = n * GROWTH;
	s->together = n / s->nw / SHARES;
	if (s->together > TOGETHER)
		s->together = TOGETHER;
	if (s->together == 0)
		s->together = 1;
	s->next = i;
	s->end = i + n;
	s->begun = 0;
	workers_run(s->nw, worker_main, s);
}

/*
 * Begin to search what is planned, by a thread for each processor, or fewer
 * where there is not so much work.  Return NULL, with errstr, if that is more
 * than there is memory for.
 */
struct search *
search_new(const struct plan *p)
{
	const int cpus = processors_count();
	struct search *s;
	size_t i, k, n;

	s = must(calloc(1, sizeof *s));
	pthread_mutex_init(&s->lock, NULL);
	s->p = p;
	s->most = p->pattern->before + JOB + (p->pattern->reach == ACROSS ?
	    LONGEST : p->pattern->reach);
	if ((s->job = mem_new(p->njob, sizeof *s->job)) == NULL) {
		search_free(s);
		return NULL;
	}
	for (i = n = 0; i < p->nbody; i++)
		for (k = 0; k < jobs_of(&p->body[i]); k++)
			s->job[n++] = (struct job){ .body = i,
			    .at = (uint64_t)k * JOB };
	n = cpus < MAX_WORKERS ? (size_t)cpus : MAX_WORKERS;
	n = n < p->njob ? n : p->njob;
	s->nw = n == 0 || p->pattern->kind == PATTERN_YARA ? 1 : n;
	s->round = s->nw * TOGETHER;
	s->w = must(calloc(s->nw, sizeof *s->w));
	for (i = 0; i < s->nw; i++) {
		matcher_open(&s->w[i].m, p->pattern);
		s->w[i].buf = must(malloc(s->most));
	}
	return s;
}

/*
 * Free s, which may be NULL.
 */
void
search_free(struct search *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->nw; i++) {
		matcher_close(&s->w[i].m);
		free(s->w[i].buf);
	}
	for (i = 0; s->job != NULL && i < s->p->njob; i++)
		job_drop(&s->job[i]);
	job_drop(&s->again);
	free(s->job);
	free(s->w);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/*
 * Return the matches that begin in job i of a body, *n of them, good until the
 * next call.
 */
const struct found *
search_job(struct search *s, size_t body, size_t i, size_t *n)
{
	struct job *j = &s->job[s->p->body[body].job + i];

	if (!j->done)
		search_round(s, (size_t)(j - s->job));
	if (j->many) {
		job_drop(&s->again);
		s->again.body = j->body;
		s->again.at = j->at;
		job_do(s, s->w, &s->again);
		j = &s->again;
	}
	*n = j->n;
	return j->v;
}

/*
 * Return the matcher of who asks.
 */
struct matcher *
search_matcher(struct search *s)
{
	return &s->w->m;
}

/*
 * Return how many kilobytes could not be read, and why the first could not.
 */
uint64_t
search_lost(const struct search *s, const char **why)
{
	*why = s->why;
	return s->lost;
}

/*
 * Return whether somewhere the search was given up, as it would take too long.
 */
bool
search_costly(const struct search *s)
{
	size_t i;

	for (i = 0; i < s->nw && !s->w[i].m.costly; i++)
		continue;
	return i < s->nw;
}
