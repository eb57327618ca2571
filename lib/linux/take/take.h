/*
 * Capture stopped processes: first their state, then their memory, in a thread
 * of its own.
 */
#ifndef TAKE_H
#define TAKE_H

#include "linux/set/set.h"

/* state.c: state that injected calls must read */
void		 state_read(struct live *l);
void		 state_finish(struct live *l, bool cloned);

/* gather.c */
void		 procs_finish(struct live *l);
int		 proc_gather(struct live *l, struct snap *s, struct lproc *p);

/* take.c */
int		 take_begin(struct live *l, struct snap *s, take_fn take,
		    void *arg);
void		 take_finish(struct live *l);

#endif
