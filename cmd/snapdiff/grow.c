/*
 * Find measures of a process that grow at each moment from the one before.
 */
#include "snapdiff.h"
#include "bisect.h"

static bool
value_grows(const uint64_t *v, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (v[i] <= v[i - 1])
			return false;
	return n > 1;
}

/*
 * Add to g the measures that grew from each moment to the next. If all is true,
 * add every measure that exists at the last moment. Omit measures that are not
 * known at a moment. l[i] has the measures of moment i.
 */
static void
growth_join(struct growth *g, const struct measures *l, bool all)
{
	const struct measures *last = &l[g->moments - 1];
	uint64_t *v;
	size_t i, k;
	bool grew;

	for (i = 0; i < last->n; i++) {
		if (SEEK(l, g->moments, !measure_isknown(x, &last->v[i])) !=
		    NULL)
			continue;
		v = must(calloc(g->moments, sizeof *v));
		for (k = 0; k < g->moments; k++)
			v[k] = measure_value(&l[k], &last->v[i]);
		grew = !measure_isready(&last->v[i]) &&
		    value_grows(v, g->moments);
		g->grew = g->grew || grew;
		if (!all && !grew) {
			free(v);
			continue;
		}
		MUST_ROOM(g->v, g->n);
		g->v[g->n].what = &last->v[i];
		g->v[g->n++].value = v;
	}
}

/*
 * Measure one process at each of n moments; side[i] is the process at moment i.
 * Call fn with arg and the measures that grew or, if all is true, all measures.
 * If the process cannot be read, print the error.
 */
static void
growth_print(const struct side *const *side, size_t n, bool all,
    void (*fn)(void *, const struct growth *), void *arg)
{
	struct growth g = { .side = side[n - 1], .moments = n };
	struct memory last = { 0 }, m = { 0 };
	struct measures *l = must(calloc(n, sizeof *l));
	size_t i;
	int rc;

	rc = memory_open(&last, side[n - 1]);
	for (i = 0; rc == 0 && i < n; i++) {
		rc = memory_open(&m, side[i]);
		if (rc == 0)
			rc = measures_get(&l[i], &m, &last.vma);
		memory_close(&m);
	}
	if (rc == -1)
		program_lose(NULL, snap_errstr());
	else
		growth_join(&g, l, all);
	if (g.n > 0)
		fn(arg, &g);
	for (i = 0; i < g.n; i++)
		free(g.v[i].value);
	free(g.v);
	for (i = 0; i < n; i++)
		measures_free(&l[i]);
	free(l);
	memory_close(&last);
}

/*
 * Set errstr to name the first moment of l at which there is no process pid. If
 * there is one at each moment, name instead the first moment at which it is not
 * the same process as at the last moment. Return -1.
 */
static int
growth_lacks(const struct moments *l, uint64_t pid)
{
	const struct moment *m, *last = &l->v[l->n - 1];
	const struct side *d;

	for (m = l->v; m < last && moment_find(m, pid) != NULL; m++)
		continue;
	if (moment_find(m, pid) == NULL)
		return errstr_set("%s: no process %" PRIu64, m->path, pid);
	d = moment_find(last, pid);
	for (m = l->v; m < last && moment_same(m, d) != NULL; m++)
		continue;
	return errstr_set("%s: process %" PRIu64 " is not the same as in %s",
	    m->path, pid, last->path);
}

/*
 * Call fn with arg for each process that exists at all moments of l. Pass the
 * measures that grew from each moment to the next; if all is true, pass all
 * measures. If pid is not 0, consider only that process. Return 0, or -1 with
 * errstr set if that process is missing at a moment.
 */
int
growth_each(const struct moments *l, uint64_t pid, bool all,
    void (*fn)(void *, const struct growth *), void *arg)
{
	const struct moment *last = &l->v[l->n - 1];
	const struct side **side;
	size_t i, k;
	bool there = pid == 0;

	side = must(calloc(l->n, sizeof *side));
	for (i = 0; i < last->n; i++) {
		if (pid != 0 && last->side[i].id.pid != pid)
			continue;
		for (k = 0; k < l->n; k++)
			if ((side[k] = moment_same(&l->v[k],
			    &last->side[i])) == NULL)
				break;
		if (k == l->n) {
			there = true;
			growth_print(side, l->n, all, fn, arg);
		}
	}
	free(side);
	return there ? 0 : growth_lacks(l, pid);
}
