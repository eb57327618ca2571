/*
 * Declarations shared by the parts of the snap(6) reader: numbers, lines and
 * bytes (num.c), records (records.c), segments and their pages (append.c,
 * reference.c, segment.c), trailers (trailscan.c), the index (index.c, run.c,
 * outline.c), damage in a stream (damage.c), and what remains of a damaged one
 * (salvage.c).
 */
#ifndef SNAP6READ_H
#define SNAP6READ_H

#include "trailer.h"

enum {
	HELD_RECORD = 128,	/* bytes of memory counted for a record,
				   without its data */
	HELD_PROC = 384,
	HELD_SEGMENT = 288	/* bytes of memory counted for a segment,
				   including its pieces in the view of its
				   image */
};

struct damage {			/* damaged megabytes of a stream */
	bool		*bad;	/* owned; for each megabyte, whether it is
				   damaged; NULL: no megabyte is damaged */
	uint64_t	 n;
	uint64_t	 first;	/* index of the first damaged megabyte; equal to
				   n if none is damaged */
};

struct fault {			/* position of an error, for its message */
	uint64_t	 at;	/* byte offset in the stream */
	bool		 cut;	/* the stream is truncated at this position */
	char		 last[128]; /* description of the last complete
				       record, or "" */
};

/*
 * State of reading a stream. It is either scanned, which computes its sums, or
 * read with the index in its trailer, which is read first. A scan accepts a
 * trailer only as the last record. With o->salvage, damage is searched for
 * first, and reading continues after an error.
 */
struct reader {
	struct input	*in;	/* borrowed, as are the options */
	const struct readopts *o;
	struct snap	*snap;
	struct source	*src;	/* source of page data; NULL: none yet */
	bool		 spool;	/* "src" is a spool that page data is copied
				   to */
	struct proc	*proc;	/* process of the record being read */
	struct image	*image;	/* image of the record being read */
	struct segment	*seg;	/* segment being read */
	uint64_t	 memend; /* end of the memory described so far by the
				    current mem record; UINT64_MAX: no mem
				    record is being read */
	struct trailer	 trailer; /* trailer of the stream; trailer.bytes is 0
				     if there is none */
	struct sums	*sums;	/* owned; checksums of the scanned bytes */
	struct damage	 damage;
	struct readpart	 run;	/* pages not reported to o->part yet */
	uint64_t	 records; /* number of records read */
	uint64_t	 held;	/* estimated memory in use, in bytes */
	struct fault	 fault;
};

/* num.c: numbers, lines and bytes */
void		 reader_part(const struct reader *, struct readpart);
int		 reader_short(struct reader *, const char *);
uint64_t	 reader_rest(const struct reader *);
bool		 reader_copies(const struct reader *);
bool		 reader_seeks(const struct reader *);
int		 read_num(struct reader *, const char *, uint64_t *);
int		 read_line(struct reader *, const char *, size_t, char,
		    char [SNAP6_LINE]);
int		 read_bytes(struct reader *, struct buf *, uint64_t);
int		 reader_hold(struct reader *, uint64_t);

/* records.c: records and their headers */
int		 read_head(struct reader *, uint64_t *, char [SNAP6_LINE]);
int		 read_data(struct reader *, const char *);
int		 reader_proc(struct reader *, uint64_t);
struct image	*reader_image(struct reader *, enum image_kind);
void		 reader_done(struct reader *, const char *, uint64_t,
		    uint64_t);
int		 read_record(struct reader *);

/* append.c: pages of the segment that is read */
int		 reader_source(struct reader *);
void		 reader_run(struct reader *, struct readpart);
void		 reader_runend(struct reader *, uint64_t);
int		 reader_copy(struct reader *, const uint8_t *, size_t,
		    struct source **, uint64_t *);
int		 reader_pages(struct reader *, uint64_t, struct source *,
		    uint64_t);

/* reference.c: references to pages */
int		 read_refer(struct reader *, char);

/* segment.c: segments and their pages */
int		 read_segment(struct reader *, struct image *);

/* wanted.c: which files are kept */
int		 reader_keep(struct reader *, const char *, struct buf *);

/* trailscan.c: a trailer met by a scan */
int		 read_trailer(struct reader *, enum trailer_kind);

/* index.c: read a stream with its index */
int		 read_index(struct reader *);

/* checked.c: pages whose megabyte is checked before use */
struct source	*source_checked(struct reader *, struct source *,
		    struct source *);
int		 reader_check(struct reader *, uint64_t, uint64_t);

/* damage.c: find damaged megabytes */
int		 damage_trailer(struct reader *);
bool		 damage_in(const struct damage *, uint64_t, uint64_t,
		    uint64_t *);
void		 damage_free(struct damage *);
const char	*pid_text(uint64_t pid);
void		 salvage_say(const struct reader *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

/* salvage.c: keep what is not damaged */
int		 salvage_segment(struct reader *, struct image *);
int		 salvage_snap(struct reader *, bool);

#endif
