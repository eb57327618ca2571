/*
 * A set of live processes: add.c tells which they are, freeze.c stops them and
 * lets them go, live.c is for the rest.
 */
#ifndef LIVE_H
#define LIVE_H

#include "linux/set/set.h"

/* add.c */
int		 live_found(struct live *l, pid_t pid);
int		 live_members(struct live *l, bool *grew);

/* freeze.c */
void		 live_release(struct live *l);

/* live.c: before others, while some are stopped */
void		 live_hurry(struct live *l);
void		 live_unhurry(struct live *l);

/* settle.c: who is taken of those that are stopped */
void		 live_settle(struct live *l);

/* tell.c */
void		 live_tellheld(struct live *l);

#endif
