/*
 * Bisection: where in what ascends a thing is.
 */
#ifndef BISECT_H
#define BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Of the n records at v, ascending, of size bytes each, with a uint64_t at the
 * offset at, return how many have one that is at most key.  It is also the
 * place of the first that has a greater one.
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

/*
 * For what is ordered by something else than one number: the first of n for
 * which an expression is false, or n.  The expression names the place of an
 * element as i, has no other effect, and is true of none behind the first of
 * which it is false.  The first run that ends behind an address:
 *
 *	BISECT_WHILE(i, l->n, l->v[i].addr + l->v[i].len <= addr)
 */
#define BISECT_WHILE(i, n, before)					\
	__extension__ ({						\
		size_t i, lo_ = 0, hi_ = (n);				\
									\
		while (lo_ < hi_) {					\
			i = lo_ + (hi_ - lo_) / 2;			\
			if (before)					\
				lo_ = i + 1;				\
			else						\
				hi_ = i;				\
		}							\
		lo_;							\
	})

#endif
