/*
 * Comparison functions, sorting, and search in arrays.
 */
#ifndef BISECT_H
#define BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* compare numbers a and b: -1, 0 or 1 */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Define name as a static comparison function for qsort(3). CMP: elements of
 * type are sorted by member, a number. CMP2: by first, and where that is equal
 * by second. PCMP: the elements are pointers to type, and their targets are
 * sorted by member.
 */
#define CMP(name, type, member) \
	CMP_BY(name, type, ORDER(x->member, y->member))
#define CMP2(name, type, first, second)					\
	CMP_BY(name, type, ORDER(x->first, y->first) != 0 ?		\
	    ORDER(x->first, y->first) : ORDER(x->second, y->second))
#define PCMP(name, type, member) \
	CMP_BY(name, type *const, ORDER((*x)->member, (*y)->member))

/*
 * define name to return order, an expression of x and y, which point to
 * elements of type
 */
#define CMP_BY(name, type, order)					\
	static int							\
	name(const void *a_, const void *b_)				\
	{								\
		const type *x = a_;					\
		const type *y = b_;					\
									\
		return order;						\
	}

/*
 * Return a pointer to the first of the n elements of array v for which the
 * expression "is" is true, or NULL.  In this expression, x points to the
 * element.  SEEK_IN searches a whole array.  PSEEK searches an array of
 * pointers; x is such a pointer, and so is the result.
 */
#define SEEK(v, n, is) \
	SEEK_(v, n, &v_[i_], is)
#define SEEK_IN(v, is) \
	SEEK(v, sizeof (v) / sizeof *(v), is)
#define PSEEK(v, n, is) \
	SEEK_(v, n, v_[i_], is)

/*
 * The same for a list of sys/queue.h whose links are its member "entry". "&*"
 * keeps x assignable if list is const.
 */
#define LSEEK(list, is)							\
	__extension__ ({						\
		__typeof__(&*TAILQ_FIRST(list)) x;			\
									\
		TAILQ_FOREACH(x, list, entry)				\
			if (is)						\
				break;					\
		x;							\
	})

#define SEEK_(v, n, element, is)					\
	__extension__ ({						\
		__typeof__(&(v)[0]) v_ = (v);				\
		const size_t n_ = (n);					\
		size_t i_ = 0;						\
		__typeof__((element) + 0) x = NULL;			\
									\
		for (; i_ < n_; i_++) {					\
			x = (element);					\
			if (is)						\
				break;					\
			x = NULL;					\
		}							\
		x;							\
	})

/* sort the n elements of array v, which may be NULL if n is 0 */
#define SORT(v, n, cmp) \
	((n) > 1 ? qsort((v), (n), sizeof *(v), (cmp)) : (void)0)

/* return the element of v, sorted by cmp, that equals *key, or NULL */
#define FIND_BY(key, v, n, cmp) \
	((n) == 0 ? NULL : bsearch((key), (v), (n), sizeof *(v), (cmp)))

/*
 * v has n records of size bytes each, sorted by a uint64_t at byte offset at of
 * each. Return the number of records in which it is at most key. This is also
 * the index of the first record in which it is greater, or n.
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

/* call bisect for the n elements of array v, sorted by member */
#define BISECT(v, n, member, key) \
	_Generic((v)->member, uint64_t: bisect)((v), (n), sizeof *(v), \
	    offsetof(__typeof__(*(v)), member), (key))

/*
 * Search an array that is not sorted by a single number: return the index of
 * the first of n elements for which the expression before is false, or n. The
 * expression uses i as the index of an element, has no side effects, and must
 * be false for all elements after the first for which it is false. For example,
 * the index of the first run that ends after addr:
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
 * Return the first of the n elements at v, which are sorted by member, whose
 * member equals key, or NULL.  PFIND searches an array of pointers.
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
		const size_t at_ = BISECT_WHILE(i_, n_, (num) < key_);	\
		const size_t i_ = at_;					\
									\
		i_ < n_ && (num) == key_ ? (found) : NULL;		\
	})

#endif
