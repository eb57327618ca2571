/*
 * Numbers of n bytes, 8 at most: little-endian, but for num_order.
 */
#ifndef NUM_H
#define NUM_H

#include "snap.h"

static inline void
num_put(uint8_t *p, uint64_t v, size_t n)
{
	for (; n > 0; n--, v >>= 8)
		*p++ = (uint8_t)v;
}

static inline uint64_t
num_get(const uint8_t *p, size_t n)
{
	uint64_t v;

	for (v = 0; n > 0; n--)
		v = v << 8 | p[n - 1];
	return v;
}

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

static inline void
num_add(struct buf *b, uint64_t v, size_t n)
{
	uint8_t s[8];

	num_put(s, v, n);
	buf_add(b, s, n);
}

#endif
