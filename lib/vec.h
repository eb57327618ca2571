/*
 * Arrays that grow by one element at a time.
 *
 * An array of n elements has room for as many as the least power of two that
 * is not below n, so that the number alone tells when it is full:
 *
 *	if (VEC_ROOM(l->v, l->n) == -1)
 *		return -1;
 *	l->v[l->n++] = x;
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

#endif
