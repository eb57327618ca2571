/*
 * What the parts of the snap(6) reader share: what streams are made of, in
 * num.c, records, in records.c, the segments and pages in them, in
 * segment.c, a trailer, in trailscan.c, what an index tells of them, in
 * index.c, run.c and outline.c, what is damaged of it, in damage.c, and what is
 * left of it then, in salvage.c.
 */
#ifndef SNAP6READ_H
#define SNAP6READ_H

#include "trailer.h"

enum {
	HELD_RECORD = 128,	/* bytes of memory, but for the data */
	HELD_PROC = 384,
	HELD_SEGMENT = 288	/* with its pieces of the view */
};

struct damage {			/* which megabytes of a stream are damaged */
	bool		*bad;	/* owned; NULL: none */
	uint64_t	 n;
	uint64_t	 first;	/* the first bad one; n: none */
};

struct fault {			/* where an error is, for its message */
	uint64_t	 at;	/* the byte */
	bool		 cut;	/* there: the stream ended too early */
	char		 last[128]; /* the last whole record; "": none */
};

/*
 * A stream is scanned, which takes sums of what comes, or read by the index
 * of its trailer, which was read before; a scan takes a trailer as the last
 * record.  With o->salvage, damage is looked for first, and an error is no
 * end.
 */
struct reader {
	struct input	*in;	/* borrowed, as are the options */
	const struct readopts *o;
	struct snap	*snap;
	struct source	*src;	/* where page data is; NULL: none yet */
	bool		 spool;	/* page data is put there as it comes */
	struct proc	*proc;	/* of the record being read */
	struct image	*image;	/* that it is of, */
	struct segment	*seg;	/* and what of it is being read */
	uint64_t	 memend; /* the mem record begun tells of memory as far
				   as this; UINT64_MAX: none is begun */
	struct trailer	 trailer; /* bytes 0: none was found */
	struct sums	*sums;	/* owned; of what was scanned */
	struct damage	 damage;
	uint64_t	 records; /* so far */
	uint64_t	 held;	/* bytes of memory that are taken */
	struct fault	 fault;
};

/* num.c */
int		 reader_short(struct reader *, const char *);
uint64_t	 reader_rest(const struct reader *);
bool		 reader_copies(const struct reader *);
bool		 reader_seeks(const struct reader *);
int		 read_num(struct reader *, const char *, uint64_t *);
int		 read_line(struct reader *, const char *, size_t, char,
		    char [SNAP6_LINE]);
int		 read_bytes(struct reader *, struct buf *, uint64_t);
int		 reader_hold(struct reader *, uint64_t);

/* records.c */
int		 read_head(struct reader *, uint64_t *, char [SNAP6_LINE]);
int		 read_data(struct reader *, const char *);
int		 reader_proc(struct reader *, uint64_t);
struct image	*reader_image(struct reader *, enum image_kind);
void		 reader_done(struct reader *, const char *, uint64_t,
		    uint64_t);
int		 read_record(struct reader *);

/* segment.c */
int		 reader_source(struct reader *);
int		 read_segment(struct reader *, struct image *);

/* wanted.c */
int		 reader_keep(struct reader *, const char *, struct buf *);

/* trailscan.c */
int		 read_trailer(struct reader *, enum trailer_kind);

/* index.c */
int		 read_index(struct reader *);

/* checked.c */
struct source	*source_checked(struct reader *, struct source *,
		    struct source *);
int		 reader_check(struct reader *, uint64_t, uint64_t);

/* damage.c */
int		 damage_trailer(struct reader *);
bool		 damage_in(const struct damage *, uint64_t, uint64_t,
		    uint64_t *);
void		 damage_free(struct damage *);
void		 salvage_say(const struct reader *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

/* salvage.c */
int		 salvage_segment(struct reader *, struct image *);
int		 salvage_snap(struct reader *, bool);

#endif
