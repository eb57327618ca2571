/*
 * Functions that make and change the model (library.h): images from runs of
 * pages, sources of bytes, processes and embedded files.
 */
#ifndef MODEL_H
#define MODEL_H

#include "library.h"

/*
 * Place from which the bytes of pages are read: a file, a spool, a stopped
 * process.
 */
struct source {
	const struct source_ops	*ops;
	char			*name;	/* owned; name for messages */
	uint32_t		 pitch;	/* distance from one kilobyte to the
					   next, in bytes */
	uint32_t		 id;	/* number of the source in the snapshot,
					   from 1 */
	struct source		*next;	/* owned by the list in struct snap */
	const struct image	*image;	/* borrowed; image that the locations
					   are addresses in, or NULL */
};

struct extent {			/* run of kilobytes in a segment */
	uint64_t	 kb;	/* index of the first kilobyte in the segment */
	uint64_t	 n;
	struct source	*src;	/* borrowed; NULL: the run is all zero */
	uint64_t	 loc;	/* location of the first kilobyte in "src" */
};

/*
 * Makes the extents of segments on demand: a large file has millions of
 * extents, and a reader of a stack needs a few. Several segments share one;
 * the last of them that is freed frees it.
 */
struct outline {
	const struct outline_ops *ops;
	size_t		 users;
};

struct segment {		/* hole-free range of an image */
	uint64_t	 base;	/* address of the first byte */
	uint64_t	 len; /* length in bytes; base + len is at most 2^64 */
	struct extent	*ext;	/* owned; extents of kilobytes 0 to kb - 1, in
				   ascending order */
	size_t		 next;
	size_t		 cap;
	uint64_t	 kb;	/* number of kilobytes described so far */
	struct outline	*outline; /* makes the extents on demand (ext is
				     unused), or NULL */
	size_t		 nth;	/* index of this segment in the outline */
	struct image	*image;	/* borrowed; image that contains the segment */
	uint64_t	 section; /* number of the image's section; see
				     image_section() */
	bool		 hidden; /* another segment covers part of this one */
};

struct span {			/* properties of a range that begins at an
				   address */
	uint64_t	 last;	/* last address of the range */
	bool		 mapped;
	bool		 data;	/* false if the range is unmapped, or at least
				   HOLE_KB kilobytes of zeros */
	bool		 zero; /* true if the range is unmapped or all zero,
				  even if it is short */
};

/*
 * A run is n kilobytes that lie one after another in a source: the first at
 * loc, each next one the source's pitch further. Adjacent addresses in an
 * image form a span (above), in page tables a pagerun (linux/pages/pages.h).
 */
struct run {
	uint64_t	 loc;	/* location in the source: a byte offset or
				   an address */
	uint64_t	 n;	/* number of kilobytes */
};

/*
 * Shortest run of zero kilobytes that is worth skipping as a hole of a file.
 */
enum { HOLE_KB = 64 };

struct zeros {			/* run of at least HOLE_KB all-zero kilobytes in
				   a segment */
	uint64_t	 kb;	/* first kilobyte, counted from the segment's
				   base */
	uint64_t	 end;	/* exclusive */
};

/*
 * Several threads may call extent at once. An extent that was returned stays
 * valid as long as its segment.
 */
struct outline_ops {
	const struct extent *(*extent)(struct outline *,
		    const struct segment *, uint64_t);
				/* return the extent that contains a
				   kilobyte, which must be described; or NULL
				   with errstr set */
	bool	(*hole)(const struct outline *, const struct segment *,
		    uint64_t, struct zeros *);
				/* as segment_zeros() does without limit */
	void	(*free)(struct outline *);
};

struct source_ops {
	int	(*read)(struct source *, const struct run *, uint8_t *);
	int	(*identify)(struct source *, uint64_t, size_t, uint64_t *);
	void	(*free)(struct source *);
	int	(*many)(struct source *, const struct run *, size_t, uint8_t *);
				/* read several runs at once, used in place
				   of read; or NULL */
};

