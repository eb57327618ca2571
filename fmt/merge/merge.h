/*
 * What the parts of merging share: number.c (processes), merge.c (files) and
 * record.c (their Linux records); and those of the contrary: keep.c (processes
 * and files) and common.c (what processes have in common).
 */
#ifndef MERGE_H
#define MERGE_H

#include "model.h"
#include "record/record.h"

struct newpid {
	uint64_t	 old;
	uint64_t	 pid;
};

struct newdev {			/* a file that is to have another device */
	struct carried	 file;	/* as it was; its path is borrowed */
	uint64_t	 to;
};

struct merge {
	struct snap	*a;	/* into which */
	struct snap	*b;	/* comes this */
	struct newpid	*pid;	/* owned; of all of b, and of leaders that are
				   not in it, by old number */
	size_t		 npid;
	bool		*keep;	/* owned; of each of b: not in a already */
	struct newdev	*dev;	/* owned */
	size_t		 ndev;
	uint64_t	 file;	/* added to numbers of open files of b, */
	uint64_t	 part;	/* and to those of its parts */
	uint64_t	 next;	/* number for a process, and */
	uint64_t	 nextfile; /* for a file that is carried along */
	unsigned int	 minor_no; /* of the next device that none has */
	struct header	 header; /* of b; cputype "unknown": not told */
};

struct keeping {
	struct snap	*s;	/* borrowed; the other members are owned */
	size_t		 n;	/* processes, threads and files of s: of each */
	bool		*keep;
	uint64_t	*part;	/* of s, that it is in */
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
bool		 recfile_open(const struct recfile *, struct carried *);
void		 merge_sort(struct merge *);
const char	*line_number(const char *s, size_t n, size_t word,
		    uint64_t *num, size_t *len);
bool		 line_refers(const char *s, size_t n, uint64_t *id);
bool		 recfile_part(const struct recfile *, uint64_t *);
int		 merge_edit(void *, const struct recfile *, char *,
		    struct buf *);
int		 carried_edit(void *, const struct recfile *, char *,
		    struct buf *);

#endif
