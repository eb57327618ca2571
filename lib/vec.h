/*
 * Allocation that sets the error string on failure, and arrays that grow by one
 * element at a time.
 *
 * The capacity of an array of n elements is the least power of two that is at
 * least n, so that n alone shows when it is full:
 *
 *	if (VEC_ADD(l->v, l->n, x) == -1)
 *		return -1;
 *
 * An array starts as NULL with no elements, may shrink, and is freed with
 * free(3).
 */
#ifndef VEC_H
#define VEC_H

#include "library.h"

/*
 * Return zeroed memory for n elements of size bytes, which the caller frees; or
 * NULL with errstr set. If n is 0, allocate one element.
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
 * Return a copy of the n bytes at data, followed by a NUL, which the caller
 * frees; or NULL with errstr set.
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
 * Return a copy of string s, which the caller frees; or NULL with errstr set.
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
 * Make room for one more element in the array that *vp points to, which has n
 * elements of size bytes. Return 0; or -1 with errstr set, and the array
 * unchanged.
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

/* call vec_room() for array v of n elements */
#define VEC_ROOM(v, n) vec_room(&(v), (n), sizeof *(v))

/* append an element, given after n, to array v; 0, or -1 with errstr set */
#define VEC_ADD(v, n, ...)						\
	(VEC_ROOM(v, n) == -1 ? -1 : ((v)[(n)++] = (__VA_ARGS__), 0))

#endif
