/*
 * What the files for compressed streams share: member.c (a member),
 * out.c (writing), in.c (reading in order), file.c, table.c
 * and source.c (reading at random).
 */
#ifndef GZIP_H
#define GZIP_H

#include "snap.h"

#define ZLIB_CONST
#include <zlib.h>

enum {
	GZIP_RAW = 1024 * KB,	/* bytes that a member of ours holds */
	GZIP_HEAD = 24,		/* bytes of its header */
	GZIP_LEAST = 34,	/* bytes of the one that holds none */
	GZIP_MOST = 2048 * KB,	/* of any of them, in a file of ours */
	GZIP_RATIO = 1032,	/* deflate: 258 bytes in two bits */
	/* of one that is made: deflate adds an eighth at the worst */
	GZIP_ROOM = GZIP_RAW + GZIP_RAW / 8 + 32 * KB
};

struct gzhead {			/* what the header of a member tells */
	size_t	 len;		/* of the whole member, compressed */
	size_t	 raw;		/* of what it holds */
};

/* member.c */
bool		 gzip_magic(const uint8_t *, size_t);
int		 gzip_head(const uint8_t *, struct gzhead *);
int		 gzip_packer(z_stream *);
size_t		 gzip_pack(z_stream *, const uint8_t *, size_t, uint8_t *);
int		 gzip_unpack(z_stream *, const uint8_t *,
		    const struct gzhead *, uint8_t *);

/* out.c */
struct gzipout;

struct gzipout	*gzipout_new(int, int (*)(void *, const void *, size_t),
		    void *);
int		 gzipout_put(struct gzipout *, const void *, size_t);
int		 gzipout_end(struct gzipout *);
void		 gzipout_free(struct gzipout *);

/* in.c */
struct gunzip;

struct gunzip	*gunzip_new(int, uint8_t *, size_t, size_t, bool);
void		 gunzip_free(struct gunzip *);
ssize_t		 gunzip_read(struct gunzip *, void *, size_t);
uint64_t	 gunzip_taken(const struct gunzip *);

/* io/budget.c */
uint64_t	 room_real(int, const struct stat *, off_t);

/* table.c */
struct gziptable {
	uint64_t	*at;	/* owned; where members begin, and the end */
	size_t		 n;	/* of members that hold anything */
	uint64_t	 size;	/* of all that they hold */
	size_t		 gap;	/* one that was damaged, where any was */
};

int		 gzip_get(int, void *, size_t, uint64_t);
int		 gzip_read(int, uint64_t, uint64_t, struct gzhead *,
		    uint8_t *);
int		 gziptable_read(struct gziptable *, int, uint64_t, uint64_t);
int		 gziptable_salvage(struct gziptable *, int, uint64_t,
		    uint64_t);
int		 gziptable_widen(struct gziptable *, uint64_t);

/* file.c */
struct gzipfile;

int		 gzipfile_open(struct gzipfile **, int, uint64_t, uint64_t,
		    bool);
void		 gzipfile_free(struct gzipfile *);
uint64_t	 gzipfile_size(const struct gzipfile *);
int		 gzipfile_read(struct gzipfile *, void *, size_t, uint64_t);
int		 gzipfile_widen(struct gzipfile *, uint64_t);
size_t		 gzipfile_guess(struct gzipfile *, void *, size_t);
struct gzipfile	*gzipfile_share(struct gzipfile *);

struct slot;			/* that holds a member for its users */

int		 slots_read(struct gzipfile *, struct slot **, uint8_t *,
		    size_t, uint64_t);
void		 slot_put(struct gzipfile *, struct slot *);

/* source.c */
struct source	*gzipfile_source(struct snap *, struct gzipfile *,
		    const char *, uint32_t);

#endif
