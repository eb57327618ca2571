/*
 * Taking what is stopped: what a process tells of itself, and then all of it,
 * in a thread of its own.
 */
#ifndef TAKE_H
#define TAKE_H

#include "linux/set/set.h"

/* state.c: what only a process itself can tell */
void		 state_read(struct live *l);
void		 state_finish(struct live *l, bool cloned);

/* seccomp.c */
void		 filters_free(struct live *l);

/* gather.c */
void		 procs_finish(struct live *l);
int		 proc_gather(struct live *l, struct snap *s, struct lproc *p);

/* take.c */
int		 take_begin(struct live *l, struct snap *s, take_fn take,
		    void *arg);
void		 take_finish(struct live *l);

#endif
