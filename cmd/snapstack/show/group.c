/*
 * Group threads with the same stack, which is printed only once.
 */
#include "snapstack/snapstack.h"

/*
 * Compare two stacks by the output printed for them.
 */
static int
stack_cmp(const struct stack *a, const struct stack *b)
{
	size_t i;
	int c;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	if ((a->regs.n == 0) != (b->regs.n == 0))
		return a->regs.n == 0 ? -1 : 1;
	for (i = 0; i < a->n; i++)
		if (a->frame[i].pc != b->frame[i].pc)
			return a->frame[i].pc < b->frame[i].pc ? -1 : 1;
	if (a->npython != b->npython)
		return a->npython < b->npython ? -1 : 1;
	for (i = 0; i < a->npython; i++) {
		if ((c = strcmp(a->python[i].file, b->python[i].file)) != 0 ||
		    (c = strcmp(a->python[i].function,
		    b->python[i].function)) != 0)
			return c;
		if (a->python[i].line != b->python[i].line)
			return a->python[i].line < b->python[i].line ? -1 : 1;
	}
	if ((c = strcmp(a->why == NULL ? "" : a->why, b->why == NULL ? "" :
	    b->why)) != 0)
		return c;
	return a->regs.n > 0 ? 0 : strcmp(a->state, b->state);
}

static int
sort_cmp(const void *a, const void *b)
{
	const struct stack *x = *(struct stack *const *)a;
	const struct stack *y = *(struct stack *const *)b;
	int c = stack_cmp(x, y);

	return c != 0 ? c : x < y ? -1 : x > y;
}

/*
 * Find identical stacks among the n stacks at st. In each stack, set the member
 * same to the index of the first stack that is identical to it, which may be
 * the stack itself. If all is true, always set it to the stack's own index.
 */
void
stacks_group(struct stack *st, size_t n, bool all)
{
	struct stack **v;
	size_t i, first;

	for (i = 0; i < n; i++)
		st[i].same = i;
	if (all || n == 0 || (v = calloc(n, sizeof(struct stack *))) == NULL)
		return;
	for (i = 0; i < n; i++)
		v[i] = &st[i];
	qsort(v, n, sizeof(struct stack *), sort_cmp);
	for (first = 0, i = 1; i < n; i++) {
		if (stack_cmp(v[first], v[i]) != 0)
			first = i;
		v[i]->same = (size_t)(v[first] - st);
	}
	free(v);
}
