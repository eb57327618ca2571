/*
 * Deduplication, by kilobyte: dedup.c, with the index of index.c and the
 * readers of fetch.c.
 */
#ifndef DEDUP_H
#define DEDUP_H

#include "model.h"

enum verdict {
	VERDICT_RAW,		/* the page must be written: it is new, or may
				   not refer to another page */
	VERDICT_ZERO,
	VERDICT_SAME, /* the page equals the page at "addr" in "image" */
	VERDICT_LOST		/* the page could not be read */
};

struct finding {		/* result for a run of kilobytes; all
				   pointers are borrowed */
	enum verdict	 verdict;
	const struct segment *seg;	/* segment of the run */
	uint64_t	 kb;	/* index in the segment of the first kilobyte */
	uint64_t	 n;
	uint64_t	 place;	/* place of the first kilobyte; see dedup.c */
	const uint8_t	*data;	/* RAW: n * KB bytes, valid until found()
				   returns */
	const struct image *image; /* SAME: image of the earlier page */
	uint64_t	 addr;
	uint64_t	 same;	/* SAME: place of the earlier page */
	const char	*why;	/* LOST: error message, or "" */
};

typedef int	 (*finding_fn)(void *, const struct finding *);

struct dedup;

/* dedup.c */
struct dedup	*dedup_new(finding_fn found, void *arg);
void		 dedup_free(struct dedup *d);
void		 dedup_next(struct dedup *d, bool all, bool replaced);
int		 dedup_segments(struct dedup *d, struct segment *const *seg,
		    size_t n, bool last);

#endif
