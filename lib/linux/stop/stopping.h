/*
 * Functions that the files of this room share.
 */
#ifndef STOPPING_H
#define STOPPING_H

#include "stop.h"

/* packed.c: register sets without their zero blocks */
void		 filelist_pack(struct filelist *l, const char *name,
		    const uint8_t *data, size_t len);
int		 file_unpack(struct file *f);

/* regs.c: facts that ptrace(2) gives about a stopped thread */
void		 regs_settle(struct lthread *t, bool restart);

/* late.c: threads that did not stop in time */
void		 late_add(pid_t tid);
void		 late_forget(pid_t tid);

/* look.c */
void		 thread_relook(struct lproc *p, struct lthread *t);

/* seize.c */
uintptr_t	 stop_signal(int status);
int		 thread_ptrace(int request, pid_t tid, uintptr_t data);
bool		 thread_haschild(pid_t pid, pid_t tid);

#endif
