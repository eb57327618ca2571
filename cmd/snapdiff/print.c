/*
 * What changed, for people: a line a change, + for what is new, - for what is
 * gone, ! for what is another.
 */
#include "snapdiff.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char marks[] = {
	[HOW_SAME] = '!', [HOW_ADDED] = '+', [HOW_REMOVED] = '-',
	[HOW_CHANGED] = '!'
};

/*
 * Print a string that may be a stranger's, behind one that is ours.
 */
static void
put_harmless(const char *before, const char *s)
{
	fputs(before, stdout);
	text_put(s);
}

static void
put_moment(const char *mark, const struct moment *m)
{
	char when[40];
	struct tm tm;
	time_t t = (time_t)m->time;

	put_harmless(mark, m->path);
	if (m->part > 0)
		printf(" (part %" PRIu64 ")", m->part);
	if (m->timed && m->time < INT32_MAX * 100ULL &&
	    gmtime_r(&t, &tm) != NULL && strftime(when, sizeof when,
	    "%F %T UTC", &tm) > 0)
		printf("\t%s", when);
	putchar('\n');
}

/*
 * Print which moments are compared, was and is, as diff(1) does.
 */
void
print_head(const struct moment *was, const struct moment *is)
{
	put_moment("--- ", was);
	put_moment("+++ ", is);
}

static void
put_change(const struct change *c)
{
	printf("  %c %s", marks[c->how], subject_word(c->subject));
	if (*c->key != '\0')
		put_harmless(" ", c->key);
	put_harmless(": ", c->is == NULL ? c->was : c->is);
	if (c->how == HOW_CHANGED)
		put_harmless(", was ", c->was);
	else if (c->more != NULL) {
		put_harmless(" (", c->more);
		putchar(')');
	}
	putchar('\n');
}

static void
put_counts(const struct kbchange *kb)
{
	printf(" %8" PRIu64 "K %8" PRIu64 "K %8" PRIu64 "K", kb->changed,
	    kb->added, kb->removed);
}

static void
put_unknown(const struct kbchange *kb)
{
	if (kb->unknown != 0)
		printf(" (%" PRIu64 "K not captured)", kb->unknown);
}

static void
put_row(const struct row *r)
{
	const struct vma *v = row_vma(r);
	char perm[5], before[5];

	vma_perms(v, perm);
	printf("  %c %12" PRIx64 "-%-12" PRIx64 " %8" PRIu64 "K", marks[r->how],
	    v->start, v->end, vma_kb(v));
	put_counts(&r->kb);
	printf(" %s", perm);
	if (*v->name != '\0')
		put_harmless(" ", v->name);
	if (r->how == HOW_CHANGED) {
		vma_perms(&r->was, before);
		if (r->was.start != v->start || r->was.end != v->end)
			printf(" (was %" PRIu64 "K)", vma_kb(&r->was));
		if (strcmp(before, perm) != 0)
			printf(" (was %s)", before);
		if (strcmp(r->was.name, v->name) != 0) {
			put_harmless(" (was ", *r->was.name == '\0' ?
			    "anonymous" : r->was.name);
			putchar(')');
		}
	}
	put_unknown(&r->kb);
	putchar('\n');
}

static void
put_rows(const struct result *res, const struct options *o)
{
	const struct row *r;
	bool headed = false;
	size_t i;

	for (i = 0; i < res->rows->n; i++) {
		r = &res->rows->v[i];
		if (!row_differs(r))
			continue;
		if (!headed)
			printf("  %27s %9s %9s %9s %9s PERM MAPPING\n",
			    "ADDRESSES", "SIZE", "CHANGED", "NEW", "GONE");
		headed = true;
		put_row(r);
		if (o->runs || o->bytes)
			print_runs(res, r, o->bytes);
	}
}

static void
put_sums(const struct result *res)
{
	struct classum sum[CLASS_COUNT];
	const struct classum *s;
	bool headed = false;
	size_t i;

	class_sums(sum, res);
	for (i = 0; i < CLASS_COUNT; i++) {
		s = &sum[i];
		if (!class_differs(s))
			continue;
		if (!headed)
			printf("    %-9s %8s %9s %8s %9s %9s %9s %9s\n",
			    "CLASS", "MAPPINGS", "SIZE", "WERE", "WAS",
			    "CHANGED", "NEW", "GONE");
		headed = true;
		printf("  ! %-9s %8zu %8" PRIu64 "K %8zu %8" PRIu64 "K",
		    class_word((enum class)i), s->nis, s->is, s->nwas, s->was);
		put_counts(&s->kb);
		put_unknown(&s->kb);
		putchar('\n');
	}
}

static void
put_process(const char *mark, const struct side *d)
{
	printf("%s%" PRIu64, mark, d->who.pid);
	put_harmless(" ", d->who.name);
	putchar('\n');
}

/*
 * Print res, what became of a process, as o wants it.
 */
void
print_result(const struct result *res, const struct options *o)
{
	const struct couple *c = res->couple;
	size_t i;

	if (c->was.proc == NULL) {
		put_process("+ process ", &c->is);
		return;
	}
	if (c->is.proc == NULL) {
		put_process("- process ", &c->was);
		return;
	}
	put_process("! process ", &c->is);
	for (i = 0; i < res->changes->n; i++)
		put_change(&res->changes->v[i]);
	if (o->sums)
		put_sums(res);
	else
		put_rows(res, o);
}

/*
 * Print which moments are compared, l.
 */
void
print_moments(const struct moments *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		put_moment(i + 1 < l->n ? "--- " : "+++ ", &l->v[i]);
}

/*
 * Print g, what grew in a process: what it is, and how much it was at each
 * moment.
 */
void
print_growth(const struct growth *g)
{
	static const char *const units[] = {
		[UNIT_COUNT] = "", [UNIT_KB] = "K", [UNIT_BYTES] = "B"
	};
	size_t i, k;

	put_process("! process ", g->side);
	for (i = 0; i < g->n; i++) {
		for (k = 0; k < g->moments; k++)
			printf(" %11" PRIu64 "%-1s", g->v[i].value[k],
			    units[g->v[i].what->unit]);
		put_harmless(" ", g->v[i].what->text);
		putchar('\n');
	}
}
