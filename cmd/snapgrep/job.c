/*
 * Search parts with several threads, in the order in which their results are
 * requested. A job is a megabyte of a part. A match belongs to the job in which
 * it begins.
 *
 * If a requested job has not been done, all threads do a round: that job and
 * the jobs after it. Each round is larger than the one before, so that little
 * work is wasted if the first matches suffice. A thread takes several adjacent
 * jobs at once, because the bytes that it reads beyond the end of one are then
 * cached for the next. If a job has very many matches, they are not kept, and
 * the job is done again when its results are requested.
 */
#include "snapgrep.h"
#include "bisect.h"
#include "worker.h"

#include <pthread.h>

enum {
	TOGETHER = 16, /* maximum number of jobs that a thread takes at a
			  time */
	SHARES = 4,		/* a thread takes at most 1/SHARES of its share
				   of a round at a time */
	GROWTH = 4,		/* factor by which rounds grow */
	MANY = 8192		/* maximum number of matches kept for a job */
};

struct job {
	size_t		 part;
	uint64_t	 at;	/* offset, in the stretch of the part, of the
				   first byte of the job */
	bool		 done;
	bool		 many;	/* the job has more matches than are kept */
	struct found	*v;	/* owned */
	size_t		 n;
};

struct search {
	const struct plan *p;	/* borrowed */
	struct job	*job;	/* owned */
	struct job	 again;	/* a job that is done again because it has too
				   many matches to keep */
	struct worker	*w;	/* owned; element 0 is also used by the main
				   thread */
	size_t		 nw;
	size_t		 round;	/* number of jobs in the next round */
	size_t		 end;	/* index of the end of the current round,
				   exclusive */
	size_t		 together; /* number of jobs taken at a time */
	atomic_size_t	 next; /* index of the next job to take in this round */
	atomic_size_t	 begun;	/* number of workers taken by threads of the
				   round */
	pthread_mutex_t	 lock;	/* protects "lost" and "why" */
	uint64_t	 lost;	/* number of kilobytes that could not be read */
	char		 why[512]; /* error for the first kilobyte that could
				      not be read */
};

/*
 * Read n kilobytes of src, from location loc, into buf. Zero those that are
 * unreadable, and count them in s.
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
			pthread_mutex_lock(&s->lock);
			if (s->lost++ == 0)
				strlcpy(s->why, snap_errstr(), sizeof s->why);
			pthread_mutex_unlock(&s->lock);
		}
}

/*
 * Read len bytes of stretch st, beginning at offset off, into buf. The stretch
 * must have that many bytes there.
 */