/*
 * Receives the pages of a stream that is read once, from start to end (store of
 * struct readopts). put gets len bytes, KB or fewer at the end of a segment,
 * that lie at address addr of an image. It returns 1 if it stored them, with
 * *src and *loc set to their place; 0 to have them spooled; or -1 with errstr
 * set.
 *
 * stays is NULL unless put writes pages of one early copy over those of
 * another. It is called for kilobytes that are not raw in the stream: *n
 * kilobytes from address addr on, whose bytes are at loc in src, or are zeros
 * if src is NULL. It returns 1 if they can stay there. It returns 0 if they
 * must be passed to put; it has then written its buffers, so that src can be
 * read. It returns -1 with errstr set on failure. It lowers *n to the number of
 * kilobytes for which the answer is the same.
 */
struct pagestore {
	int	(*put)(struct pagestore *st, const struct image *im,
		    uint64_t addr, const uint8_t *page, size_t len,
		    struct source **src, uint64_t *loc);
	int	(*stays)(struct pagestore *st, const struct image *im,
		    uint64_t addr, uint64_t *n, const struct source *src,
		    uint64_t loc);
	struct snap	*snap;	/* borrowed; the snapshot being read */
};

struct builder {
	struct image	*image;	/* borrowed */
	struct segment **seg;	/* owned until builder_finish() */
	size_t		 nseg;
};

struct filelist {		/* list of named files for a Linux record */
	struct file	*file;	/* owned */
	size_t		 n;
	bool		 failed;
	char		 lost[32]; /* name of the first file that could not
				      be read */
	int		 why;	/* errno for the file named in "lost"; 0: none
				   was lost */
};

enum { IDENTITY_KB = 4 }; /* number of kilobytes that one identity covers */

/*
 * Limit of pids on Linux: include/linux/threads.h. Embedded files have numbers
 * above it.
 */
enum { PID_MAX_LIMIT = 4 * 1024 * 1024 };

enum {
	SOURCE_OK = 0,
	SOURCE_LOST = 1		/* some bytes cannot be read; errstr says why */
};

/* buf.c */
uint8_t		*buf_room(struct buf *b, size_t n);
void		 buf_trim(struct buf *b);

/* builder.c */
int		 builder_run(struct builder *b, uint64_t addr, uint64_t n,
		    struct source *src, uint64_t loc);
int		 builder_finish(struct builder *b);

/* embedded.c */
struct proc	*embedded_new(struct snap *s, const struct vma *v);
struct proc	*embedded_add(struct snap *s, const struct vma *v,
		    struct source *src, uint64_t size);
struct proc	*embedded_addmem(struct snap *s, const struct vma *v,
		    struct source *src, uint64_t size);
int		 embedded_set(struct proc *p, uint64_t dev, uint64_t ino,
		    const char *path);

/* filelist.c */
void		 filelist_add(struct filelist *l, const char *name,
		    uint8_t *data, size_t len);
void		 filelist_buf(struct filelist *l, const char *name,
		    struct buf *b);
void		 filelist_copy(struct filelist *l, const char *name,
		    const void *data, size_t n);
struct file	*filelist_find(const struct filelist *l, const char *name);
void		 filelist_free(struct filelist *l);
void		 filelist_join(struct filelist *l, struct filelist *from);
void		 filelist_nums(struct filelist *l, const char *name,
		    const uint64_t *v, size_t n);
