/*
 * What threads are stopped with: what the files of this room share.
 */
#ifndef STOPPING_H
#define STOPPING_H

#include "stop.h"

/* dumped.c: those of a process that dumps core */
int		 threads_dumped(struct lproc *p);

/* regs.c: what ptrace(2) gives of a stopped thread */
void		 regs_settle(struct lthread *t, bool restart);

/* rseq.c */
bool		 regs_abort(pid_t tid);

/* seize.c */
int		 thread_ptrace(int request, pid_t tid, uintptr_t data);

#endif
