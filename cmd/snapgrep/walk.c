/*
 * Find the matches of a stretch in order: those of the bodies that its parts
 * refer to, except near the borders of parts. There the bytes of the stretch
 * itself are searched, from where a match could reach across the border to
 * where bytes before the border no longer matter.
 *
 *	part of body 0      | part of body 1
 *	  from the body  ###|##  from the body
 *		    searched here
 *
 * A match found here may end inside a match of the body, which began earlier.
 * Then the stretch is searched here until both agree.
 */
#include "snapgrep.h"
#include "bisect.h"

struct walking {
	struct search		*s; /* borrowed, as are all members except
				       "buf" */
	const struct plan	*p;
	const struct stretch	*st;
	walk_fn			 fn;
	void			*arg;
	uint64_t		 x;	/* matches that begin before this
					   offset were reported */
	uint8_t			*buf;	/* owned */
	size_t			 cap;
	bool			 stop;
};

/*
 * Use s to read len bytes at offset off of stretch st of p into buf. The
 * stretch must have that many bytes there.
 */
void
walk_read(struct search *s, const struct plan *p, const struct stretch *st,
    uint64_t off, uint8_t *buf, size_t len)
{
	const struct part *pt = &p->part[st->first];
	uint64_t left;
	size_t n;

	pt += BISECT(pt, st->n, from, off) - 1;
	for (; len > 0; pt++, off += n, buf += n, len -= n) {
		left = pt->len - (off - pt->from);
		n = left < len ? (size_t)left : len;
		search_read(s, pt->body, pt->at + (off - pt->from), buf, n);
	}
}

static void
walk_print(struct walking *w, uint64_t start, uint64_t end)
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
walk_some(struct walking *w, uint64_t limit, size_t reach)
{
	const struct pattern *p = w->p->pattern;
	struct matcher *m = search_matcher(w->s);
	uint64_t base, end;
	size_t start, stop;
	enum match found;

	base = w->x - (w->x < p->before ? w->x : p->before);
	end = w->st->len - limit < reach ? w->st->len : limit + reach;
	if (end - base > w->cap) {
		w->cap = (size_t)(end - base);
		w->buf = must(realloc(w->buf, w->cap));
	}
	walk_read(w->s, w->p, w->st, base, w->buf, (size_t)(end - base));
	m->base = w->st->addr + base;
	while (w->x < limit && !w->stop) {
		found = matcher_next(m, w->buf, (size_t)(end - base),
		    (size_t)(w->x - base), reach < LONGEST &&
		    end < w->st->len, &start, &stop);
		if (found == MATCH_NONE || base + start >= limit)
			break;
		if (found == MATCH_PARTIAL) {
			/* the match may go on after the buffer */
			w->x = base + start;
			walk_some(w, limit, LONGEST);
			return;
		}
		walk_print(w, base + start, base + stop);
	}
	if (w->x < limit)
		w->x = limit;
}

static void
walk_here(struct walking *w, uint64_t limit)
{
	uint64_t some;

	while (w->x < limit && !w->stop) {
		some = limit - w->x < JOB ? limit : w->x + JOB;
		walk_some(w, some, w->p->pattern->reach);
	}
}

/*
 * Report the matches that job i found in part pt, if they begin before offset
 * *limit of the stretch. Lower *limit to where this thread must begin to search
 * the stretch itself. Return true if the next job must also be reported.
 */
static bool
walk_job(struct walking *w, const struct part *pt, size_t i, bool whole,
    uint64_t *limit)
{
	uint64_t start, end, x;
	size_t k, n;
	const struct found *v = search_job(w->s, pt->body, i, &n);

	x = pt->at + (w->x - pt->from);
	start = (uint64_t)i * JOB;
	k = BISECT_WHILE(a, n, start + v[a].at + v[a].len <= x);
	for (; k < n && !w->stop; k++) {
		start = (uint64_t)i * JOB + v[k].at;
		end = start + v[k].len;
		x = pt->at + (w->x - pt->from);
		if (end <= x)
			continue;
		if (start >= pt->at + (*limit - pt->from))
			return false;
		if (start < x) {
			end = pt->from + (end - pt->at);
			walk_here(w, end < *limit ? end : *limit);
			continue;
		}
		if (end > pt->at + pt->len ||
		    (end == pt->at + pt->len && !whole)) {
			*limit = pt->from + (start - pt->at);
			return false;
		}
		walk_print(w, pt->from + (start - pt->at),
		    pt->from + (end - pt->at));
	}
	return true;
}

/*
 * Report the matches of part pt. first says whether pt is the first part of the
 * stretch, and last says whether it is the last.
 */
static void
walk_part(struct walking *w, const struct part *pt, bool first, bool last)
{
	const struct pattern *p = w->p->pattern;
	uint64_t from, to, at;
	bool whole;
	size_t i;

	whole = pt->body == BODY_ZERO ||
	    pt->at + pt->len == w->p->body[pt->body].len;
	from = pt->from;
	if (!first || (pt->at > 0 && pt->body != BODY_ZERO))
		from += p->before;
	to = pt->from + pt->len;
	if (!last || !whole)
		to -= p->reach < pt->len ? p->reach : pt->len;
	if (from >= to || w->x >= to)
		return;
	walk_here(w, from);
	if (pt->body != BODY_ZERO && w->x < to) {
		at = pt->at + (w->x - pt->from);
		/* a match of the previous job may reach into this one */
		i = (size_t)(at / JOB);
		for (i -= i > 0; !w->stop && (uint64_t)i * JOB <
		    pt->at + (to - pt->from); i++)
			if (!walk_job(w, pt, i, last && whole, &to))
				break;
	}
	if (w->x < to)
		w->x = to;
}

/*
 * Call fn with arg for each match that s finds in stretch st of p.
 */
void
walk(struct search *s, const struct plan *p, const struct stretch *st,
    walk_fn fn, void *arg)
{
	struct walking w = { .s = s, .p = p, .st = st, .fn = fn, .arg = arg };
	size_t i;

	for (i = 0; i < st->n && !w.stop; i++)
		walk_part(&w, &p->part[st->first + i], i == 0, i + 1 == st->n);
	walk_here(&w, st->len);
	free(w.buf);
}
