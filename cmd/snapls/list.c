/*
 * The list of a snapshot for people: a line a process, and what there is in it.
 */
#include "snapls.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Print a range with its mapping: a range_fn.
 */
static void
list_range(void *arg, const struct range *r)
{
	char *name;

	(void)arg;
	if ((name = strdup(r->name == NULL ? "(gap)" : r->name)) == NULL)
		err(1, NULL);
	printf("%18" PRIx64 "-%-16" PRIx64 " %9" PRIu64 "K %-4s %s\n",
	    r->first, r->last + 1, (r->last - r->first) / KB + 1, r->perm,
	    text_harmless(name));
	free(name);
}

static void
list_segments(struct proc *p)
{
	struct missing *m;
	size_t i;

	ranges_each(p, list_range, NULL);
	for (i = 0; p->mem != NULL && i < p->mem->nmissing; i++) {
		m = &p->mem->missing[i];
		printf("%18" PRIx64 "-%-16" PRIx64 " %9" PRIu64
		    "K missing: %s\n", m->start, m->end,
		    (m->end - m->start) / KB, text_harmless(m->reason));
	}
}

/*
 * Print what is told of values that were left out, a line each.
 */
static void
list_excluded(const char *text)
{
	char *copy, *next, *s;

	if ((copy = strdup(text)) == NULL)
		err(1, NULL);
	for (next = copy; (s = strsep(&next, "\n")) != NULL;)
		if (*s != '\0')
			printf("%47s: %s\n", "excluded", text_harmless(s));
	free(copy);
}

static void
list_proc(struct snap *s, struct proc *p, const struct listing *ls)
{
	struct facts f;

	facts_get(&f, s, p);
	printf("%10" PRIu64 " %-16s %-8s %-8s %7zu %10" PRIu64 "K %10" PRIu64
	    "K %10" PRIu64 "K %10" PRIu64 "K\n", p->pid,
	    p->carried != NULL ? "(file)" : f.name, f.user, f.state, f.threads,
	    image_bytes(p->mem) / KB, p->count.raw, p->count.zero,
	    p->count.same);
	if (ls->segments) {
		list_place(p);
		list_segments(p);
		if (f.excluded != NULL)
			list_excluded(f.excluded);
	}
	facts_free(&f);
}

/*
 * Print the files that are carried along, in one line, or each in its own.
 */
static void
list_files(struct snap *s, const struct listing *ls)
{
	struct kbcount sum = { 0 };
	const struct kbcount *c;
	size_t i, n;

	for (i = n = 0; i < s->nproc; i++) {
		if (s->proc[i]->carried == NULL)
			continue;
		n++;
		c = &s->proc[i]->count;
		sum.raw += c->raw;
		sum.zero += c->zero;
		sum.same += c->same;
		if (ls->segments)
			list_proc(s, s->proc[i], ls);
	}
	if (n > 0)
		printf("%10s %5zu mapped file%s %37s %10" PRIu64 "K %10" PRIu64
		    "K %10" PRIu64 "K\n", "with", n, n == 1 ? "" : "s", "",
		    sum.raw, sum.zero, sum.same);
}

/*
 * Print how the parts of snapshot s were taken: all that is noted of it, or
 * only why.
 */
static void
list_taken(const struct snap *s, bool all)
{
	struct taken t;
	size_t i;

	for (i = 0; i < s->nproc; i++)
		if (taken_get(&t, s->proc[i])) {
			taken_print(&t, all);
			taken_free(&t);
		}
}

/*
 * Print what snapshot s holds, as ls wants it.
 */
void
list_snap(struct snap *s, const struct listing *ls)
{
	struct sums sum;
	uint64_t all;
	size_t i;

	list_taken(s, ls->segments || ls->records);
	sums_get(&sum, s);
	printf("%10s %-16s %-8s %-8s %7s %11s %11s %11s %11s\n", "PID",
	    "NAME", "USER", "STATE", "THREADS", "MEMORY", "RAW", "ZERO",
	    "SHARED");
	for (i = 0; i < s->nproc; i++)
		if (sources_wants(ls->sources, s, s->proc[i]))
			list_proc(s, s->proc[i], ls);
	if (ls->sources->pick.n > 0)
		return;
	list_files(s, ls);
	all = sum.count.raw + sum.count.zero + sum.count.same;
	printf("%10s %5zu process%s %18s %7zu %10" PRIu64 "K %10" PRIu64
	    "K %10" PRIu64 "K %10" PRIu64 "K, %.1f%% saved\n", "total",
	    sum.processes, sum.processes == 1 ? "  " : "es", "", sum.threads,
	    sum.mem / KB, sum.count.raw, sum.count.zero, sum.count.same,
	    all == 0 ? 0 : 100 - 100 * (double)sum.count.raw / (double)all);
}
