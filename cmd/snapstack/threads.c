/*
 * Threads by what they are found by: their numbers, and the addresses that the
 * kernel clears when they end.
 */
#include "snapstack.h"
#include "bisect.h"

CMP2(key_cmp, struct threadkey, key, nth)

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
	SORT(k, u->n, key_cmp);
	return k;
}

/*
 * Return the first thread that has the key among k, u->inner or u->clears; or
 * NULL.
 */
const struct stack *
thread_find(const struct unwinder *u, const struct threadkey *k, uint64_t key)
{
	k = FIND(k, u->n, key, key);
	return k == NULL ? NULL : &u->stack[k->nth];
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
