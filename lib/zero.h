/*
 * Whether bytes are all zero.
 */
#ifndef ZERO_H
#define ZERO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Return whether the len bytes at p, which may be none, are all zero.
 */
static inline bool
bytes_arezero(const uint8_t *p, size_t len)
{
	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

#endif
