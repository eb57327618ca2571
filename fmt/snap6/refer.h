/*
 * References to pages that a stream has already: refer.c
 */
#ifndef REFER_H
#define REFER_H

#include "snap6.h"

struct referred {		/* how references to an image begin */
	const struct image *image; /* borrowed; NULL: there was none */
	char		 begin[1 + SNAP6_NUMMOST]; /* the letter and the pid */
	size_t		 n;	/* bytes of that */
};

void		 refer_put(struct referred *r, struct output *out,
		    const struct image *im, uint64_t addr, uint64_t n);

#endif
