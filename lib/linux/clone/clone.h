/*
 * Clones of address spaces, which are read in place of processes that have been
 * released.
 */
#ifndef CLONE_H
#define CLONE_H

#include "linux/set/set.h"

/* clone.c */
bool		 clone_lost(struct lproc *p);
void		 clones_end(struct live *l);
void		 clones_watch(struct live *l);

/* clonepair.c */
bool		 clone_is(pid_t pid);

/* family.c */
void		 family_read(struct live *l);

/* guard.c: process of ours that reaps clones, even if we are killed */
struct guard	*guard_begin(void);
bool		 guard_is(pid_t pid);
pid_t		 guard_pid(const struct guard *g);

/* headroom.c */
uint64_t	 headroom_ours(void);

/* huge.c: huge pages that writes have split */
struct pagerun;

void		 huge_note(struct lproc *p, const struct pagerun *r);

/* gaps.c: memory that a clone does not inherit */
struct gap {			/* a run of pages that the clone lacks */
	uint64_t	 start;
	uint64_t	 end;	/* end address (exclusive) */
	unsigned int	 what;	/* PM_ flags of the pages, or GAP_NOTHING: see
				   linux/pages/pages.h */
	struct source	*src;	/* borrowed; source with a copy of the pages;
				   NULL: they were not copied */
	uint64_t	 loc;	/* offset of the copy in "src" */
};

enum { GAP_NOTHING = 1 << 16 }; /* value of gap.what: the process has no pages
				   in the gap */

const struct gap *gap_find(const struct lproc *p, uint64_t start,
		    uint64_t end);

/* make.c: make clones */
bool		 clones_make(struct live *l, struct snap *s);

#endif
