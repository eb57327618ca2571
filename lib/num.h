/*
 * Numbers of up to 8 bytes: little-endian, except for num_order() and
 * num_here(); and a test for zero bytes.
 */
#ifndef NUM_H
#define NUM_H

#include "library.h"

/*
 * Store v at p as n bytes, little-endian.
 */
static inline void
num_put(uint8_t *p, uint64_t v, size_t n)
{
	for (; n > 0; n--, v >>= 8)
		*p++ = (uint8_t)v;
}

/*
 * Return the little-endian number of n bytes, at most 8, at p.
 */
static inline uint64_t
num_get(const uint8_t *p, size_t n)
{
	uint64_t v;

	for (v = 0; n > 0; n--)
		v = v << 8 | p[n - 1];
	return v;
}

/*
 * Return the number of n bytes, at most 8, at p: big-endian if big is set,
 * otherwise little-endian.
 */
static inline uint64_t
num_order(const uint8_t *p, size_t n, bool big)
{
	uint64_t v;

	if (!big)
		return num_get(p, n);
	for (v = 0; n > 0; n--)
		v = v << 8 | *p++;
	return v;
}

/*
 * Return the number of n bytes, at most 8, at p, in the byte order of the
 * machine we run on.
 */
static inline uint64_t
num_here(const uint8_t *p, size_t n)
{
	return num_order(p, n, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/*
 * Append v to b as n bytes, at most 8, little-endian.
 */
static inline void
num_add(struct buf *b, uint64_t v, size_t n)
{
	uint8_t s[8];

	num_put(s, v, n);
	buf_add(b, s, n);
}

/*
 * Return true if the len bytes at p, which may be none, are all zero.
 */
static inline bool
bytes_arezero(const uint8_t *p, size_t len)
{
	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

#endif
