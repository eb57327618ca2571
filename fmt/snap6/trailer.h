/*
 * The trailer of a snap(6) stream: its last record, of process 0.  It has
 * the form of a Linux record, with these files:
 *
 *	before	records and bytes before it, decimal
 *	sums	8 bytes for each megabyte of those bytes
 *	index	what a scan of the records would find; may be absent
 *	end	24 bytes: length of the trailer, its sum, TRAILER_MAGIC
 *
 * man6/snap.6 describes them to the byte.  Numbers are little-endian, those
 * of the index of variable length (LEB128).
 */
#ifndef TRAILER_H
#define TRAILER_H

#include "snap6.h"

#define TRAILER_FIRST	"linux index 1\n"
#define TRAILER_MAGIC	"SNAPEND\n"

enum {
	TRAILER_HEAD = SNAP6_NUM + 5, /* bytes of the line that begins it */
	TRAILER_END = 24,	/* bytes of the file end */
	TRAILER_SUMMED = 16,	/* of these, not in the sum */
	TYPE_TEXT = F_MAX,	/* record types in the index: enum snap6_field
				   and these */
	TYPE_MEM,
	TYPE_OTHER		/* the name follows */
};

enum page_kind {		/* of a run of pages in the index */
	KIND_RAW,
	KIND_ZERO,
	KIND_SAME
};

/*
 * The index in the making: trailer.c
 */
struct rawrun {			/* raw pages that follow one another */
	uint64_t	 place : 38; /* of the first, in order of description */
	uint64_t	 n : 26;
	uint64_t	 ordinal; /* of the first among all raw pages */
};

struct indexer {
	struct buf	 b;	/* what is made of it */
	bool		 off;	/* too dear, or out of memory: there is none */
	uint64_t	 records;
	uint64_t	 pid;	/* of the last record */
	uint64_t	 segend; /* of the last segment */
	struct rawrun	*raw;	/* owned; ascending */
	size_t		 nraw;
	size_t		 found;	/* where one was found last */
	uint64_t	 ordinal; /* raw pages so far */
	enum page_kind	 kind;	/* of the run begun, */
	uint64_t	 n;	/* of so many pages; 0: none */
	uint64_t	 first;	/* SAME: as the raw pages from this on */
	uint64_t	 bytes;	/* and so many in the stream */
	uint64_t	 same;	/* behind the last that was referred to */
};

void		 indexer_free(struct indexer *);
void		 indexer_record(struct indexer *, uint64_t, const char *);
void		 indexer_segments(struct indexer *, uint64_t);
void		 indexer_segment(struct indexer *, uint64_t, uint64_t);
void		 indexer_raw(struct indexer *, uint64_t, uint64_t);
void		 indexer_zero(struct indexer *, uint64_t);
void		 indexer_same(struct indexer *, uint64_t, uint64_t, uint64_t);
void		 indexer_length(struct indexer *, uint64_t, uint64_t);
int		 trailer_make(struct buf *, const struct indexer *,
		    const struct sums *);

/*
 * The trailer that was read: trailread.c
 */
struct trailer {
	uint64_t	 pos;	/* where it begins in the stream */
	bool		 moved;	/* not where it says, and else in order */
	uint8_t		*data;	/* owned; the whole record */
	size_t		 len;
	uint64_t	 records; /* before it */
	uint64_t	 bytes;
	const uint8_t	*sums;	/* in data: 8 bytes each */
	size_t		 nsums;
	const uint8_t	*index;	/* in data; NULL: none */
	size_t		 nindex;
};

enum trailer_kind {		/* a record that begins as a trailer */
	TRAILER_NONE,		/* or does not */
	TRAILER_LIKELY,
	TRAILER_REWRITTEN,	/* by a program of Plan 9 */
	TRAILER_DAMAGED
};

enum trailer_kind trailer_here(struct input *);
uint64_t	 trailer_most(const struct input *, uint64_t);
bool		 trailer_begins(const uint8_t *, size_t);
bool		 trailer_ends(const uint8_t *, size_t);
int		 trailer_take(struct trailer *, const struct buf *, uint64_t);
int		 trailer_find(struct trailer *, struct input *);
void		 trailer_free(struct trailer *);

#endif
