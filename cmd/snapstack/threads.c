/*
 * Threads by what they are found by: their numbers, and the addresses that the
 * kernel clears when they end.
 */
#include "snapstack.h"
#include "bisect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int
key_cmp(const void *a, const void *b)
{
	const struct threadkey *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->nth > y->nth ? -1 : x->nth < y->nth;
}

/*
 * Return the n threads by what each has at so many bytes from the beginning of
 * its stack, the caller's.
 */
static struct threadkey *
keys_make(const struct unwinder *u, size_t at)
{
	struct threadkey *k;
	size_t i;

	if ((k = calloc(u->n + 1, sizeof *k)) == NULL)
		return NULL;
	for (i = 0; i < u->n; i++) {
		memcpy(&k[i].key, (const char *)&u->stack[i] + at,
		    sizeof k[i].key);
		k[i].nth = i;
	}
	qsort(k, u->n, sizeof *k, key_cmp);
	return k;
}

/*
 * Return the first thread that has the key among k, u->inner or u->clears; or
 * NULL.
 */
const struct stack *
thread_find(const struct unwinder *u, const struct threadkey *k, uint64_t key)
{
	size_t i = BISECT(k, u->n, key, key);

	return i > 0 && k[i - 1].key == key ? &u->stack[k[i - 1].nth] : NULL;
}

/*
 * Sort the threads of u, which are all there.  Return 0; or -1 with errstr.
 */
int
threads_sort(struct unwinder *u)
{
	u->inner = keys_make(u, offsetof(struct stack, inner));
	u->clears = keys_make(u, offsetof(struct stack, clears));
	return u->inner == NULL || u->clears == NULL ?
	    errstr_set("out of memory") : 0;
}
