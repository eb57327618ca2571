/*
 * Find threads by ID, and by the address that the kernel clears when they end.
 */
#include "snapstack.h"
#include "bisect.h"

CMP2(key_cmp, struct threadkey, key, nth)

/*
 * Return an array of the threads of u, sorted by a key. The key is the 64-bit
 * member at offset off of struct stack. Return NULL if memory ran out.
 */
static struct threadkey *
keys_make(const struct unwinder *u, size_t off)
{
	struct threadkey *k;
	size_t i;

	if ((k = pool_new(&u->target->pool, u->n, sizeof *k)) == NULL)
		return NULL;
	for (i = 0; i < u->n; i++) {
		memcpy(&k[i].key, (const char *)&u->stack[i] + off,
		    sizeof k[i].key);
		k[i].nth = i;
	}
	SORT(k, u->n, key_cmp);
	return k;
}

/*
 * Return the first thread with this key in the sorted array k, which must be
 * u->inner or u->clears. Return NULL if there is none.
 */
const struct stack *
thread_find(const struct unwinder *u, const struct threadkey *k, uint64_t key)
{
	k = FIND(k, u->n, key, key);
	return k == NULL ? NULL : &u->stack[k->nth];
}

/*
 * Make u->inner and u->clears. The caller must have added all threads. Return
 * 0, or -1 with errstr set.
 */
int
threads_sort(struct unwinder *u)
{
	u->inner = keys_make(u, offsetof(struct stack, inner));
	u->clears = keys_make(u, offsetof(struct stack, clears));
	return u->inner == NULL || u->clears == NULL ? -1 : 0;
}
