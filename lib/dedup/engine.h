/*
 * Deduplication, private to dedup.c (control), fetch.c (reads blocks of pages),
 * identity.c (pages of known identity), candidates.c and content.c (pages of
 * known content).
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "dedup.h"
#include "index.h"
#include "jobs.h"

enum { BLOCK = 256 };		/* maximum number of kilobytes in a block */

enum page_state {
	PAGE_READ, /* the page is to be read or, after the fetch, was read */
	PAGE_ZERO,
	PAGE_IDENTICAL,		/* the identity of the page was seen before */
	PAGE_FOUND,		/* the page was read, and equals another page */
	PAGE_LOST
};

struct want { /* a run to read into consecutive slots of the block's data */
	struct source	*src;	/* borrowed */
	struct run	 run;
	size_t		 kb;	/* index in the block of the first kilobyte */
};

struct block {
	const struct segment *seg; /* borrowed */
	uint64_t	 kb;	/* index in the segment of the first kilobyte */
	size_t		 n;	/* number of kilobytes, at most BLOCK */
	uint64_t	 all;	/* if not 0, the block is one run of this
				   many kilobytes, described by state[0] and
				   same[0] */
	uint64_t	 place;	/* place of the first kilobyte */
	uint8_t		 state[BLOCK];	/* enum page_state */
	uint16_t	 slot[BLOCK]; /* PAGE_READ: index of a slot in "data" */
	uint64_t	 same[BLOCK];	/* PAGE_IDENTICAL, PAGE_FOUND: place
					   of the earlier page; PAGE_READ:
					   place of the page in an earlier
					   copy, which may be equal, or
					   PLACE_NONE */
	uint64_t	 hash[BLOCK];	/* PAGE_READ: hash of the page */
	bool		 recorded[BLOCK]; /* the identity of the page was added
					     to the index; recorded[0]: of all
					     pages of one run */
	struct want	 want[BLOCK];
	size_t		 nwant;
	size_t		 nslot;
	uint8_t		*data;	/* owned; BLOCK slots, NULL before use */
	int		 rc; /* -1: the fetch failed; the error is in "why" */
	char		 why[256]; /* the error, or the reason why the last lost
				      page could not be read */
};

enum { SECRETSIZE = 192 };

struct described {		/* a segment and the place of its first
				   kilobyte */
	uint64_t		 place;
	const struct segment	*seg;	/* borrowed */
};

struct outcome {		/* outcome for consecutive kilobytes that have
				   identities and were not written raw */
	uint64_t	 place : 38;
	uint64_t	 n : 24;
	uint64_t	 verdict : 2;
	uint64_t	 target; /* SAME: place of the page that the first
				    kilobyte equals */
};

struct kept {			/* consecutive places whose outcome is known */
	uint64_t	 place;
	uint64_t	 n;
};

enum { MAX_OUTCOME = (1 << 24) - 1 };	/* maximum number of kilobytes in one
					   outcome */

struct judgement {		/* verdicts on the pages of a block */
	uint64_t	 target[BLOCK];
	uint8_t		 verdict[BLOCK];
};

struct candidates {		/* pages of a block that are to be compared
				   with a target */
	size_t		 n;
	uint16_t	 page[BLOCK];
};

enum { WINDOW = 16384 };	/* maximum number of groups of IDENTITY_KB
				   kilobytes in a window */

struct window {			/* identities of the next pages */
	const struct segment *seg;	/* borrowed */
	const struct extent *ext;	/* borrowed */
	uint64_t	 kb;	/* index in the segment of the first kilobyte */
	size_t		 n;	/* number of groups; 0: none, or identify()
				   failed */
	uint64_t	 id[WINDOW];
};

struct again { /* cached answer: whether an image was described before */
	const struct image *image; /* borrowed; the image that the answer is
				      for */
	bool		 described; /* the image was described completely */
	size_t		 first;	/* index in "desc" of the image's first
				   segment */
};

struct dedup {
	finding_fn	 found;
	void		*arg;
	struct jobs	*ring;	/* owned; jobs are struct block */
	struct index	 content;
	struct index	 identity;	/* those of this copy */
	uint64_t	 start;	/* first place of this copy; see dedup_next() */
	uint64_t	 startbefore;	/* first place of the copy before it */
	struct described *desc;		/* owned; sorted by place */
	size_t		 ndesc;
	struct again	 again;
	struct again	 earlier; /* the same for image.before */
	size_t		 lastdesc;	/* index in "desc" of the segment last
					   found while judging or planning */
	struct outcome	*outcome;		/* owned; sorted by place */
	size_t		 noutcome;
	size_t		 capoutcome;
	size_t		 lastoutcome;	/* index in "outcome" where the next
					   search begins */
	struct kept	*kept;		/* owned; sorted by place */
	size_t		 nkept;
	size_t		 capkept;
	uint64_t	 places;	/* number of places assigned */
	uint64_t	 recent; /* first place that was not replaced; earlier
				    ones are in no index */
	bool		 all;	/* also index pages that are the same in an
				   earlier copy */
	uint64_t	 unique;	/* number of new kilobytes */
	const struct segment *last;	/* the last page of this segment must
					   be written, even if it equals
					   another */
	uint8_t		 secret[SECRETSIZE];
	struct judgement j;
	struct window	 window;
	uint64_t	 before[WINDOW]; /* for each group in the window, the
					    place of its earlier description, or
					    PLACE_NONE */
	uint64_t	 copied[WINDOW]; /* the place of the group in an earlier
					    copy, or PLACE_NONE */
	uint64_t	 now[WINDOW];	/* buffer for identities that are
					   queried again */
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
uint64_t	 again_known(const struct dedup *d, uint64_t place);
uint64_t	 again_find(struct dedup *d, const struct segment *seg,
		    const struct extent *e, uint64_t kb, uint64_t *place);
void		 plan_again(struct block *b, uint64_t place, uint64_t n);
void		 copy_find(struct dedup *d);

/* identity.c */
int		 plan_block(struct dedup *d, struct block *b,
		    const struct described *desc, uint64_t kb);

/* fetch.c */
void		 block_fetch(void *dedup, void *job);
int		 block_room(struct block *b);
void		 block_drop(void *job);

/* candidates.c */
const uint8_t	*block_page(const struct block *b, size_t i);
int		 candidates_check(const struct dedup *d, size_t *last,
		    const struct block *b, const struct candidates *l,
		    uint64_t *target);
void		 block_find(struct dedup *d, struct block *b);

/* content.c */
int		 outcome_add(struct dedup *d, uint64_t place, uint64_t n,
		    enum verdict verdict, uint64_t target);
int		 judge_block(struct dedup *d, const struct block *b);
uint64_t	 judge_run(struct dedup *d, uint64_t place, uint64_t n,
		    uint64_t *target, enum verdict *verdict);

#endif
