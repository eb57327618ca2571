/*
 * Print stacks as text: a paragraph for each, with the threads that have it.
 */
#include "snapstack/snapstack.h"
#include "bisect.h"
#include "vec.h"

enum { WIDTH = 78 };		/* width of a line, in columns */

struct printing {
	const struct frame *f;
	unsigned int	 nth;	/* number of the next frame */
};

static struct {			/* modules whose build IDs were printed */
	const char	**v;	/* owned; its strings are borrowed */
	size_t		 n;
} printed_ids;

/*
 * Return true if the build ID of the module with this name was already printed
 * for this process. If not, mark it as printed.
 */
static bool
id_printed(const char *module)
{
	if (SEEK(printed_ids.v, printed_ids.n, strcmp(*x, module) == 0) != NULL)
		return true;
	(void)VEC_ADD(printed_ids.v, printed_ids.n, module);
	return false;
}

static void
put_location(void *arg, const struct location *pl)
{
	struct printing *p = arg;

	printf("  #%-3u%s ", p->nth++, p->f->guess ? "?" : " ");
	if (pl->function != NULL)
		text_put(pl->function);
	else
		printf("0x%" PRIx64, p->f->pc);
	if (pl->function != NULL && !pl->inlined)
		printf("+0x%" PRIx64, pl->offset);
	if (pl->file != NULL) {
		printf(" (");
		text_put(strncmp(pl->file, "./", 2) == 0 ? pl->file + 2 :
		    pl->file);
		printf(":%d)", pl->line);
	}
	if (pl->jit)
		printf(" (jit)");
	else if (pl->inlined)
		printf(", inlined");
	else if (pl->module == NULL)
		printf(", nothing is mapped there");
	else if (*pl->module == '\0')
		printf(", in memory without a name (jit?)");
	else if (pl->file == NULL) {
		printf(" in ");
		text_put(path_base(pl->module));
		if (*pl->id != '\0' && !id_printed(pl->module))
			printf(" [%s]", pl->id);
	}
	if (p->f->signal && !pl->inlined)
		printf(", which called a signal handler");
	printf("\n");
}

/*
 * Print the signal that ended a thread. Return the number of columns printed.
 */
static int
put_signal(const struct stack *st)
{
	char name[32];
	int n;

	if (st->signal == 0)
		return 0;
	fatal_name(st, name, sizeof name);
	n = printf(", %s", name);
	if (st->faulted)
		n += printf(" at 0x%" PRIx64, st->fault);
	return n;
}

/*
 * Print the IDs and names of the threads with the same stack as the thread
 * whose index is first.
 */
static void
put_threads(const struct unwinder *u, size_t first)
{
	size_t i, n, left;
	int at;

	for (i = n = 0; i < u->n; i++)
		n += u->stack[i].same == first;
	if (n > 1)
		printf("%zu threads:", n);
	else
		printf("thread");
	at = 12;
	for (i = first, left = n; i < u->n; i++) {
		if (u->stack[i].same != first)
			continue;
		if (at > WIDTH - 24) {
			printf("\n   ");
			at = 3;
		}
		at += printf(" %" PRIu64, u->stack[i].tid);
		if ((i == first || strcmp(u->stack[i].comm,
		    u->stack[first].comm) != 0) && *u->stack[i].comm != '\0') {
			at += printf(" (");
			text_put(u->stack[i].comm);
			at += printf(")") + (int)strlen(u->stack[i].comm);
		}
		at += put_signal(&u->stack[i]);
		if (--left > 0)
			at += printf(",");
	}
	printf("\n");
}

/*
 * Return true if two threads wait for the same thing. If times is true, their
 * times, such as timeouts, must also be the same.
 */
static bool
is_samewait(const struct stack *a, const struct stack *b, bool times)
{
	if (a->wait == NULL || b->wait == NULL)
		return a->wait == b->wait;
	return times ? strcmp(a->wait, b->wait) == 0 : a->bare == b->bare &&
	    memcmp(a->wait, b->wait, a->bare) == 0;
}

static void
put_wait(const struct stack *st, bool times)
{
	char *bare;

	if (times)
		text_put(st->wait);
	else if ((bare = strndup(st->wait, st->bare)) != NULL) {
		text_put(bare);
		free(bare);
	}
	printf("\n");
}

