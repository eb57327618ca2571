/*
 * Find the matches of a stretch in order. The matches of a part that is
 * searched are those of its jobs. The matches of another part are those of the
 * part with the same bytes, except near its borders. There the bytes of the
 * stretch itself are searched. This search begins where a match can first reach
 * across the border, and ends where a match no longer depends on bytes before
 * the border.
 *
 *	same as part 0    | same as part 1
 *	  from part 0  ###|##  from part 1
 *		  searched here
 *
 * A match found here may end inside a match of that part that begins earlier.
 * Then the stretch is searched here until both agree.
 */
#include "snapgrep.h"
#include "bisect.h"

/*
 * Report the matches of job i of the searched part that contains the bytes of
 * pt, as far as they are in pt and begin before offset *limit of the stretch.
 * whole is true if the bytes after pt do not matter. If it is false and a match
 * reaches the end of pt, set *limit to the beginning of that match: from there,
 * the stretch itself must be searched. Return true if the next job must also be
 * reported.
 */
static bool
walk_job(struct walking *w, const struct part *pt, size_t i, bool whole,
    uint64_t *limit)
{
	uint64_t start, end, x;
	size_t k, n;
	const struct found *v = search_job(w->s, &w->p->part[pt->same], i, &n);

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
			search_here(w, end < *limit ? end : *limit);
			continue;
		}
		if (end >= pt->at + pt->len && !whole) {
			*limit = pt->from + (start - pt->at);
			return false;
		}
		search_pass(w, pt->from + (start - pt->at),
		    pt->from + (end - pt->at));
	}
	return true;
}

/*
 * Report the matches of part pt.
 */
static void
walk_part(struct walking *w, const struct part *pt)
{
	const struct pattern *p = w->p->pattern;
	const struct part *own = pt->same == PART_ZERO ? NULL :
	    &w->p->part[pt->same];
	uint64_t from = pt->from, to = from + pt->len, at;
	bool whole;
	size_t i;

	/* the bytes around a part usually differ from those around the bytes
	   in the searched part; they agree if there are none in both places */
	at = own == NULL ? 0 : own->from + pt->at;
	whole = own == pt || (to == w->st->len && (own == NULL ||
	    at + pt->len == w->p->stretch[own->stretch].len));
	if (own != pt && (from > 0 || at > 0))
		from += p->before;
	if (!whole)
		to -= p->reach < pt->len ? p->reach : pt->len;
	if (from >= to || w->x >= to)
		return;
	search_here(w, from);
	if (own != NULL && w->x < to) {
		at = pt->at + (w->x - pt->from);
		/* a match of the previous job may reach into this one */
		i = (size_t)(at / JOB);
		for (i -= i > 0; !w->stop && (uint64_t)i * JOB <
		    pt->at + (to - pt->from); i++)
			if (!walk_job(w, pt, i, whole, &to))
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
	struct walking w = { .s = s, .p = p, .st = st, .w = search_worker(s),
	    .fn = fn, .arg = arg };
	size_t i;

	for (i = 0; i < st->n && !w.stop; i++)
		walk_part(&w, &p->part[st->first + i]);
	search_here(&w, st->len);
}
