/*
 * Functions that the files of this room share. Merging two snapshots: number.c
 * (process IDs), merge.c (files) and record.c (Linux records). Keeping some
 * processes of one: keep.c (processes and files) and common.c (shared state).
 */
#ifndef MERGE_H
#define MERGE_H

#include "model.h"
#include "record/record.h"

struct newpid {
	uint64_t	 old;
	uint64_t	 pid;
};

struct newdev {			/* device number of an embedded file of "b" */
	struct embedded	 file;	/* the file with its old device number; the path
				   is borrowed */
	uint64_t	 to;	/* its new device number, or the old one */
};

struct merge {
	struct snap	*a; /* snapshot that receives the processes of "b" */
	struct snap	*b;	/* snapshot that is merged into "a" */
	struct pool	 pool;	/* owned; has the arrays */
	struct newpid	*pid;	/* sorted by old ID; old and new IDs of all
				   processes of "b", and of leaders missing
				   from "b" */
	size_t		 npid;
	bool		*keep;	/* for each process of "b": whether to move it
				   to "a" */
	struct newdev	*dev;
	size_t		 ndev;
	uint64_t	 file;	/* number to add to the open file numbers of
				   "b" */
	uint64_t	 part;	/* number to add to the part numbers of "b" */
	uint64_t	 next;	/* next free process ID */
	uint64_t	 nextfile; /* next free ID of an embedded file */
	unsigned int	 minor_no; /* next free minor number for DEV_MAJOR */
	struct header	 header; /* first line of "b"; cputype is "unknown" if
				    the line has none */
};

struct keeping {
	struct snap	*s;	/* borrowed; the other pointers are owned */
	size_t		 n;	/* number of elements in each array: s->nproc */
	bool		*keep;
	uint64_t	*part;	/* owned; for each process: the part of the
				   snapshot that contains it */
	struct linuxrec	*rec;
};

/* common.c */
int		 common_move(const struct keeping *k);

/* number.c */
uint64_t	 merge_pid(const struct merge *, uint64_t);
int		 merge_number(struct merge *);

/* record.c */
bool		 recfile_number(const struct recfile *, const char *,
		    uint64_t *);
bool		 recfile_open(const struct recfile *, struct embedded *);
const char	*line_number(const char *s, size_t n, size_t word,
		    uint64_t *num, size_t *len);
bool		 line_refers(const char *s, size_t n, uint64_t *id);
int		 merge_edit(void *, const struct recfile *, char *,
		    struct buf *);

#endif
