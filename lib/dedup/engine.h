/*
 * Deduplication, private to dedup.c (driving), fetch.c (blocks of pages on
 * their way from their sources), identity.c (what has a known identity),
 * candidates.c and content.c (what has known content).
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "dedup.h"
#include "index.h"
#include "jobs.h"

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

struct described {		/* a segment and its first place */
	uint64_t		 place;
	const struct segment	*seg;	/* borrowed */
};

struct outcome {		/* kilobytes with identity, not written raw */
	uint64_t	 place : 38;
	uint64_t	 n : 24;
	uint64_t	 verdict : 2;
	uint64_t	 target; /* SAME: the place of the first */
};

struct kept {			/* places whose identities are in the index */
	uint64_t	 place;
	uint64_t	 n;
};

enum { MAX_FATE = (1 << 24) - 1 };	/* kilobytes in one */

struct judgement {		/* on the pages of a block */
	uint64_t	 target[BLOCK];
	uint8_t		 verdict[BLOCK];
};

struct candidates {		/* pages of a block that have a target */
	size_t		 n;
	uint16_t	 page[BLOCK];
};

enum { WINDOW = 16384 };		/* groups */

struct window {			/* identities of pages to come */
	const struct segment *seg;	/* borrowed */
	const struct extent *ext;	/* borrowed */
	uint64_t	 kb;	/* the first, from the segment's base */
	size_t		 n;	/* groups of IDENTITY_KB; 0: none or failed */
	uint64_t	 id[WINDOW];
};

struct again {			/* an image that was described before */
	const struct image *image; /* borrowed; that was asked for last */
	bool		 described; /* it was */
	size_t		 first;	/* its first segment among those */
};

struct dedup {
	finding_fn	 found;
	void		*arg;
	struct jobs	*ring;	/* owned; of struct block */
	struct index	 content;
	struct index	 identity;
	struct described *desc;		/* owned; ascending */
	size_t		 ndesc;
	struct again	 again;
	size_t		 lastdesc;	/* where judge or plan found a place */
	struct outcome	*outcome;		/* owned; ascending */
	size_t		 noutcome;
	size_t		 capoutcome;
	size_t		 lastoutcome;	/* asked for */
	struct kept	*kept;		/* owned; ascending */
	size_t		 nkept;
	size_t		 capkept;
	uint64_t	 places;	/* given out so far */
	uint64_t	 unique;	/* kilobytes found new */
	const struct segment *last;	/* keep its last page unshared */
	uint8_t		 secret[SECRETSIZE];
	struct judgement j;
	struct window	 window;
	uint64_t	 before[WINDOW]; /* places of the present one */
	uint64_t	 now[WINDOW];	/* identities asked for again */
};

/* place.c */
int		 place_give(struct dedup *d, const struct segment *seg);
const struct described *place_segment(const struct dedup *d, uint64_t place,
		    size_t *last);
struct source	*place_source(const struct dedup *d, uint64_t place,
		    size_t *last, uint64_t *loc, uint64_t *n);
bool		 segment_referable(const struct segment *s);
bool		 page_unshared(const struct dedup *d,
		    const struct segment *seg, uint64_t kb);

/* again.c */
uint64_t	 again_find(struct dedup *d, const struct segment *seg,
		    const struct extent *e, uint64_t kb, uint64_t *place);
void		 plan_again(struct block *b, uint64_t place, uint64_t n);

/* identity.c */
int		 plan_block(struct dedup *d, struct block *b,
		    const struct described *at, uint64_t kb);

/* fetch.c */
void		 block_fetch(void *dedup, void *job);
void		 block_drop(void *job);

/* candidates.c */
const uint8_t	*block_page(const struct block *b, size_t i);
int		 candidates_check(const struct dedup *d, size_t *last,
		    const struct block *b, const struct candidates *l,
		    uint64_t *target);
void		 block_find(struct dedup *d, struct block *b);

/* content.c */
int		 judge_block(struct dedup *d, const struct block *b);
uint64_t	 judge_run(struct dedup *d, uint64_t place, uint64_t n,
		    uint64_t *target, enum verdict *verdict);

#endif
