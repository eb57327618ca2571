/*
 * Memory that sets the error string where there is none, and arrays that grow
 * by one element at a time.
 *
 * An array of n elements has room for as many as the least power of two that
 * is not below n, so that the number alone tells when it is full:
 *
 *	if (VEC_ADD(l->v, l->n, x) == -1)
 *		return -1;
 *
 * It starts as NULL with no elements, may lose elements in between, and is
 * given back with free(3).
 */
#ifndef VEC_H
#define VEC_H

#include "snap.h"

#include <stdlib.h>
#include <string.h>

/*
 * Return memory for n elements of size bytes, all zero, which the caller frees;
 * or NULL with errstr.  It is never NULL for n of 0.
 */
static inline void *
mem_new(size_t n, size_t size)
{
	void *p;

	if ((p = calloc(n == 0 ? 1 : n, size)) == NULL)
		errstr_set("out of memory");
	return p;
}

/*
 * Return a copy of the n bytes at data, and of a NUL behind them, which the
 * caller frees; or NULL with errstr.
 */
static inline void *
mem_dup(const void *data, size_t n)
{
	char *p;

	if (n == SIZE_MAX || (p = mem_new(n + 1, 1)) == NULL)
		return NULL;
	if (n > 0)
		memcpy(p, data, n);
	return p;
}

/*
 * Return a copy of string s, which the caller frees; or NULL with errstr.
 */
static inline char *
str_dup(const char *s)
{
	return mem_dup(s, strlen(s));
}

/* buf.c */
char		*str_printf(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));

/*
 * Make room for one more in the array that the pointer at vp points to, of n
 * elements of size bytes.  Return 0; or -1 with errstr, the array as it was.
 */
static inline int
vec_room(void *vp, size_t n, size_t size)
{
	void *v, *more;

	if ((n & (n - 1)) != 0)
		return 0;
	memcpy(&v, vp, sizeof v);
	if (n > PTRDIFF_MAX / size / 2 ||
	    (more = reallocarray(v, n == 0 ? 1 : n * 2, size)) == NULL)
		return errstr_set("out of memory");
	memcpy(vp, &more, sizeof more);
	return 0;
}

/* the same, of an array v of n elements */
#define VEC_ROOM(v, n) vec_room(&(v), (n), sizeof *(v))

/* add one, which is told behind n, to them; 0, or -1 with errstr */
#define VEC_ADD(v, n, ...)						\
	(VEC_ROOM(v, n) == -1 ? -1 : ((v)[(n)++] = (__VA_ARGS__), 0))

#endif
