/*
 * What the files that write CRIU images share: load.c, which brings
 * pages to their places, write.c, which writes the rest, and criu/make/make.c,
 * which makes images where none came with the snapshot.
 */
#ifndef CRIULOAD_H
#define CRIULOAD_H

#include "criu/img/img.h"
#include "criu/make/make.h"
#include "model.h"

struct object {			/* a process, or shared memory */
	struct proc	*proc;	/* borrowed; its pages are its mem */
	char		*name;	/* owned; of its pagemap image */
	struct pagemap	*map;	/* owned; as it came */
	uint64_t	 bytes;	/* of all pages that are present */
	uint32_t	 id;	/* N of pages-N.img */
	struct source	*src;	/* borrowed; the file of its pages */
	int		 fd;	/* borrowed; of that */
	size_t		 hint;	/* entry that was looked at last */
	uint64_t	 done;	/* addresses below are written */
	uint8_t		*buf;	/* owned; bytes to be written at bufat */
	size_t		 nbuf;
	uint64_t	 bufat;
};

struct criuload {
	struct pagestore store;	/* for the reader; the first member */
	struct outdir	*out;	/* owned; NULL: not made yet */
	const char	*dir;	/* borrowed; its path */
	struct mades	 made;
	const char	*parent; /* borrowed; a directory, or NULL */
	struct imgdir	*below;	/* owned; that, once it was opened */
	struct object	**object; /* owned */
	size_t		 nobject;
	struct object	*last;	/* borrowed; a page was kept for it */
	const struct proc *nothing; /* borrowed; no page was kept for it */
	uint8_t		*copy;	/* owned; a run that was read, from copysrc */
	struct source	*copysrc; /* borrowed; NULL: none */
	struct run	 copied;
	uint32_t	 npages; /* pages images so far */
	const struct criuopts *opts; /* borrowed */
	struct criustat	*stat;	/* borrowed */
};

/* load.c */
int		 criuload_put(struct pagestore *, const struct image *,
		    uint64_t, const uint8_t *, size_t, struct source **,
		    uint64_t *);
int		 criuload_writeat(int, const uint8_t *, size_t, uint64_t);
int		 criuload_fill(struct criuload *);
void		 criuload_free(struct criuload *);

/* stack.c */
int		 object_stack(struct criuload *, struct object *);

/* write.c */
int		 image_put(struct criuload *, const char *, struct buf *);
struct outdir	*criuload_out(struct criuload *);

#endif
