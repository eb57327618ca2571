/*
 * Stop threads and read their registers with ptrace(2); find processes that
 * must not be stopped, and processes that share memory and run on.
 */
#ifndef STOP_H
#define STOP_H

#include "linux/set/set.h"

/*
 * returned by functions that seize: a process is inside execve(2), try again
 * later
 */
enum { SEIZE_WAITS = 2 };

/* attach.c: become the tracer of a thread */
int		 thread_seize(struct lproc *p, struct lthread *t);

/* pipeline.c: processes that read our output */
bool		 pipeline_reads(struct live *l, pid_t pid);

/* regs.c: facts that ptrace(2) gives about a stopped thread */
int		 regs_unpack(struct lthread *t, struct bytes reg[REGSET_MAX]);
void		 regs_general(struct lthread *t, struct filelist *l);
void		 regs_more(const struct lthread *t, struct filelist *l);
void		 regs_record(struct lthread *t,
		    const struct lthread *first);
int		 regs_signal(const struct lthread *t);
void		 regs_forget(struct lthread *t);

/* look.c: look at a thread before it is stopped */
struct seencall	 call_look(pid_t pid, pid_t tid);
int		 exec_refused(pid_t pid);
bool		 thread_executes(const struct lproc *p,
		    const struct lthread *t);
int		 thread_look(struct lproc *p, struct lthread *t);

/* seize.c: interrupt a thread, see whether it has stopped, release it */
int		 thread_judge(const struct lproc *p, struct lthread *t);
void		 thread_poll(struct lproc *p, struct lthread *t);
void		 thread_release(struct lthread *t);
void		 thread_stop(struct lproc *p, struct lthread *t);

/* sharers.c: processes outside the set that share memory with it */
int		 sharers_record(struct live *l);

/* spawning.c: children in vfork(2) */
bool		 spawning_release(struct live *l, const struct lproc *p);

/* threads.c: all threads of one process */
struct lthread	*threads_add(struct lproc *p, pid_t tid);
bool		 threads_asleep(const struct lproc *p);
void		 threads_giveup(struct lproc *p);
int		 threads_list(struct lproc *p, bool look);
bool		 threads_dumping(struct lproc *p);
void		 threads_leaderless(struct lproc *p);
int		 threads_seize(struct lproc *p);
void		 threads_stop(struct lproc *p);
size_t		 threads_poll(struct lproc *p);
void		 threads_await(struct lproc *p);
void		 threads_release(struct lproc *p);

struct rseqconf {		/* result of PTRACE_GET_RSEQ_CONFIGURATION */
	uint64_t	 area;	/* address of struct rseq in the process; 0:
				   none */
	uint32_t	 len;
	uint32_t	 signature;
	uint32_t	 flags;
	uint32_t	 pad;
};

#endif
