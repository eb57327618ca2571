/*
 * The writer of snap(6) streams: write.c, and series.c for those with several
 * moments.
 */
#ifndef SNAP6WRITER_H
#define SNAP6WRITER_H

#include "dedup/dedup.h"
#include "trailer.h"

struct rawpages {		/* consecutive raw pages in the output */
	const struct segment *seg;	/* borrowed */
	uint64_t	 kb;	/* index in the segment of the first page */
	uint64_t	 n;
	uint64_t	 pos;	/* offset of the first page's tag */
};

struct snap6 {
	struct output	*out;		/* borrowed */
	const char	*header;	/* borrowed; NULL: the header was
					   already written */
	struct dedup	*dedup;		/* owned */
	struct sums	*sums; /* owned; checksums of all bytes written */
	struct indexer	 index;		/* index of the stream */
	uint64_t	 start; /* offset in the output at which the stream
				   begins */
	bool		 zero;		/* a process with ID 0 was written */
	bool		 feigned; /* the last record ends like a trailer */
	void		(*warn)(void *, const char *);
	void		*arg;		/* first argument of warn() */
	struct progress	*progress;	/* borrowed, or NULL */
	struct proc	*proc;		/* process being written */
	const struct segment *seg; /* segment whose header was written last */
	struct referred	 ref;		/* image of the last reference, and how
					   references to it begin */
	bool		 lost; /* data of proc was lost after its proc record
				  was written */
	char		 why[256];
	uint64_t	 nlost;		/* number of lost kilobytes of proc */
	struct snap	*own;	/* owned; has the source "file" and the marks;
				   NULL: not a series */
	struct source	*file;	/* borrowed; the output, as a source; NULL: no
				   moment was written */
	struct rawpages	*raw;	/* owned; raw pages that are not yet read from
				   "file" */
	size_t		 nraw;
};

/* write.c */
int		 snap6_trailer(struct snap6 *w);

#endif
