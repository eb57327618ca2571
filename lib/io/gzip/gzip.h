/*
 * Shared declarations for compressed streams: member.c (members), out.c
 * (writing), file.c, table.c, unpack.c and source.c (reading at random).
 */
#ifndef GZIP_H
#define GZIP_H

#include "library.h"

#define ZLIB_CONST
#include <zlib.h>

enum {
	GZIP_RAW = 1024 * KB, /* size of the data in a full member, in bytes */
	GZIP_HEAD = 24,		/* size of a member's header in bytes */
	MIN_GZIP = 34,	/* size of the empty member in bytes */
	GZIP_TABLE = 42,	/* size in bytes of the member with the list,
				   without its lengths (4 bytes each) */
	GZIP_MANY = 16,		/* minimum number of member lengths in a list */
	GZIP_LISTED = 16378,	/* maximum number of member lengths in a list:
				   an extra field has at most 65535 bytes */
	MAX_GZIP = 2048 * KB,	/* maximum size in bytes of a member in one of
				   our files */
	GZIP_RATIO = 1032, /* best compression ratio of deflate */
	/* buffer for one compressed member: deflate adds at most an eighth */
	GZIP_ROOM = GZIP_RAW + GZIP_RAW / 8 + 32 * KB
};

struct gzhead {			/* values from a member's header */
	size_t	 len;		/* size of the compressed member in bytes */
	size_t	 raw;		/* size of the member's contents in bytes */
	size_t	 head;		/* size of the member's header in bytes */
};

/* member.c */
bool		 gzip_magic(const uint8_t *p, size_t n);
int		 gzip_head(const uint8_t *p, struct gzhead *h);
int		 gzip_packer(z_stream *z);
size_t		 gzip_pack(z_stream *z, const uint8_t *raw, size_t n,
		    uint8_t *out);
size_t		 gzip_list(const struct buf *lens, uint8_t *out);
const uint8_t	*gzip_listed(const uint8_t *p, const struct gzhead *h,
		    size_t *n);
int		 gzip_unpack(z_stream *z, const uint8_t *p,
		    const struct gzhead *h, uint8_t *raw);

/* out.c */
struct gzipout;

struct gzipout	*gzipout_new(int threads,
		    int (*write)(void *, const void *, size_t), void *arg);
int		 gzipout_put(struct gzipout *g, const void *data, size_t n);
int		 gzipout_end(struct gzipout *g);
int		 gzipout_mark(struct gzipout *g);
void		 gzipout_rewind(struct gzipout *g);
void		 gzipout_free(struct gzipout *g);

/* table.c */
struct gziptable {
	uint64_t	*at;	/* owned; offsets of the members, and of the end
				   of the last member */
	size_t		 n;	/* number of members that are not empty */
	uint64_t	 size;	/* total size of the members' contents, in
				   bytes */
	size_t		 gap;	/* index of the widest damaged member, if any */
};

int		 gzip_get(int fd, void *buf, size_t n, uint64_t off);
int		 gzip_cut(uint64_t end, const struct gzhead *h);
int		 gzip_read(int fd, uint64_t off, uint64_t len, struct gzhead *h,
		    uint8_t *raw, bool *damaged);
int		 gziptable_read(struct gziptable *t, int fd, uint64_t off,
		    uint64_t end);
int		 gziptable_salvage(struct gziptable *t, int fd, uint64_t off,
		    uint64_t end);
int		 gziptable_widen(struct gziptable *t, uint64_t more);

/* file.c */
struct gzipfile;

int		 gzipfile_open(struct gzipfile **out, int fd, uint64_t start,
		    uint64_t end, bool salvage);
void		 gzipfile_free(struct gzipfile *f);
void		 gzipfile_keep(struct gzipfile *f, size_t mib);
uint64_t	 gzipfile_size(const struct gzipfile *f);
int		 gzipfile_member(const struct gzipfile *f, size_t member,
		    uint8_t *raw, bool *damaged);
int		 gzipfile_widen(struct gzipfile *f, uint64_t bytes);
size_t		 gzipfile_guess(struct gzipfile *f, void *buf, size_t n);
struct gzipfile	*gzipfile_share(struct gzipfile *f);
int		 gzipfile_again(struct gzipfile *f, uint64_t end);

struct slot;			/* cache slot with the contents of a member */

int		 slots_read(struct gzipfile *f, struct slot **held,
		    uint8_t *buf, size_t n, uint64_t pos);
void		 slot_put(struct gzipfile *f, struct slot *s);

/* unpack.c */
int		 gzipfile_read(struct gzipfile *f, void *buf, size_t n,
		    uint64_t pos);

/* source.c */
struct source	*gzipfile_source(struct snap *s, struct gzipfile *f,
		    const char *name, uint32_t pitch);

#endif
