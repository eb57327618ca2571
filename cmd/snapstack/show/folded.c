/*
 * Print stacks as folded lines, the input of flame graph tools: the name of the
 * process and its functions, outermost first, separated by semicolons; then a
 * blank and the number of threads with that stack.
 */
#include "snapstack/snapstack.h"

struct names {
	struct pool	 pool;	/* owned; has v and its strings */
	char		**v;
	size_t		 n;
};

/*
 * Add to l the name s, in which ":" replaces the characters that separate parts
 * of a folded line.
 */
static void
name_put(struct names *l, const char *s)
{
	char *t = must(pool_string(&l->pool, s)), *p;

	text_sanitize(t);
	for (p = t; *p != '\0'; p++)
		if (*p == ';' || *p == '\n')
			*p = ':';
	must_do(POOL_ADD(&l->pool, l->v, l->n, t));
}

static void
name_add(void *arg, const struct location *pl)
{
	struct names *l = arg;
	char text[300];

	if (pl->function != NULL) {
		name_put(l, pl->function);
		return;
	}
	snprintf(text, sizeof text, "[%s]", pl->module == NULL ? "unknown" :
	    *pl->module == '\0' ? "jit" : path_base(pl->module));
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

	for (i = 0; i < u->n; i++) {
		st = &u->stack[i];
		if (st->same != i || st->n == 0)
			continue;
		for (n = 0, k = i; k < u->n; k++)
			n += u->stack[k].same == i;
		for (k = 0; k < st->n; k++) {
			f = &st->frame[k];
			for (m = 0; m < f->npython; m++)
				name_put(&l, f->python[m].function);
			if (f->npython == 0 && !f->within)
				locations_each(u, f, name_add, &l);
		}
		if (!st->whole)
			name_put(&l, "[unknown]");
		name_put(&l, *u->comm == '\0' ? "process" : u->comm);
		for (; l.n > 0; l.n--)
			printf("%s%c", l.v[l.n - 1], l.n == 1 ? ' ' : ';');
		printf("%zu\n", n);
		pool_free(&l.pool);
	}
}
