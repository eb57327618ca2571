/*
 * Print stacks as folded lines, the input of flame graph tools: the name of the
 * process and its functions, outermost first, separated by semicolons; then a
 * blank and the number of threads with that stack.
 */
#include "snapstack/snapstack.h"
#include "vec.h"

struct names {
	char		**v;	/* owned, as are its strings */
	size_t		 n;
};

/*
 * Return a copy of the name s in which ":" replaces the characters that
 * separate parts of a folded line. The caller frees the copy. Return NULL if
 * memory ran out.
 */
static char *
name_fold(const char *s)
{
	char *t, *p;

	if ((t = strdup(s)) == NULL)
		return NULL;
	text_sanitize(t);
	for (p = t; *p != '\0'; p++)
		if (*p == ';' || *p == '\n')
			*p = ':';
	return t;
}

static void
name_put(struct names *l, const char *s)
{
	if (VEC_ROOM(l->v, l->n) == 0 && (l->v[l->n] = name_fold(s)) != NULL)
		l->n++;
}

static void
name_add(void *arg, const struct location *pl)
{
	struct names *l = arg;
	char text[300];

	if (pl->function != NULL)
		snprintf(text, sizeof text, "%s", pl->function);
	else
		snprintf(text, sizeof text, "[%s]", pl->module == NULL ?
		    "unknown" : *pl->module == '\0' ? "jit" :
		    path_base(pl->module));
	name_put(l, text);
}

/*
 * Print each distinct stack of process u as one folded line.
 */
void
folded_process(struct unwinder *u)
{
	struct names l = { 0 };
	const struct stack *st;
	const struct frame *f;
	size_t i, k, m, n;
	char *comm;

	for (i = 0; i < u->n; i++) {
		st = &u->stack[i];
		if (st->same != i || st->n == 0)
			continue;
		for (n = 0, k = i; k < u->n; k++)
			n += u->stack[k].same == i;
		comm = name_fold(*u->stack[0].comm == '\0' ? "process" :
		    u->stack[0].comm);
		printf("%s", comm == NULL ? "" : comm);
		free(comm);
		for (k = 0; k < st->n; k++) {
			f = &st->frame[k];
			for (m = 0; m < f->npython; m++)
				name_put(&l, f->python[m].function);
			if (f->npython == 0 && !f->within)
				locations_each(u, f, name_add, &l);
		}
		while (l.n > 0) {
			printf(";%s", l.v[--l.n]);
			free(l.v[l.n]);
		}
		free(l.v);
		l.v = NULL;
		printf(" %zu\n", n);
	}
}
