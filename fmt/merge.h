/*
 * What the parts of merging share: merge.c (processes and files) and
 * mergerec.c (their Linux records).
 */
#ifndef MERGE_H
#define MERGE_H

#include "recedit.h"

struct newpid {
	uint64_t	 old;
	uint64_t	 pid;
};

struct newdev {			/* a file that is to have another device */
	uint64_t	 dev;
	uint64_t	 ino;
	uint64_t	 to;
};

struct merge {
	struct snap	*a;	/* into which */
	struct snap	*b;	/* comes this */
	struct newpid	*pid;	/* owned; of all of b, by old number */
	bool		*keep;	/* owned; of each of b: not in a already */
	struct newdev	*dev;	/* owned */
	size_t		 ndev;
	uint64_t	 file;	/* added to numbers of open files of b */
	uint64_t	 next;	/* number for a process, and */
	uint64_t	 nextfile; /* for a file that is carried along */
	char		 cputype[16]; /* of b */
};

/* merge.c */
uint64_t	 merge_pid(const struct merge *, uint64_t);

/* mergerec.c */
int		 merge_edit(void *, const struct recfile *, char *, size_t,
		    struct buf *);
int		 carried_edit(void *, const struct recfile *, char *, size_t,
		    struct buf *);

#endif