void		 filelist_text(struct filelist *l, const char *name,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* image.c */
struct image	*image_new(struct proc *p, enum image_kind kind);
struct image	*image_whole(struct proc *p, struct source *src,
		    uint64_t size);
void		 image_free(struct image *im);
void		 image_section(struct image *im);
int		 image_insert(struct image *im, struct segment *s);
int		 image_miss(struct image *im, uint64_t start, uint64_t end,
		    const char *reason);
void		 image_sortmissing(struct image *im);
const struct missing *image_missing(const struct image *im, uint64_t addr);
int		 image_punch(struct image *im, uint64_t start, uint64_t end);
uint64_t	 image_origin(const struct image *im);
struct segment	*segment_new(uint64_t base, uint64_t len);
void		 segment_free(struct segment *s);
int		 segment_append(struct segment *s, uint64_t n,
		    struct source *src, uint64_t loc);
const struct extent *segment_extent(const struct segment *s, uint64_t kb);
bool		 segment_zeros(const struct segment *s, uint64_t kb,
		    uint64_t limit, struct zeros *h);
int		 segment_describe(const struct segment *s);
void		 segment_take(struct segment *s, struct segment *from);
uint64_t	 segment_kb(const struct segment *s);
size_t		 segment_kblen(const struct segment *s, uint64_t kb);
uint64_t	 segment_end(const struct segment *s, uint64_t kb, uint64_t n);

/*
 * Return the exclusive end of the len bytes at address start.  2^64, which does
 * not fit, becomes UINT64_MAX, which then stands for everything up to the last
 * byte.
 */
static inline uint64_t
memory_end(uint64_t start, uint64_t len)
{
	return start + len - 1 == UINT64_MAX ? UINT64_MAX : start + len;
}

/* imageread.c */
ssize_t		 image_readsome(struct image *im, uint64_t addr, void *buf,
		    size_t len);
void		 image_span(struct image *im, uint64_t addr, struct span *sp);
void		 image_holes(struct image *im, uint64_t addr, uint64_t last,
		    struct span *sp);

/* mapped.c: file data from malloc(3) or mapped */
uint8_t		*data_map(int fd, size_t len);
void		 data_free(uint8_t *data);
void		 data_forget(const uint8_t *data, size_t upto);

/* snap.c */
bool		 proc_isearly(const struct proc *p);
bool		 proc_ismark(const struct proc *p);
bool		 proc_isempty(const struct proc *p);
uint64_t	 image_kb(const struct image *im);
uint64_t	 snap_kb(const struct snap *s);
struct proc	*snap_add(struct snap *s, uint64_t pid);
void		 snap_drop(struct snap *s);
int		 snap_move(struct snap *a, struct snap *b, const bool *keep);
int		 snap_split(struct snap *s, struct snap *const *v, size_t n);
int		 snap_index(struct snap *s);
int		 proc_setfile(struct proc *p, const char *name, uint8_t *data,
		    size_t len);
void		 proc_dropfile(struct proc *p, const char *name);
int		 embedded_cmp(const struct embedded *a,
		    const struct embedded *b);
int		 embedded_order(const struct embedded *a,
		    const struct embedded *b);
void		 embedded_free(struct embedded *c);

/* redact.c */
int		 image_leave(struct image *im, struct missing *r, size_t n);
int		 image_rewrite(struct snap *s, struct image *im,
		    uint64_t start, size_t len, void (*edit)(void *, uint64_t,
		    uint8_t *, size_t), void *arg);

/* source.c */
void		*source_new(struct snap *s, size_t size,
		    const struct source_ops *ops, const char *name,
		    uint32_t pitch);
void		 source_add(struct snap *s, struct source *src);
void		 source_drop(struct snap *s);
void		 source_move(struct snap *a, struct snap *b);
struct source	*source_file(struct snap *s, int fd, const char *name,
		    uint32_t pitch);
int		 source_fd(const struct source *src);
void		 source_resize(struct source *src, uint64_t size);
uint64_t	 source_size(const struct source *src);
bool		 source_data(const struct source *src, uint64_t off,
		    uint64_t *start, uint64_t *end);
int		 source_read(struct source *src, const struct run *r, size_t n,
		    uint8_t *buf);
int		 source_runs(struct source *src, const struct run *r, size_t n,
		    uint8_t *buf);
struct source	*source_nothing(struct snap *s);

/* text.c */
bool		 text_isname(const char *s, size_t n);
bool		 text_isharmful(const char *s);
char		*text_clean(char *s, char fill);
char		*text_unescape(char *s);
const char	*signal_name(uint64_t sig);

/* view.c */
struct piece	*image_find(struct image *im, uint64_t addr);
struct piece	*image_next(struct image *im, uint64_t addr);
struct piece	*image_last(struct image *im);
void		 view_free(struct view *v);
int		 view_insert(struct image *im, struct segment *s);
int		 view_cut(struct view *v, uint64_t first, uint64_t last);

/* errstr.c */
typedef void	 (*warn_fn)(void *arg, const char *sentence);

void		 warn_vtell(warn_fn warn, void *arg, const char *fmt,
		    va_list ap) __attribute__((format(printf, 3, 0)));
void		 warn_tell(warn_fn warn, void *arg, const char *fmt, ...)
		    __attribute__((format(printf, 3, 4)));

#endif
