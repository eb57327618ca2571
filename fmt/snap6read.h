/*
 * What the two halves of the snap(6) reader share: records, in snap6read.c,
 * and the segments and pages in them, in snap6seg.c.
 */
#ifndef SNAP6READ_H
#define SNAP6READ_H

#include "snap.h"
#include "snap6.h"

struct reader {
	struct input	*in;
	struct snap	*snap;
	struct source	*src;	/* where page data is; NULL: none yet */
	bool		 nodata;
	bool		 spool;
	int		(*keep)(void *, struct snap *, struct proc *, uint64_t,
			    const uint8_t *, size_t, struct source **,
			    uint64_t *);
	void		*keeper;
	struct proc	*proc;	/* of the record being read */
	struct segment	*seg;	/* being read */
	struct image	*image;	/* and what it will be in */
	char		 last[128]; /* the last whole record, for messages */
	uint64_t	 at;	/* the byte that a message is about */
	bool		 cut;	/* the stream ended too early */
};

/* snap6read.c */
int		 reader_short(struct reader *, const char *);
uint64_t	 reader_rest(const struct reader *);
int		 read_num(struct reader *, const char *, uint64_t *);

/* snap6seg.c */
int		 read_segment(struct reader *, struct image *);

#endif
