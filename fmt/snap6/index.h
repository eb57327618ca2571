/*
 * Declarations shared by the parts of the index reader: index.c (records and
 * segments), run.c (runs of pages) and outline.c (extents made from runs on
 * demand).
 */
#ifndef SNAP6INDEX_H
#define SNAP6INDEX_H

#include "read.h"

struct cursor {			/* reading position in an index and its
				   stream */
	const uint8_t	*p;	/* rest of the index */
	size_t		 left;
	uint64_t	 at;	/* current byte offset in the stream */
	uint64_t	 same;	/* ordinal number of the raw page that follows
				   the last one referred to */
	uint64_t	 ordinal; /* number of raw pages read so far */
};

struct pagesrun {		/* consecutive pages of one kind */
	enum page_kind	 kind;
	uint64_t	 n;
	uint64_t	 at;	/* byte offset of the run in the stream */
	uint64_t	 first;	/* RAW, SAME: ordinal number of the first raw
				   page */
	uint64_t	 before; /* number of raw pages before this run */
};

struct indexed;			/* see outline.c */

struct ixreader {
	struct reader	*r;	/* borrowed */
	struct cursor	 c;
	uint64_t	 pid;
	uint64_t	 segend;
	struct indexed	*indexed; /* shared outline of the segments read so
				     far */
};

/* run.c: numbers and runs of pages in an index */
int		 get_num(struct cursor *, uint64_t *);
int		 get_diff(struct cursor *, uint64_t, uint64_t *);
int		 cursor_advance(struct cursor *, uint64_t, uint64_t);
int		 runs_get(struct cursor *, uint64_t, uint64_t, size_t,
		    struct pagesrun *, int);

/* outline.c: extents made from runs on demand */
enum { RUNS = 64 };		/* maximum number of runs between two marks */

struct indexed	*indexed_new(struct reader *);
int		 indexed_begin(struct ixreader *, struct segment *);
int		 indexed_mark(struct ixreader *, const struct segment *);
int		 indexed_runs(struct ixreader *, struct segment *,
		    const struct pagesrun *, int, size_t);
void		 indexed_end(struct indexed *, uint64_t);

#endif
