/*
 * Declarations shared by the reader and writer of snap(6).
 *
 *	process snapshot TIME USER@HOST CPUTYPE KERNELTIME "TERMINAL"\n
 *	record ...
 *
 *	record   NUM name \n body		process ID and type
 *	data     NUM bytes			one of the small files
 *	text     seg
 *	mem      NUM seg ...			the count, then that many
 *	seg      NUM NUM page ...		base, length in bytes
 *	page     r bytes | z | m NUM NUM | t NUM NUM
 *
 * A NUM is decimal, padded with blanks to 11 columns and followed by a blank.
 */
#ifndef SNAP6_H
#define SNAP6_H

#include "io/io.h"

enum snap6_field {		/* types of small files, in the order in
				   which they are written */
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
	SNAP6_NUM = 12,		/* minimum length of a number in bytes */
	SNAP6_NUMMOST = 22,	/* maximum length of a number in bytes */
	SNAP6_LOWDIGITS = 8,	/* number of digits that num_low() writes */
	SNAP6_LOW = 100000000,	/* 10^SNAP6_LOWDIGITS */
	SNAP6_LASTDIGITS = 4,	/* number of digits that num_last() writes */
	SNAP6_LAST = 10000,
	SNAP6_LINE = 8192,	/* maximum length of a header line, in bytes */
	SNAP6_DATA = 1 << 30	/* maximum length of the data in a record, in
				   bytes */
};

/* num.c: write numbers */
char		*num_format(char *, uint64_t);
void		 num_last(char *, uint32_t);
void		 num_low(char *, uint32_t);

/* refer.c: write references to pages */
struct referred {		/* the bytes with which all references to one
				   image begin */
	const struct image *image; /* borrowed; the image; NULL: there was no
				      reference yet */
	/* the letter and the process ID */
	char		 begin[1 + SNAP6_NUMMOST];
	size_t		 n;	/* length of "begin" in bytes */
};

void		 refer_put(struct referred *r, struct output *out,
		    const struct image *im, uint64_t addr, uint64_t n);

/* read.c: read a stream */
struct snap	*snap6_read(struct input *, const struct readopts *);

#endif
