/*
 * Print changes for people, one per line, marked + for new, - for gone and !
 * for changed.
 */
#include "snapdiff.h"

#include <time.h>

/*
 * Print prefix, and then s with control characters replaced.
 */
static void
put_harmless(const char *prefix, const char *s)
{
	fputs(prefix, stdout);
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

static void
put_change(const struct change *c)
{
	printf("  %s %s", how_text(c->how, false), subject_word(c->subject));
	if (*c->key != '\0')
		put_harmless(" ", c->key);
	put_harmless(": ", c->is == NULL ? c->was : c->is);
	if (c->how == CHANGE_CHANGED)
		put_harmless(", was ", c->was);
	else if (c->more != NULL) {
		put_harmless(" (", c->more);
		putchar(')');
	}
	putchar('\n');
}

static void
put_process(const char *mark, const struct side *d)
{
	printf("%s%" PRIu64, mark, d->id.pid);
	put_harmless(" ", d->id.name);
	putchar('\n');
}

/*
 * Print res, the changes of a process, with options o.
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
	(o->sums ? classes_print : mappings_print)(res, o);
}

/*
 * Print the compared moments in l, in the style of the header lines of diff(1).
 */
void
print_moments(const struct moments *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		put_moment(i + 1 < l->n ? "--- " : "+++ ", &l->v[i]);
}

/*
 * Print how a process grew, according to g: for each measure, its value at each
 * moment, and then its name. If bytes is true, print sizes in bytes.
 */
void
print_growth(const struct growth *g, bool bytes)
{
	const struct series *v;
	char size[24];
	size_t i, k;

	put_process("! process ", g->side);
	for (i = 0; i < g->n; i++) {
		v = &g->v[i];
		for (k = 0; k < g->moments; k++)
			if (bytes || v->what->unit == UNIT_COUNT)
				printf(" %11" PRIu64, v->value[k]);
			else
				printf(" %11s", amount_text(size, sizeof size,
				    v->value[k]));
		put_harmless(" ", g->v[i].what->text);
		putchar('\n');
	}
}
