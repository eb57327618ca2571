/*
 * Exclusions from a snapshot: exclude.c (memory) and environ.c (environment).
 */
#ifndef EXCLUDE_H
#define EXCLUDE_H

#include "record.h"

struct sharedrange {		/* an excluded range of shared memory or of a
				   file */
	struct embedded	 file;	/* its path is in the pool of struct exclude */
	uint64_t	 start;	/* byte offset of the range in the file */
	uint64_t	 end;	/* end of the range, exclusive */
	const char	*reason; /* a static string */
};

struct exclude {
	struct pool	 pool;	/* owned; has all arrays but "leaving" */
	bool		 dontdump;
	char		**env;	/* patterns for names of environment
				   variables */
	size_t		 nenv;
	struct excluderange {
		uint64_t start;
		uint64_t end;	/* end address, exclusive */
	}		*range;
	size_t		 nrange;
	struct sharedrange *shared; /* ranges excluded from the processes seen
				       so far */
	size_t		 nshared;
	struct missing	*leaving; /* owned; ranges to be excluded from the
				     current process */
	size_t		 nleaving;
	struct buf	 asked;	/* lines for the record's file "excluded" */
};

/* environ.c */
int		 environ_exclude(struct exclude *, struct snap *,
		    struct proc *);

#endif
