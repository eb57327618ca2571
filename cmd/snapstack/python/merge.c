/*
 * Assign Python frames to the interpreter's frames that run them. Each call of
 * _PyEval_EvalFrameDefault runs the Python frames from one that was called from
 * C to the innermost one.
 */
#include "snapstack/snapstack.h"

struct naming {
	bool		 eval;
	bool		 python;
};

static void
on_location(void *arg, const struct location *l)
{
	static const char eval[] = "_PyEval_EvalFrameDefault";
	struct naming *n = arg;

	/* the function, or a part of it split off by GCC, such as NAME.cold */
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
 * Assign the Python frames of stack st of u to the native frames of the
 * interpreter that run them. Do this only if there are as many such native
 * frames as calls from C into Python.
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
