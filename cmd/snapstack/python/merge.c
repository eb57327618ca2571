/*
 * The frames of Python code in place of the interpreter's: each call of
 * _PyEval_EvalFrameDefault runs the frames from one that was called from C on
 * to the innermost that it has called.
 */
#include "snapstack/snapstack.h"

#include <string.h>

struct naming {
	bool		 eval;
	bool		 python;
};

static void
on_location(void *arg, const struct location *l)
{
	static const char eval[] = "_PyEval_EvalFrameDefault";
	struct naming *n = arg;

	/* of GCC's parts of a function, too: NAME.cold and such */
	n->eval |= l->function != NULL && strncmp(l->function, eval,
	    sizeof eval - 1) == 0 && (l->function[sizeof eval - 1] == '\0' ||
	    l->function[sizeof eval - 1] == '.');
	n->python = l->module != NULL && python_is(l->module);
}

static size_t
entries(const struct stack *st)
{
	size_t i, n;

	for (i = n = 0; i < st->npython; i++)
		n += st->python[i].entry;
	return n;
}

/*
 * Give the frames of stack st of u the Python frames that they run, if there
 * are as many calls of the interpreter as its own frames tell.
 */
void
python_merge(struct unwinder *u, struct stack *st)
{
	struct naming name;
	struct frame *f;
	size_t i, k, n;

	if (st->npython == 0)
		return;
	for (i = n = 0; i < st->n; i++) {
		f = &st->frame[i];
		name = (struct naming){ false, false };
		locations_each(u, f, on_location, &name);
		f->npython = name.eval;
		f->within = n > 0 && name.python && !name.eval;
		n += name.eval;
	}
	st->merged = n == entries(st) && n > 0;
	for (i = k = 0; i < st->n; i++) {
		f = &st->frame[i];
		if (!st->merged)
			f->npython = f->within = 0;
		if (f->npython == 0)
			continue;
		f->python = &st->python[k];
		for (n = 1; !st->python[k++].entry; n++)
			continue;
		f->npython = n;
	}
}
