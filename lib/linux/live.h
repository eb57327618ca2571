/*
 * A set of live processes: add.c fills it, freeze.c and halt.c stop the
 * processes, freeze.c releases them, live.c has the rest.
 */
#ifndef LIVE_H
#define LIVE_H

#include "linux/set/set.h"

/* add.c */
int		 live_add(struct live *l, pid_t pid, bool found);
int		 live_members(struct live *l, bool *grew);

/* freeze.c */
void		 live_release(struct live *l);

/* halt.c: interrupt all threads, and wait until they have stopped */
bool		 live_halt(struct live *l);
size_t		 live_poll(struct live *l);

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
