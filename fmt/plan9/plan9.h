/*
 * A process of Linux as a process of Plan 9.
 */
#ifndef PLAN9_H
#define PLAN9_H

#include "snap.h"

/* regs.c */
int		 plan9_fpregs(struct buf *, const struct task *);

#endif
