/*
 * Stopping threads, and what ptrace(2) tells of them.
 */
#ifndef STOP_H
#define STOP_H

#include "linux/set/set.h"

/* pipeline.c: who reads what we write */
bool		 pipeline_reads(struct live *, pid_t);
void		 pipeline_free(struct live *);

/* seize.c: one thread */
void		 thread_look(struct lproc *, struct lthread *);
int		 thread_judge(const struct lproc *, struct lthread *);
int		 thread_seize(struct lproc *, struct lthread *);
void		 thread_stop(struct lthread *);
void		 thread_poll(struct lthread *);
int		 thread_ptrace(int, pid_t, uintptr_t);
bool		 thread_haschild(pid_t, pid_t, pid_t);

/* threads.c: those of one process */
struct lthread	*threads_add(struct lproc *, pid_t);
int		 threads_list(struct lproc *, bool);
int		 threads_seize(struct lproc *);
void		 threads_await(struct lproc *);
void		 threads_release(struct lproc *);

/* regs.c: what ptrace(2) gives of a stopped thread */
struct rseqconf {		/* PTRACE_GET_RSEQ_CONFIGURATION */
	uint64_t	 area;	/* struct rseq in the process; 0: none */
	uint32_t	 len;
	uint32_t	 signature;
	uint32_t	 flags;
	uint32_t	 pad;
};

void		 regs_read(struct lthread *);
void		 regs_restart(pid_t);
void		 regs_abort(pid_t);

/* sharers.c: who else has the memory of a process */
int		 sharers_tell(struct live *);

#endif
