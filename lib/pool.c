/*
 * Pools of memory.
 */
#include "pool.h"

/*
 * Let p own data, which malloc(3) returned. Return data. If data is NULL, or
 * cannot be added to p and was freed, return NULL.
 */
void *
pool_own(struct pool *p, void *data)
{
	if (data != NULL && VEC_ADD(p->v, p->n, data) == 0)
		return data;
	free(data);
	p->failed = true;
	return NULL;
}

/*
 * Return n zeroed elements of size bytes each, or one if n is 0.
 */
void *
pool_new(struct pool *p, size_t n, size_t size)
{
	return pool_own(p, mem_new(n, size));
}

/*
 * Return a copy of the n bytes at data, followed by a NUL.
 */
void *
pool_dup(struct pool *p, const void *data, size_t n)
{
	return pool_own(p, mem_dup(data, n));
}

/*
 * Return a copy of string s.
 */
char *
pool_string(struct pool *p, const char *s)
{
	return pool_dup(p, s, strlen(s));
}

/*
 * Make room for one more element in the array that *vp points to, which p owns
 * and which has n elements of size bytes. If the array was allocated last, it
 * is extended; otherwise it is copied. Return 0 or -1.
 */
int
pool_room(struct pool *p, void *vp, size_t n, size_t size)
{
	void *v, *more;

	if ((n & (n - 1)) != 0)
		return 0;
	memcpy(&v, vp, sizeof v);
	if (n > 0 && p->v[p->n - 1] == v) {
		if (vec_room(vp, n, size) == -1)
			return -1;
		memcpy(&p->v[p->n - 1], vp, sizeof v);
		return 0;
	}
	if ((more = pool_new(p, n == 0 ? 1 : n * 2, size)) == NULL)
		return -1;
	if (n > 0)
		memcpy(more, v, n * size);
	memcpy(vp, &more, sizeof more);
	return 0;
}

/*
 * Free everything that p owns, and empty p.
 */
void
pool_free(struct pool *p)
{
	while (p->n > 0)
		free(p->v[--p->n]);
	free(p->v);
	p->v = NULL;
}
