/*
 * Blocks of pages on their way from their sources, private to dedup.
 */
#ifndef FETCH_H
#define FETCH_H

#include "model.h"

enum { BLOCK = 256 };		/* kilobytes in a block */

enum page_state {
	PAGE_READ,		/* to be read; afterwards: was read */
	PAGE_ZERO,
	PAGE_IDENTICAL,		/* has an identity that was seen before */
	PAGE_FOUND,		/* was read, and is the same as one before */
	PAGE_LOST
};

struct want {			/* a run to be read into consecutive slots */
	struct source	*src;	/* borrowed */
	struct run	 run;
	size_t		 kb;	/* the first, from the block's start */
};

struct block {
	const struct segment *seg; /* borrowed */
	uint64_t	 kb;	/* the first, from the segment's base */
	size_t		 n;	/* kilobytes, at most BLOCK */
	uint64_t	 all;	/* instead of them: so many like the first */
	uint64_t	 place;	/* of the first in the whole snapshot */
	uint8_t		 state[BLOCK];	/* enum page_state */
	uint16_t	 slot[BLOCK];	/* PAGE_READ: where in data */
	uint64_t	 same[BLOCK];	/* PAGE_IDENTICAL, PAGE_FOUND: to this
					   place */
	uint64_t	 hash[BLOCK];	/* PAGE_READ */
	bool		 recorded[BLOCK]; /* its identity is in the index */
	struct want	 want[BLOCK];
	size_t		 nwant;
	size_t		 nslot;
	uint8_t		*data;	/* owned; BLOCK slots, NULL before use */
	int		 rc;	/* -1: the fetch failed, and why */
	char		 why[256]; /* also of the last page that was lost */
};

enum { SECRETSIZE = 192 };

#endif
