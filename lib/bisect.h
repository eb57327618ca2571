/*
 * Order: comparators, sorting, and bisection, which finds where in what ascends
 * a thing is.
 */
#ifndef BISECT_H
#define BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* how number a compares with b: -1, 0 or 1 */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Define the static function name, a comparator for qsort(3).  By CMP, elements
 * of that type ascend by a member, a number; by CMP2, by first, and where that
 * is equal by second; by PCMP, pointers to that type ascend by a member of
 * what they point to.
 */
#define CMP(name, type, member) \
	CMP_BY(name, type, ORDER(x->member, y->member))
#define CMP2(name, type, first, second)					\
	CMP_BY(name, type, ORDER(x->first, y->first) != 0 ?		\
	    ORDER(x->first, y->first) : ORDER(x->second, y->second))
#define PCMP(name, type, member) \
	CMP_BY(name, type *const, ORDER((*x)->member, (*y)->member))

/* x and y, pointers to elements of that type, compare as order says */
#define CMP_BY(name, type, order)					\
	static int							\
	name(const void *a_, const void *b_)				\
	{								\
		const type *x = a_;					\
		const type *y = b_;					\
									\
		return order;						\
	}

/* sort an array v of n elements, which may be NULL if n is 0 */
#define SORT(v, n, cmp) \
	((n) > 1 ? qsort((v), (n), sizeof *(v), (cmp)) : (void)0)

/* an element of v, which SORT has sorted by cmp, that equals *key, or NULL */
#define FIND_BY(key, v, n, cmp) \
	((n) == 0 ? NULL : bsearch((key), (v), (n), sizeof *(v), (cmp)))

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

/*
 * Return the first of the n elements at v, which ascend by a member, whose
 * member is key, or NULL.  PFIND is for arrays of pointers.
 */
#define FIND(v, n, member, key) \
	FIND_(v, n, key, v_[i_].member, &v_[i_])
#define PFIND(v, n, member, key) \
	FIND_(v, n, key, v_[i_]->member, v_[i_])

#define FIND_(v, n, key, num, found)					\
	__extension__ ({						\
		__typeof__(&(v)[0]) v_ = (v);				\
		const size_t n_ = (n);					\
		const uint64_t key_ = (key);				\
		size_t i_, lo_ = 0, hi_ = n_;				\
									\
		while (lo_ < hi_) {					\
			i_ = lo_ + (hi_ - lo_) / 2;			\
			if ((num) < key_)				\
				lo_ = i_ + 1;				\
			else						\
				hi_ = i_;				\
		}							\
		i_ = lo_;						\
		i_ < n_ && (num) == key_ ? (found) : NULL;		\
	})

#endif
