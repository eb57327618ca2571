/*
 * Copies of address spaces, by fork(2) in a process.
 */
#ifndef CLONE_H
#define CLONE_H

#include "linux/set/set.h"
#include "space.h"

/* clone.c: frozen copies of address spaces */
bool		 clones_make(struct live *, struct snap *);
bool		 clone_lost(struct lproc *);
void		 clones_end(struct live *);

/* headroom.c: the memory that cgroups have for clones */
int		 headroom_claim(struct live *, struct lproc *, size_t);
void		 headroom_free(struct live *);

/* guard.c: the process that reaps clones, whatever becomes of us */
struct guard	*guard_begin(void);
int		 guard_tell(struct guard *, pid_t, pid_t);
int		 guard_end(struct guard *);
pid_t		 guard_pid(const struct guard *);
bool		 guard_is(pid_t);

struct lack {			/* a run of pages that a clone lacks */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	unsigned int	 what;	/* as pagemap.c tells it */
	struct source	*src;	/* borrowed; NULL: can be had all the same */
	uint64_t	 loc;	/* in src */
};

/* lacks.c: what a clone lacks */
int		 lacks_keep(struct live *, struct snap *, struct lproc *,
		    const struct vmas *);
const struct lack *lack_find(const struct lproc *, uint64_t, uint64_t);

#endif
