/*
 * The trailer of a snap(6) stream: its last record, of process 0. It has the
 * form of a Linux record, with these files:
 *
 *	before	number of records and bytes before it, decimal
 *	sums	8 bytes for each megabyte before it
 *	index	what a scan of the records would find; may be absent
 *	end	24 bytes: length of the trailer, its sum, TRAILER_MAGIC
 *
 * man6/snap.6 describes them to the byte. Numbers are little-endian, those in
 * the index of variable length (LEB128).
 */
#ifndef TRAILER_H
#define TRAILER_H

#include "snap6.h"

#define TRAILER_FIRST	"linux index 1\n"
#define TRAILER_MAGIC	"SNAPEND\n"

enum {
	TRAILER_HEAD = SNAP6_NUM + 5, /* length of the header line of a trailer,
					 in bytes */
	TRAILER_END = 24,	/* length of the file "end" in bytes */
	TRAILER_SUMMED = 16,	/* number of bytes of the file "end" that the
				   checksum does not cover */
	TYPE_TEXT = F_MAX,	/* record types in the index: enum
				   snap6_field, then these */
	TYPE_MEM,
	TYPE_OTHER		/* any other record type; its name follows */
};

enum page_kind {		/* kind of a run of pages in the index */
	KIND_RAW,
	KIND_ZERO,
	KIND_SAME
};

/*
 * trailer.c: build the index
 */
struct rawrun {			/* consecutive raw pages */
	uint64_t	 place : 38; /* position of the run's first page among
					all pages described */
	uint64_t	 n : 26;
	uint64_t	 ordinal; /* ordinal number of the run's first page
				     among all raw pages */
};

struct indexer {
	struct buf	 b;	/* the part of the index made so far */
	bool		 off;	/* no index is made: it would be too large,
				   or memory ran out */
	uint64_t	 records;
	uint64_t	 pid;	/* process of the last record */
	uint64_t	 segend; /* end address of the last segment */
	struct rawrun	*raw;	/* owned; sorted by place */
	size_t		 nraw;
	size_t		 found;	/* index in raw of the last search result */
	uint64_t	 ordinal; /* number of raw pages added so far */
	enum page_kind	 kind;	/* kind of the current run */
	uint64_t	 n;	/* number of pages in the current run; 0: there
				   is no run */
	uint64_t	 first;	/* SAME: ordinal number of the first raw page
				   referred to */
	uint64_t	 bytes;	/* SAME: total length of the references in the
				   stream, in bytes */
	uint64_t	 same;	/* ordinal number of the raw page that follows
				   the last one referred to */
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
 * trailread.c: a trailer that was read
 */
struct trailer {
	uint64_t	 pos;	/* byte offset of the trailer in the stream */
	bool		 moved;	/* the trailer is valid except for the offset
				   stated in it */
	uint8_t		*data;	/* owned; the whole trailer record */
	size_t		 len;
	uint64_t	 records; /* number of records before the trailer */
	uint64_t	 bytes;	/* number of bytes before the trailer */
	const uint8_t	*sums; /* points into data; checksums of 8 bytes each */
	size_t		 nsums;
	const uint8_t	*index;	/* points into data; NULL: there is no index */
	size_t		 nindex;
};

enum trailer_kind {		/* kind of record, by its first bytes */
	TRAILER_NONE,		/* not a trailer */
	TRAILER_LIKELY,
	TRAILER_REWRITTEN,	/* a trailer rewritten by a Plan 9 program */
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
