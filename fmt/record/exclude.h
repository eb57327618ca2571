/*
 * What is left out of a snapshot: exclude.c (memory) and environ.c.
 */
#ifndef EXCLUDE_H
#define EXCLUDE_H

#include "record.h"

struct sharedrange {		/* of memory that processes share */
	struct carried	 file;	/* owns its path */
	uint64_t	 start;	/* offsets */
	uint64_t	 end;	/* exclusive */
	const char	*reason; /* static */
};

struct exclude {
	bool		 dontdump;
	char		**env;	/* owned; patterns */
	size_t		 nenv;
	struct excluderange {
		uint64_t start;
		uint64_t end;	/* exclusive */
	}		*range;	/* owned */
	size_t		 nrange;
	struct sharedrange *shared; /* owned; of processes so far */
	size_t		 nshared;
	struct missing	*leaving; /* owned; of the process at hand */
	size_t		 nleaving;
	struct buf	 asked;	/* lines of the file excluded */
};

/* environ.c */
int		 environ_exclude(struct exclude *, struct snap *,
		    struct proc *);

#endif
