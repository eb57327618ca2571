/*
 * Convert a process of Linux to the files of Plan 9, and its registers back.
 */
#ifndef PLAN9_H
#define PLAN9_H

#include "machine.h"
#include "library.h"

/* regs.c */
int		 plan9_fpregs(struct buf *b, const char *cputype,
		    const struct task *t);
void		 ureg_linux(const struct machine *m, const uint8_t *ureg,
		    uint8_t *gp);

#endif
