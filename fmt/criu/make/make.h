/*
 * CRIU images made of the Linux records of processes that snap(1) took: make.c
 *
 * They are made in memory, all of a directory, before one is written.  Pages,
 * and the bytes of deleted files, stay where they are: an image tells whose
 * they are.
 */
#ifndef CRIUMAKE_H
#define CRIUMAKE_H

#include "criu/img/img.h"

struct made {			/* an image to be written */
	char		*name;	/* owned */
	struct buf	 b;	/* owned, unless it is */
	bool		 lent;	/* by the snapshot, with which it came */
	struct proc	*pages;	/* borrowed; whose pagemap it is; or NULL */
	struct proc	*body;	/* borrowed; a file that is carried along, what
				   of which is no hole comes behind b; or
				   NULL */
	uint64_t	 bodylen; /* of that, holes and all */
};

struct mades {			/* all of a directory */
	struct made	**v;	/* owned */
	size_t		 n;
};

bool		 criumake_can(struct snap *s);
int		 criumake(struct snap *s, const struct criuopts *o,
		    struct mades *out);
int		 criumake_roots(struct snap *s, uint64_t **pid, size_t *n);
void		 mades_free(struct mades *out);

#endif
