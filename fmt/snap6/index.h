/*
 * What the parts of the reader of an index share: index.c (records and
 * segments) and run.c (runs of pages).
 */
#ifndef SNAP6INDEX_H
#define SNAP6INDEX_H

#include "read.h"

struct rawrange {		/* raw pages that follow one another */
	uint64_t	 ordinal; /* of the first among all raw pages */
	uint64_t	 n;
	uint64_t	 at;	/* where the first page's bytes are */
};

struct ixreader {
	struct reader	*r;	/* borrowed */
	const uint8_t	*p;	/* of the index, what is left */
	size_t		 left;
	uint64_t	 at;	/* in the stream */
	uint64_t	 pid;
	uint64_t	 segend;
	uint64_t	 same;	/* behind the last raw page referred to */
	uint64_t	 ordinal; /* raw pages so far */
	struct rawrange	*raw;	/* owned; ascending */
	size_t		 nraw;
	size_t		 cap;
};

/* run.c */
int		 get_num(struct ixreader *, uint64_t *);
int		 get_diff(struct ixreader *, uint64_t, uint64_t *);
int		 index_advance(struct ixreader *, uint64_t);
int		 index_pages(struct ixreader *, struct segment *);

#endif
