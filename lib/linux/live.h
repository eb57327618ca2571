/*
 * A set of live processes: add.c fills it, freeze.c stops the processes and
 * releases them, live.c has the rest.
 */
#ifndef LIVE_H
#define LIVE_H

#include "linux/set/set.h"

/* add.c */
int		 live_add(struct live *l, pid_t pid, bool found);
int		 live_members(struct live *l, bool *grew);

/* freeze.c */
void		 live_release(struct live *l);

/* priority.c */
void		 live_boost(struct live *l);
void		 live_unboost(struct live *l);
void		 live_yield(struct live *l);
void		 live_unyield(struct live *l);

/* settle.c: decide which of the stopped processes are taken */
void		 live_settle(struct live *l);

/* tell.c */
void		 live_reportheld(struct live *l);

#endif
