/*
 * Shared by the files that write a directory of CRIU images. Each calls only
 * files above it:
 *
 *	out.c		the directory
 *	object.c	filling of pages images
 *	early.c		early copies of memory
 *	replay.c	images that came with the snapshot
 *	ghost.c		deleted files
 *	place.c		writing of pages at their offsets
 *	raw.c		memory that is not compressed
 *	pack.c		compressed pages images
 *	stack.c		pages images on top of a parent's
 *	write.c		all images of a directory
 *	view.c, viewread.c	images made as they are read
 */
#ifndef CRIUWRITE_H
#define CRIUWRITE_H

#include "criu/make/make.h"

#define INVENTORY "inventory.img"

enum { WRITEBUF = 256 * 1024 };	/* maximum number of bytes written at a time */

struct object {			/* pages of a process or of shared memory */
	RB_ENTRY(object) entry;	/* node in the tree of objects, sorted by
				   process ID */
	struct proc	*proc;	/* borrowed; its member mem has the pages */
	char		*name;	/* owned; name of the object's pagemap image */
	struct pagemap	*map;	/* owned; the original pagemap */
	uint64_t	 bytes;	/* size of all present pages in bytes */
	uint32_t	 id;	/* N of the object's pages-N.img */
	struct source	*src;	/* borrowed; file that holds the pages */
	int		 fd;	/* borrowed from src; descriptor of the file
				   with the pages */
	size_t		 hint;	/* index of the pagemap entry found last */
	uint64_t	 done;	/* pages below this address have been written */
	/* only for an early object */
	const struct proc *reads; /* borrowed; the copy that is being read */
	const struct proc *was;	/* borrowed; the copy read before that one */
	uint64_t	 length; /* size of the file that can be read */
};

RB_HEAD(objecttree, object);

struct raw {			/* addresses whose pages are not compressed */
	char		 name[64]; /* name of the pagemap image */
	uint64_t	 start;
	uint64_t	 end;
};

struct criuout {
	struct pagestore store;	/* passed in readopts; must be the first
				   member */
	struct outdir	*out;	/* owned; NULL: not created yet */
	struct behind	*behind; /* owned; writer thread, while pages are put
				    in place */
	const char	*dir;	/* borrowed; path of the output directory */
	const struct criuopts *opts; /* borrowed */
	struct criustat	*stat;	/* borrowed from the caller of criu_write() */
	struct imgdir	*below;	/* owned; the parent directory, once opened */
	struct outdir	*sub;	/* owned; subdirectory for early copies; NULL:
				   none came */
	struct object	**early; /* owned; the first copy of each process */
	size_t		 nearly;
	struct object	*lastearly; /* borrowed; the one that was asked for
					last, or NULL */
	struct object	**object; /* owned */
	size_t		 nobject;
	struct objecttree byproc; /* the elements of array "object", sorted by
				     process */
	struct object	*last;	/* borrowed; the object written last */
	const struct proc *nothing; /* borrowed; process most recently found
				       to have no stored pages */
	struct raw	*raw;	/* owned */
	size_t		 nraw;
	uint8_t		*buf;	/* owned; nbuf bytes to write at offset bufat
				   of the object "full"; NULL: not allocated */
	size_t		 nbuf;
	uint64_t	 bufat;
	struct object	*full;	/* borrowed */
	uint8_t		*copy;	/* owned; bytes of the run that was read last
				   from "copysrc" */
	struct source	*copysrc; /* borrowed; source of the bytes in "copy";
				     NULL: none */
	struct run	 copied;
};

/* out.c */
int		 criuout_parent(struct criuout *out);
struct outdir	*criuout_dir(struct criuout *out);
bool		 criuout_twice(const struct criuout *out);
int		 criuout_put(struct outdir *d, const char *name,
		    struct buf *b);

/* object.c */
struct object	*object_find(struct criuout *out, struct proc *p);
struct object	*object_new(struct criuout *out, struct proc *p,
		    const struct recfile *f);
const struct pages *object_entry(struct object *o, uint64_t addr);
int		 object_extent(struct image *im, uint64_t addr,
		    const struct extent **e, uint64_t *skip, uint64_t *n);
int		 object_write(struct criuout *out, struct object *o,
		    uint64_t off, const uint8_t *data, size_t len);
int		 object_flush(struct criuout *out);
void		 object_free(struct object *o);

