/*
 * Print stacks as JSON, an object for each thread.
 */
#include "snapstack/snapstack.h"

static void
put_python(const struct pyframe *f, size_t n)
{
	size_t i, k;

	json_open("python", '[');
	for (i = 0; i < n; i++) {
		json_open(NULL, '{');
		json_text("function", f[i].function);
		json_text("file", f[i].file);
		json_number("line", (uint64_t)(f[i].line < 0 ? 0 :
		    f[i].line));
		if (f[i].nlocal > 0) {
			json_open("locals", '[');
			for (k = 0; k < f[i].nlocal; k++) {
				json_open(NULL, '{');
				json_text("name", f[i].local[k].name);
				json_text("value", f[i].local[k].value);
				json_close('}');
			}
			json_close(']');
		}
		json_close('}');
	}
	json_close(']');
}

static void
put_location(void *arg, const struct location *pl)
{
	const struct frame *f = arg;

	json_open(NULL, '{');
	json_address("address", f->pc, false);
	json_text("function", pl->function);
	if (pl->function != NULL && !pl->inlined)
		json_number("offset", pl->offset);
	json_text("file", pl->file);
	if (pl->file != NULL)
		json_number("line", (uint64_t)(pl->line < 0 ? 0 : pl->line));
	json_text("module", pl->module);
	json_text("build_id", *pl->id == '\0' ? NULL : pl->id);
	json_flag("inlined", pl->inlined);
	json_flag("jit", pl->jit);
	json_flag("guess", f->guess);
	json_flag("signal", f->signal && !pl->inlined);
	if (f->npython > 0 && !pl->inlined)
		put_python(f->python, f->npython);
	json_close('}');
}

/*
 * Print the signal that ended a thread.
 */
static void
put_signal(const struct stack *st)
{
	char name[32];

	if (st->signal != 0)
		fatal_name(st, name, sizeof name);
	json_text("signal", st->signal != 0 ? name : NULL);
	if (st->signal != 0 && st->faulted)
		json_address("fault", st->fault, false);
}

/*
 * Print each thread of process u as JSON. path is the name of its snapshot, or
 * "-".
 */
void
objects_process(struct unwinder *u, const char *path)
{
	const struct stack *st;
	size_t i, k;

	for (i = 0; i < u->n; i++) {
		st = &u->stack[i];
		json_begin("thread");
		json_text("snapshot", path);
		json_number("pid", u->target->proc->pid);
		json_number("tid", st->tid);
		json_text("name", *st->comm == '\0' ? NULL : st->comm);
		json_text("state", *st->state == '\0' ? NULL : st->state);
		json_text("waits", st->wait);
		put_signal(st);
		json_flag("whole", st->whole);
		if (st->npython > 0) {
			json_text("gil", st->gil == GIL_HELD ? "held" :
			    st->gil == GIL_WANTED ? "wanted" : NULL);
			json_number("interpreter", st->interpreter);
			json_flag("collects", st->collects);
		}
		if (st->npython > 0 && !st->merged)
			put_python(st->python, st->npython);
		json_text("why", st->regs.n == 0 ? "no registers" : st->why);
		json_open("frames", '[');
		for (k = 0; k < st->n; k++)
			locations_each(u, &st->frame[k], put_location,
			    &st->frame[k]);
		json_close(']');
		json_end();
	}
}
