/*
 * The Linux record: what those use of it who are not of this room.
 */
#ifndef RECORD_H
#define RECORD_H

#include "snap.h"

/* apply.c */
int		 linuxrec_apply(struct proc *);

/* archive.c */
void		 linuxrec_get(const struct linuxrec *, size_t,
		    struct recfile *);
int		 path_cmp(const char *, size_t, const char *, size_t);
int		 linuxrec_update(struct proc *);

/* state.c */
struct taskstate;
const struct taskstate *state_get(struct proc *p);
int		 state_give(struct proc *p, const struct taskstate *st);

#endif