/* replay.c */
int		 replay_can(struct snap *s, uint64_t root);
bool		 replay_pagemap(const struct linuxrec *r, struct recfile *f);
int		 criu_images(struct snap *s, const struct criuopts *o,
		    struct mades *l);

/* ghost.c */
typedef int	(*ghost_fn)(void *arg, const uint8_t *head, size_t n,
		    uint64_t addr, uint64_t len);

struct image	*ghost_body(const struct made *im);
int		 ghost_each(const struct made *im, ghost_fn fn, void *arg);

/* place.c */
int		 place_pages(struct criuout *out, const struct mades *l);

/* early.c */
int		 early_put(struct criuout *out, const struct image *im,
		    uint64_t addr, const uint8_t *data, size_t len,
		    struct source **src, uint64_t *loc);
int		 early_stays(struct pagestore *st, const struct image *im,
		    uint64_t addr, uint64_t *n, const struct source *src,
		    uint64_t loc);
int		 early_ready(struct criuout *out);
int		 early_split(struct criuout *out, struct object *o);
int		 early_end(struct criuout *out, const struct mades *l);

/* raw.c */
int		 raw_find(struct criuout *out, const struct mades *l);
bool		 raw_at(const struct criuout *out, const char *name,
		    uint64_t addr, uint64_t *len);

/* pack.c */
enum { PACK_BLOCK = 256 * 1024 }; /* size of a block, as criu's default */

struct packer {			/* a compressed pages image being written */
	int		 fd;	/* borrowed; descriptor of the image */
	const char	*name;	/* borrowed; name of the image */
	uint64_t	 page;	/* page size in bytes */
	uint64_t	 size;	/* size of the image in bytes */
	/* the entry of the pagemap that is being written */
	uint32_t	*v;	/* owned; sizes of its blocks in the image */
	size_t		 n;
	uint64_t	 payload; /* sum of all sizes */
	bool		 aligned; /* the payload begins with raw pages, at a
				     multiple of the page size */
	bool		 packed; /* a block is not raw */
	size_t		 len;	/* number of bytes in raw */
	uint8_t		 raw[PACK_BLOCK]; /* pages of the next block */
	uint8_t		 lz4[PACK_BLOCK];
};

int		 pack_add(struct packer *k, const uint8_t *p, uint64_t len,
		    bool raw);
int		 pack_entry(struct packer *k, struct buf *img,
		    const struct pages *p);

/* stack.c */
int		 stack_object(struct criuout *out, struct object *o);

/*
 * view.c and viewread.c: images that are made as they are read
 *
 *	pages-1.img		0       8192          12288
 *	                        [ 10000 ][ 40000      ]     addresses
 *	ghost-file-1.img	[head][chunk][ 0     ][chunk][ 90000 ]
 *
 * An image is a sequence of parts; each is bytes in memory, or a range of
 * addresses in an image of the snapshot.
 */
struct viewpart {
	uint64_t	 off;	/* offset of the part in the file */
	uint64_t	 len;	/* length of the part in bytes */
	const uint8_t	*bytes;	/* borrowed; NULL: the part is at address "addr"
				   in the image */
	uint64_t	 addr;
};

struct viewed { /* an image whose bytes are generated when they are read */
	char		*name;	/* "pool" owns name and part */
	struct pool	*pool;	/* borrowed from struct criuview */
	struct image	*image;	/* borrowed; the snapshot's image that parts
				   without bytes refer to, or NULL */
	struct viewpart	*part;	/* in order, without gaps */
	size_t		 npart;
	uint64_t	 size;	/* total size of the parts in bytes */
};

struct criuview {
	struct mades	 l;	/* owned */
	struct pool	 pool;	/* owned; the images, and bytes of parts that
				   "l" lacks */
	struct viewed	**v;	/* in "pool"; sorted by name */
	size_t		 n;
};

struct criuview	*criuview_new(struct snap *s, const struct criuopts *o);
bool		 criuview_find(const struct criuview *v, const char *name,
		    size_t *i);
int		 criuview_add(struct criuview *v, const char *name,
		    struct buf *b);
ssize_t		 criuview_read(const struct criuview *v, size_t i, void *buf,
		    size_t len, uint64_t off);
int64_t		 criuview_seek(const struct criuview *v, size_t i, uint64_t off,
		    bool data);
int		 criuview_made(struct criuview *v, const struct made *im);
void		 criuview_free(struct criuview *v);

#endif
