/*
 * Lists of runs of pages of one kind.
 */
#include "state.h"
#include "vec.h"

/*
 * Return the number of kilobytes that run p takes in its store; a partial last
 * one counts as whole.
 */
uint64_t
pagespan_kb(const struct pagespan *p)
{
	return (p->end - p->start - 1) / KB + 1;
}

static bool
pages_continue(const struct pagespan *a, const struct pagespan *b)
{
	return a->end == b->start && a->kind == b->kind &&
	    a->with == b->with && a->store == b->store &&
	    (a->store == 0 || ((a->end - a->start) % KB == 0 &&
	    a->at + pagespan_kb(a) == b->at));
}

/*
 * Append run p to l. If it is empty, ignore it. If it continues the last run,
 * extend that. Return 0, or -1 with errstr set.
 */
int
pagelist_add(struct pagelist *l, const struct pagespan *p)
{
	if (p->start >= p->end)
		return 0;
	if (l->n > 0 && pages_continue(&l->v[l->n - 1], p)) {
		l->v[l->n - 1].end = p->end;
		return 0;
	}
	return VEC_ADD(l->v, l->n, *p);
}

/*
 * Free the runs of l, and leave l empty.
 */
void
pagelist_free(struct pagelist *l)
{
	free(l->v);
	memset(l, 0, sizeof *l);
}
