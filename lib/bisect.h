/*
 * Bisection of records that ascend by one of their numbers.
 */
#ifndef BISECT_H
#define BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Of n records of so many bytes, each with a uint64_t at that offset, how many
 * have one that is at most key?  It is also the place of the first that has a
 * greater one.
 */
static inline size_t
bisect(const void *v, size_t n, size_t size, size_t at, uint64_t key)
{
	size_t lo, hi, mid;
	uint64_t num;

	for (lo = 0, hi = n; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		memcpy(&num, (const uint8_t *)v + mid * size + at, sizeof num);
		if (num <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* the same, of an array and a member of that type */
#define BISECT(v, n, member, key) \
	_Generic((v)->member, uint64_t: bisect)((v), (n), sizeof *(v), \
	    offsetof(__typeof__(*(v)), member), (key))

#endif
