/*
 * The same kilobyte once: dedup.c, over the index of index.c and the readers of
 * fetch.c.
 */
#ifndef DEDUP_H
#define DEDUP_H

#include "model.h"

enum verdict {
	VERDICT_RAW,		/* seen for the first time */
	VERDICT_ZERO,
	VERDICT_SAME,		/* seen before, at image and addr */
	VERDICT_LOST		/* could not be read */
};

struct finding {		/* what a run of kilobytes turned out to be */
	enum verdict	 verdict;
	const struct segment *seg;	/* borrowed, as all here */
	uint64_t	 kb;	/* the first, from the segment's base */
	uint64_t	 n;
	uint64_t	 place;	/* of the first in the order of description */
	const uint8_t	*data;	/* RAW: n * KB bytes, until found returns */
	const struct image *image; /* SAME: where it was described first */
	uint64_t	 addr;
	uint64_t	 same;	/* SAME: the place of that */
	const char	*why;	/* LOST: the reason */
};

typedef int	 (*finding_fn)(void *, const struct finding *);

struct dedup;

/* dedup.c */
struct dedup	*dedup_new(finding_fn found, void *arg);
void		 dedup_free(struct dedup *d);
int		 dedup_segments(struct dedup *d, struct segment *const *seg,
		    size_t n, bool last);

#endif
