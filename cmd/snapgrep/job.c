/*
 * Bodies searched by several threads, in the order in which they are asked for:
 * a megabyte is a job.  A match belongs to the job in which it begins.
 *
 *	WAITING -> TAKEN -> DONE
 *
 * Several that follow one another are taken at once, by one thread: what it
 * reads and checks beyond the end of one is at hand for the next.  Who asks for
 * a job does it himself if nobody has taken it, and others while it is not
 * done.  Of one that has very many matches none are kept: it is done again when
 * it is asked for.
 */
#include "snapgrep.h"
#include "worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 16,
	TOGETHER = 16,		/* jobs that are taken at once, at most */
	SHARES = 4,		/* of all jobs, that a thread takes at least */
	MANY = 8192		/* matches that are kept of a job */
};

enum state { WAITING, TAKEN, DONE };

struct job {
	size_t		 body;
	uint64_t	 at;	/* of its first byte, in the body */
	enum state	 state;	/* locked */
	bool		 many;	/* more than are kept */
	struct found	*v;	/* owned */
	size_t		 n;
};

struct worker {
	struct search	*s;	/* borrowed */
	struct matcher	 m;	/* owned */
	uint8_t		*buf;	/* owned */
	struct found	*v;	/* owned; of the present job */
	size_t		 n;
	size_t		 cap;
	size_t		 next;	/* of the jobs that it has taken; locked */
	size_t		 end;	/* of those; exclusive; locked */
	pthread_t	 thread;
};