void
search_read(struct search *s, const struct stretch *st, uint64_t off,
    uint8_t *buf, size_t len)
{
	const struct stored *t;
	uint8_t page[KB];
	uint64_t left, loc;
	size_t n, skip;

	for (; len > 0; off += n, buf += n, len -= n) {
		t = plan_stored(s->p, st, off);
		left = t->len - (off - t->at);
		n = left < len ? (size_t)left : len;
		if (!stored_place(t, off - t->at, &loc, &skip))
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
 * Pass the match between offsets start and end (exclusive) of w->st to w->fn.
 */
void
search_pass(struct walking *w, uint64_t start, uint64_t end)
{
	w->x = end;
	if (!w->stop && !w->fn(w->arg, w->st, start, end))
		w->stop = true;
}

/*
 * Report the matches that begin at or after offset w->x of the stretch, but
 * before offset limit. The two offsets must be at most JOB bytes apart. Search
 * the bytes of the stretch itself, up to offset limit + reach, because a match
 * may end after limit.
 */
static void
search_some(struct walking *w, uint64_t limit, size_t reach)
{
	const struct pattern *p = w->p->pattern;
	struct worker *k = w->w;
	uint64_t base, end;
	size_t start, stop;
	enum match found;

	base = w->x - (w->x < p->before ? w->x : p->before);
	end = w->st->len - limit < reach ? w->st->len : limit + reach;
	if (end - base > k->cap) {
		k->cap = (size_t)(end - base);
		k->buf = must(realloc(k->buf, k->cap));
	}
	search_read(w->s, w->st, base, k->buf, (size_t)(end - base));
	k->m.base = w->st->addr + base;
	while (w->x < limit && !w->stop) {
		found = matcher_next(&k->m, k->buf, (size_t)(end - base),
		    (size_t)(w->x - base), (size_t)(limit - base),
		    reach < LONGEST && end < w->st->len, &start, &stop);
		if (found == MATCH_NONE || base + start >= limit)
			break;
		if (found == MATCH_PARTIAL) {
			/* the match may go on after the buffer */
			w->x = base + start;
			search_some(w, limit, LONGEST);
			return;
		}
		search_pass(w, base + start, base + stop);
	}
	if (w->x < limit)
		w->x = limit;
}

/*
 * Pass to w->fn the matches that begin at or after offset w->x of the stretch,
 * but before offset limit. Search the bytes of the stretch itself.
 */
void
search_here(struct walking *w, uint64_t limit)
{
	const size_t reach = w->p->pattern->reach;
	uint64_t some;

	while (w->x < limit && !w->stop) {
		some = limit - w->x < JOB ? limit : w->x + JOB;
		/* PCRE2 is slow if it must report partial matches: for many
		   bytes, rather read enough for the longest match */
		search_some(w, some, reach == ACROSS && some - w->x > LONGEST ?
		    LONGEST : reach);
	}
}

/*
 * Store a match of job arg. This is a walk_fn.
 */
static bool
job_found(void *arg, const struct stretch *st, uint64_t start, uint64_t end)
{
	struct job *j = arg;

	(void)st;
	MUST_ROOM(j->v, j->n);
	j->v[j->n++] = (struct found){ (uint32_t)(start - j->at),
	    (uint32_t)(end - start) };
	return true;
}

/*
 * Do job j of s as worker w: search it and store its matches.
 */
static void
job_do(struct search *s, struct worker *w, struct job *j)
{
	const struct part *pt = &s->p->part[j->part];
	struct walking wk = { .s = s, .p = s->p, .w = w, .fn = job_found,
	    .st = &s->p->stretch[pt->stretch], .arg = j, .x = j->at };
	const uint64_t end = pt->from + pt->len;

	search_here(&wk, end - j->at < JOB ? end : j->at + JOB);
}

static void
job_drop(struct job *j)
{
	free(j->v);
	j->v = NULL;
	j->n = 0;
}

/*
 * Do jobs of the current round until none is left. This is the main function of
 * a thread.
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
 * Do the round of jobs that begins with job i.
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
 * Return a new search of plan p. It has one thread per processor, or fewer if
 * there is little work. Return NULL with errstr set if there is no memory for
 * the jobs.
 */
struct search *
search_new(const struct plan *p)
{
	const int cpus = processors_count();
	const struct part *pt;
	struct search *s;
	uint64_t at;
	size_t i, n;

	s = must(calloc(1, sizeof *s));
	pthread_mutex_init(&s->lock, NULL);
	s->p = p;
	if ((s->job = mem_new(p->njob, sizeof *s->job)) == NULL) {
		search_free(s);
		return NULL;
	}
	for (i = n = 0; i < p->npart; i++)
		for (pt = &p->part[i], at = 0; pt->same == i && at < pt->len;
		    at += JOB)
			s->job[n++] = (struct job){ .part = i,
			    .at = pt->from + at };
	n = cpus < MAX_WORKERS ? (size_t)cpus : MAX_WORKERS;
	n = n < p->njob ? n : p->njob;
	s->nw = n == 0 || p->pattern->kind == PATTERN_YARA ? 1 : n;
	s->round = s->nw * TOGETHER;
	s->w = must(calloc(s->nw, sizeof *s->w));
	for (i = 0; i < s->nw; i++)
		matcher_open(&s->w[i].m, p->pattern);
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
 * Return the matches that begin in job i of part pt, and set *n to their
 * number. They are valid until the next call.
 */
const struct found *
search_job(struct search *s, const struct part *pt, size_t i, size_t *n)
{
	struct job *j = &s->job[pt->job + i];

	if (!j->done)
		search_round(s, (size_t)(j - s->job));
	if (j->many) {
		job_drop(&s->again);
		s->again.part = j->part;
		s->again.at = j->at;
		job_do(s, s->w, &s->again);
		j = &s->again;
	}
	*n = j->n;
	return j->v;
}

/*
 * Return the state of the main thread.
 */
struct worker *
search_worker(struct search *s)
{
	return s->w;
}

/*
 * Print how many kilobytes could not be read, and at which places the search
 * was abandoned because it took too long.
 */
void
search_warn(const struct search *s)
{
	if (s->lost > 0)
		program_lose(NULL, s->why);
	if (SEEK(s->w, s->nw, x->m.costly) != NULL)
		program_lose(NULL, "matching took too long in some places, "
		    "which were skipped");
}