/*
 * Print what the threads with the same stack as the thread whose index is first
 * are waiting for. If all wait for the same thing, print it once, without times
 * if these differ. Otherwise print it for each thread.
 */
static void
put_waits(const struct unwinder *u, size_t first)
{
	const struct stack *st = u->stack;
	size_t i;
	bool same, times;

	for (same = times = true, i = first; i < u->n; i++) {
		if (st[i].same != first)
			continue;
		same &= is_samewait(&st[i], &st[first], false);
		times &= is_samewait(&st[i], &st[first], true);
	}
	for (i = first; i < u->n; i++) {
		if (st[i].same != first || (same && i != first) ||
		    st[i].wait == NULL)
			continue;
		printf("  ");
		if (!same)
			printf("%" PRIu64 " ", st[i].tid);
		printf("in ");
		put_wait(&st[i], times || !same);
	}
}

/*
 * Print n frames of Python code.
 */
static void
put_python(struct printing *p, const struct pyframe *f, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		printf("  #%-3u  ", p->nth++);
		text_put(f[i].function);
		printf(" (");
		text_put(f[i].file);
		printf(":%" PRId64 "), Python\n", f[i].line);
		for (k = 0; k < f[i].nlocal; k++) {
			printf("           ");
			text_put(f[i].local[k].name);
			printf(" = ");
			text_put(f[i].local[k].value);
			printf("\n");
		}
	}
}

/*
 * Print the Python state of the threads with the same stack as the thread whose
 * index is first: which of them hold the global interpreter lock or wait for
 * it, and which run an interpreter other than the main one.
 */
static void
put_interpreter(const struct unwinder *u, size_t first)
{
	static const char *const text[] = { "", "holds the GIL",
	    "waits for the GIL" };
	const struct stack *st;
	size_t i;

	for (i = first; i < u->n; i++) {
		st = &u->stack[i];
		if (st->same != first)
			continue;
		if (st->gil != GIL_NONE)
			printf("  %" PRIu64 " %s\n", st->tid, text[st->gil]);
		if (st->interpreter != 0)
			printf("  %" PRIu64 " runs interpreter %" PRIu64 "\n",
			    st->tid, st->interpreter);
	}
}

static void
put_stack(struct unwinder *u, size_t first, bool all)
{
	const struct stack *st = &u->stack[first];
	struct printing p = { 0 };
	size_t i;

	put_threads(u, first);
	put_waits(u, first);
	put_interpreter(u, first);
	for (i = 0; i < st->n; i++) {
		p.f = &st->frame[i];
		if (p.f->npython > 0)
			put_python(&p, p.f->python, p.f->npython);
		if (!all && (p.f->npython > 0 || p.f->within))
			continue;
		locations_each(u, p.f, put_location, &p);
	}
	if (!st->merged && st->npython > 0) {
		printf("  and the code of Python that it runs:\n");
		put_python(&p, st->python, st->npython);
	}
	if (st->regs.n == 0)
		printf(*st->state == '\0' ? "  no registers\n" :
		    "  no registers (%s)\n", st->state);
	else if (!st->whole) {
		printf("  the caller is not known: ");
		text_put(st->why == NULL ? "" : st->why);
		printf("\n");
	}
}

/*
 * Print the stacks of process u, identical ones only once. Print frames of
 * Python code in place of the native frames of the interpreter. If all is true,
 * print both.
 */
void
print_process(struct unwinder *u, bool all)
{
	size_t i;
	bool any;

	printf("process %" PRIu64, u->target->proc->pid);
	if (*u->comm != '\0') {
		printf(" (");
		text_put(u->comm);
		printf(")");
	}
	if (*u->target->exe != '\0') {
		printf(", ");
		text_put(u->target->exe);
	}
	printf(", %zu thread%s\n", u->nthreads, u->nthreads == 1 ? "" : "s");
	if (SEEK(u->stack, u->n, x->collects) != NULL)
		printf("  Python collects garbage\n");
	for (i = 0, any = false; i < u->n; i++)
		if (u->stack[i].same == i) {
			if (any)
				printf("\n");
			any = true;
			put_stack(u, i, all);
		}
	free(printed_ids.v);
	printed_ids.v = NULL;
	printed_ids.n = 0;
}