struct search {
	const struct plan *p;	/* borrowed */
	struct job	*job;	/* owned */
	size_t		 njob;
	size_t		 next;	/* that nobody has looked at; locked */
	size_t		 together; /* jobs that are taken at once */
	size_t		 most;	/* bytes to read for one */
	struct worker	 self;	/* of who asks */
	struct worker	*w;	/* owned */
	size_t		 nw;
	bool		 quit;	/* locked, as all below */
	bool		 failed; /* out of memory */
	bool		 costly;
	uint64_t	 lost;	/* kilobytes that could not be read */
	char		 why[512];
	pthread_mutex_t	 lock;
	pthread_cond_t	 done;
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

static int
worker_keep(struct worker *w, size_t at, size_t len)
{
	struct found *v;
	size_t cap;

	if (w->n == w->cap) {
		cap = w->cap == 0 ? 64 : w->cap * 2;
		if ((v = reallocarray(w->v, cap, sizeof *v)) == NULL)
			return -1;
		w->v = v;
		w->cap = cap;
	}
	w->v[w->n++] = (struct found){ (uint32_t)at, (uint32_t)len };
	return 0;
}

/*
 * Do a job: what it finds is the worker's.
 */
static int
worker_do(struct worker *w, const struct job *j)
{
	const struct plan *p = w->s->p;
	uint64_t first, end, len;
	size_t from, start, stop;

	len = p->body[j->body].len;
	first = j->at - (j->at < p->pattern->before ? j->at :
	    p->pattern->before);
	end = len - first < w->s->most ? len : first + w->s->most;
	w->m.base = p->body[j->body].addr + first;
	search_read(w->s, j->body, first, w->buf, (size_t)(end - first));
	w->n = 0;
	for (from = (size_t)(j->at - first); matcher_next(&w->m, w->buf,
	    (size_t)(end - first), from, false, &start, &stop) == MATCH_FOUND;
	    from = stop) {
		if (start >= j->at - first + JOB)
			break;
		if (worker_keep(w, start - (size_t)(j->at - first),
		    stop - start) == -1)
			return -1;
	}
	return 0;
}

/*
 * Do a job that was taken.  The lock is held, but not while it is done.
 */
static void
worker_job(struct worker *w, struct job *j)
{
	struct search *s = w->s;
	int rc;

	pthread_mutex_unlock(&s->lock);
	rc = worker_do(w, j);
	j->many = w->n > MANY;
	if (rc == 0 && !j->many && w->n > 0) {
		if ((j->v = calloc(w->n, sizeof *j->v)) == NULL)
			rc = -1;
		else {
			memcpy(j->v, w->v, w->n * sizeof *j->v);
			j->n = w->n;
		}
	}
	pthread_mutex_lock(&s->lock);
	s->failed |= rc == -1;
	s->costly |= w->m.costly;
	j->state = DONE;
	pthread_cond_broadcast(&s->done);
}

/*
 * Take job i, which nobody has taken, and those behind it that nobody has, some
 * together.  The lock is held, and the worker has none.
 */
static void
worker_take(struct worker *w, size_t i)
{
	const struct search *s = w->s;

	w->next = i;
	for (w->end = i; w->end < s->njob && w->end - i < s->together &&
	    s->job[w->end].state == WAITING; w->end++)
		s->job[w->end].state = TAKEN;
}

/*
 * Do the next job of those that were taken, or that nobody has.  The lock is
 * held, but not while it is done.  Return false if there is none.
 */
static bool
worker_next(struct worker *w)
{
	struct search *s = w->s;

	if (w->next == w->end) {
		while (s->next < s->njob && s->job[s->next].state != WAITING)
			s->next++;
		if (s->next == s->njob)
			return false;
		worker_take(w, s->next);
	}
	worker_job(w, &s->job[w->next++]);
	return true;
}

static void *
worker_main(void *arg)
{
	struct worker *w = arg;
	struct search *s = w->s;

	pthread_mutex_lock(&s->lock);
	while (!s->quit && worker_next(w))
		continue;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int
worker_open(struct worker *w, struct search *s)
{
	w->s = s;
	if ((w->buf = malloc(s->most)) == NULL)
		return errstr_set("out of memory");
	return matcher_open(&w->m, s->p->pattern);
}

static void
worker_close(struct worker *w)
{
	matcher_close(&w->m);
	free(w->buf);
	free(w->v);
}

/*
 * Start a thread for each processor but this thread's own, which take no
 * signals; fewer where there is no more work.
 */
static int
workers_start(struct search *s)
{
	int n, i, rc;

	n = s->p->pattern->kind == PATTERN_YARA ? 0 : processors_count() - 1;
	n = n < THREADS ? n : THREADS;
	if ((size_t)n >= s->njob)
		n = s->njob == 0 ? 0 : (int)s->njob - 1;
	if ((s->w = calloc((size_t)n + 1, sizeof *s->w)) == NULL)
		return errstr_set("out of memory");
	s->together = s->njob / ((size_t)n + 1) / SHARES;
	if (s->together > TOGETHER)
		s->together = TOGETHER;
	if (s->together == 0)
		s->together = 1;
	for (i = 0, rc = 0; i < n && rc == 0; i++) {
		rc = worker_open(&s->w[i], s);
		if (rc == -1 || worker_start(&s->w[i].thread, worker_main,
		    &s->w[i]) != 0) {
			worker_close(&s->w[i]);
			break;
		}
		s->nw++;
	}
	return rc;
}

/*
 * Begin to search what is planned.
 */
struct search *
search_new(const struct plan *p)
{
	struct search *s;
	size_t i, k, n;

	if ((s = calloc(1, sizeof *s)) == NULL)
		goto nomem;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->done, NULL);
	s->p = p;
	s->most = p->pattern->before + JOB + (p->pattern->reach == ACROSS ?
	    LONGEST : p->pattern->reach);
	n = 1;
	if (p->nbody > 0 && __builtin_add_overflow(p->body[p->nbody - 1].job,
	    jobs_of(&p->body[p->nbody - 1]), &n))
		goto nomem;
	if ((s->job = calloc(n, sizeof *s->job)) == NULL)
		goto nomem;
	for (i = 0; i < p->nbody; i++)
		for (k = 0; k < jobs_of(&p->body[i]); k++)
			s->job[s->njob++] = (struct job){ .body = i,
			    .at = (uint64_t)k * JOB };
	if (worker_open(&s->self, s) == -1 || workers_start(s) == -1) {
		search_free(s);
		return NULL;
	}
	return s;
nomem:
	search_free(s);
	errstr_set("out of memory");
	return NULL;
}

/*
 * End the threads of s, or of NULL, and free it.
 */
void
search_free(struct search *s)
{
	size_t i;

	if (s == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_mutex_unlock(&s->lock);
	for (i = 0; i < s->nw; i++) {
		pthread_join(s->w[i].thread, NULL);
		worker_close(&s->w[i]);
	}
	worker_close(&s->self);
	for (i = 0; i < s->njob; i++)
		free(s->job[i].v);
	free(s->job);
	free(s->w);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->done);
	free(s);
}

/*
 * Return the matches that begin in job i of a body, *n of them, good until the
 * next call; NULL with errstr on an error.
 */
const struct found *
search_job(struct search *s, size_t body, size_t i, size_t *n)
{
	static const struct found none;
	struct job *j = &s->job[s->p->body[body].job + i];
	bool failed;

	pthread_mutex_lock(&s->lock);
	while (j->state != DONE) {
		if (j->state == WAITING && s->self.next == s->self.end)
			worker_take(&s->self, (size_t)(j - s->job));
		if (!worker_next(&s->self))
			pthread_cond_wait(&s->done, &s->lock);
	}
	failed = s->failed;
	pthread_mutex_unlock(&s->lock);
	if (failed || (j->many && worker_do(&s->self, j) == -1)) {
		errstr_set("out of memory");
		return NULL;
	}
	*n = j->many ? s->self.n : j->n;
	return *n == 0 ? &none : j->many ? s->self.v : j->v;
}

/*
 * Return the matcher of who asks.
 */
struct matcher *
search_matcher(struct search *s)
{
	return &s->self.m;
}

/*
 * Return how many kilobytes could not be read, and why the first could not.
 */
uint64_t
search_lost(struct search *s, const char **why)
{
	uint64_t lost;

	pthread_mutex_lock(&s->lock);
	*why = s->why;
	lost = s->lost;
	pthread_mutex_unlock(&s->lock);
	return lost;
}

/*
 * Return whether somewhere the search was given up, as it would take too long.
 */
bool
search_costly(struct search *s)
{
	bool costly;

	pthread_mutex_lock(&s->lock);
	costly = s->costly || s->self.m.costly;
	pthread_mutex_unlock(&s->lock);
	return costly;
}
