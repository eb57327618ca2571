/*
 * What reader and writer of snap(6) have in common.
 *
 *	process snapshot TIME USER@HOST CPUTYPE KERNELTIME "TERMINAL"\n
 *	record ...
 *
 *	record   NUM name \n body		the process id, the type
 *	data     NUM bytes			one of the small files
 *	text     seg
 *	mem      NUM seg ...			the count, then that many
 *	seg      NUM NUM page ...		base, length in bytes
 *	page     r bytes | z | m NUM NUM | t NUM NUM
 *
 * A NUM is decimal, blank-padded to 11 columns and followed by a blank.
 */
#ifndef SNAP6_H
#define SNAP6_H

#include "io/io.h"

enum snap6_field {		/* in the order in which they are written */
	F_SEGMENT,
	F_FD,
	F_FPREGS,
	F_KREGS,
	F_NOTEID,
	F_NS,
	F_PROC,
	F_REGS,
	F_STATUS,
	F_MAX
};

extern const char *const snap6_field[F_MAX];

#define SNAP6_MAGIC	"process snapshot"

enum {
	SNAP6_NUM = 12,		/* bytes of a number, at least */
	SNAP6_NUMMOST = 22,	/* and at the most */
	SNAP6_LOWDIGITS = 8,	/* of a number, put together: num_low */
	SNAP6_LOW = 100000000,	/* 10^SNAP6_LOWDIGITS */
	SNAP6_LASTDIGITS = 4,	/* likewise: num_last */
	SNAP6_LAST = 10000,
	SNAP6_LINE = 8192,	/* bytes of a header line, at most */
	SNAP6_DATA = 1 << 30	/* bytes of data in a record, at most */
};

/* num.c */
char		*num_format(char *, uint64_t);
void		 num_last(char *, uint32_t);
void		 num_low(char *, uint32_t);

/* refer.c */
struct referred {		/* how references to an image begin */
	const struct image *image; /* borrowed; NULL: there was none */
	char		 begin[1 + SNAP6_NUMMOST]; /* the letter and the pid */
	size_t		 n;	/* bytes of that */
};

void		 refer_put(struct referred *r, struct output *out,
		    const struct image *im, uint64_t addr, uint64_t n);

/* read.c */
struct snap	*snap6_read(struct input *, const struct readopts *);

#endif
