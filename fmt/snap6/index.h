/*
 * What the parts of the reader of an index share: index.c (records and
 * segments), run.c (runs of pages) and outline.c (extents that are made of
 * them when they are asked for).
 */
#ifndef SNAP6INDEX_H
#define SNAP6INDEX_H

#include "read.h"

struct cursor {			/* how far an index is read */
	const uint8_t	*p;	/* what is left */
	size_t		 left;
	uint64_t	 at;	/* in the stream */
	uint64_t	 same;	/* behind the last raw page referred to */
	uint64_t	 ordinal; /* raw pages so far */
};

struct pagesrun {		/* pages of one kind */
	enum page_kind	 kind;
	uint64_t	 n;
	uint64_t	 at;	/* in the stream */
	uint64_t	 first;	/* RAW, SAME: as the raw pages from this on */
	uint64_t	 before; /* it: how many raw pages */
};

struct indexed;			/* outline.c */

struct ixreader {
	struct reader	*r;	/* borrowed */
	struct cursor	 c;
	uint64_t	 pid;
	uint64_t	 segend;
	struct indexed	*told;	/* used, as by segments */
};

/* run.c */
int		 get_num(struct cursor *, uint64_t *);
int		 get_diff(struct cursor *, uint64_t, uint64_t *);
int		 cursor_advance(struct cursor *, uint64_t, uint64_t);
int		 runs_get(struct cursor *, uint64_t, uint64_t, size_t,
		    struct pagesrun *, int);

/* outline.c */
enum { RUNS = 64 };		/* of pages between two marks, at most */

struct indexed	*indexed_new(struct reader *);
int		 indexed_begin(struct ixreader *, struct segment *);
int		 indexed_mark(struct ixreader *, const struct segment *);
int		 indexed_runs(struct ixreader *, struct segment *,
		    const struct pagesrun *, int, size_t);
void		 indexed_end(struct indexed *, uint64_t);

#endif
