/*
 * Clones of address spaces: they are read in place of processes that go on.
 */
#ifndef CLONE_H
#define CLONE_H

#include "linux/set/set.h"

/* clone.c */
bool		 clone_lost(struct lproc *p);
void		 clones_end(struct live *l);
void		 clones_watch(struct live *l);

/* family.c */
void		 family_read(struct live *l);

/* guard.c: the process that reaps clones, whatever becomes of us */
struct guard	*guard_begin(void);
bool		 guard_is(pid_t pid);
pid_t		 guard_pid(const struct guard *g);

/* headroom.c */
void		 headroom_free(struct live *l);
uint64_t	 headroom_ours(void);

/* huge.c: huge pages that writing splits */
struct pagerun;

void		 huge_note(struct lproc *p, const struct pagerun *r);

/* lacks.c: what a clone lacks */
struct gap {			/* a run of pages */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	unsigned int	 what;	/* as pagemap.c tells it */
	struct source	*src;	/* borrowed; NULL: can be had all the same */
	uint64_t	 loc;	/* in src */
};

enum { GAP_NOTHING = 1 << 16 }; /* instead: it has no page there */

const struct gap *gap_find(const struct lproc *p, uint64_t start,
		    uint64_t end);

/* plain.c: files of which nothing is to be kept */
void		 skippables_free(struct live *l);

/* make.c: the making of clones */
bool		 clones_make(struct live *l, struct snap *s);

#endif
