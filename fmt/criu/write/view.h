/*
 * What view.c and viewread.c share: images that are made as they are read.
 *
 *	pages-1.img		0       8192          12288
 *	                        [ 10000 ][ 40000      ]     addresses
 *	ghost-file-1.img	[head][chunk][ 0     ][chunk][ 90000 ]
 *
 * An image is a row of parts, each of which is bytes, or an address.
 */
#ifndef CRIUVIEW_H
#define CRIUVIEW_H

#include "write.h"

struct part {
	uint64_t	 off;	/* where it begins */
	uint64_t	 len;	/* bytes */
	const uint8_t	*bytes;	/* borrowed; NULL: it is in the image: */
	uint64_t	 addr;
};

struct viewed {			/* one of them */
	char		*name;	/* owned */
	struct image	*image;	/* borrowed; NULL: all parts are bytes */
	struct part	*part;	/* owned; in a row, without holes between */
	size_t		 npart;
	uint64_t	 size;	/* bytes of all */
	struct buf	*own;	/* owned; bytes of parts */
	size_t		 nown;
};

struct criuview {
	struct mades	 l;	/* owned */
	struct viewed	**v;	/* owned; by name */
	size_t		 n;
};

#endif
