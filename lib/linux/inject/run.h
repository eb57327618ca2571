/*
 * What the files that inject system calls share: inject.c (the process, and
 * its memory for us), alone.c (one thread of it), enter.c (into a thread, and
 * out), code.c (the instructions), run.c (one call), wait.c (for what it does),
 * scratch.c (what it takes and gives), clone.c (a clone), dead.c and frame.c
 * (the way back, and where that is), sigstop.c (what it would take of signals).
 */
#ifndef INJECTRUN_H
#define INJECTRUN_H

#include "inject.h"

#include <sys/uio.h>
#include <sys/user.h>

#include <signal.h>

enum {
	CALL_LEN = 2,		/* bytes of syscall */
	SKIP_MOST = 96
};

#define SIG_BIT(sig)	(UINT64_C(1) << ((sig) - 1))	/* in a mask */
#define SIG_FAULTS	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | \
			    SIG_BIT(SIGILL) | SIG_BIT(SIGFPE) | \
			    SIG_BIT(SIGTRAP) | SIG_BIT(SIGSYS))

struct gadgets {		/* instructions that a process has */
	uint64_t	 call;	/* syscall ... ret */
	size_t		 skip;	/* bytes of the stack it takes before ret */
	uint64_t	 back;	/* what does rt_sigreturn(2) */
	bool		 pops;	/* is pop %rax; ret, else mov and syscall */
};

struct stacks {			/* of a thread, for */
	uint64_t	 call;	/* any call */
	uint64_t	 last;	/* that after which our memory is gone */
};

struct inject {
	pid_t		 pid;
	pid_t		 tid;		/* the thread that runs calls */
	int		 mem;		/* owned; /proc/PID/mem, to read */
	struct gadgets	 gadget;
	uint64_t	 hole;		/* where that can be; 0: nowhere */
	uint64_t	 map;		/* our memory in it; 0: none */
	struct stacks	 stack;
	const struct vmas *alone;	/* borrowed; its mappings, where one
					   thread alone is stopped; or NULL */
	int		 pagemap;	/* owned; then */
	uint64_t	 caught;	/* then, signals that it handles */
	uint64_t	 dead;		/* where the leader's stack is dead,
					   or that of the one thread */
	size_t		 len;		/* bytes of a frame there */
	uint8_t		*was;		/* owned; what was there */
	uint8_t		*buf;		/* owned; room for a frame */
	bool		 ready;		/* it can: what it had is known, and
					   what leads it back is there */
	bool		 entered;	/* the thread is not as it was */
	bool		 gone;		/* the process is */
	bool		 lost;		/* the thread could not be put back: it
					   goes its way back by itself */
	bool		 odd;		/* it did what it was not made to do */
	bool		 stopped;	/* the process was by a signal, when
					   the thread was stopped last */
	struct waiting	*stops;		/* owned; SIGSTOP that it took */
	size_t		 nstops;
	uintptr_t	 options;	/* of ptrace, for the thread */
	uintptr_t	 suspend;	/* that, or 0, in a call of ours */
	struct user_regs_struct regs;	/* as they were */
	uint64_t	 mask;		/* of its signals, likewise */
	sigset_t	 ours;		/* the mask of our signals */
	bool		 told;		/* a SIGCHLD to us was taken, */
	siginfo_t	 child;		/* this one */
	uint64_t	 until;		/* ms; then no more calls are begun */
};

enum {
	FRAME_EXIT = INJECT_LEAST, /* bytes that a clone finds on its stack */
	FRAME_SPARE = 96,	/* bytes that are only taken off the stack */
	START_MS = 500,		/* to be made to run, or to stop */
	CALL_MS = 60000,	/* for a call: to clone a terabyte is one */
	ALL_MS = 10000		/* for all of a process, to be begun in */
};

/* enter.c */
int		 inject_thread_enter(struct inject *in, pid_t tid);
int		 inject_thread_leave(struct inject *in);

/* inject.c */
int		 inject_frame(struct inject *in, bool unmap);
int		 inject_finish(struct inject *in, int rc);

/* scratch.c */
int		 inject_put(pid_t pid, const void *buf, size_t len,
		    uint64_t at);

/* wait.c */
int		 inject_gone(struct inject *in);
int		 inject_refused(struct inject *in, const char *what);
int		 inject_wait(struct inject *in, pid_t tid, uint64_t ms);
int		 inject_step(struct inject *in, int event, uint64_t ms);
int		 inject_halt(struct inject *in);
void		 inject_retell(struct inject *in);

/* run.c */
int		 inject_enter(struct inject *in, long nr, const uint64_t arg[6],
		    uintptr_t with);
int		 inject_leave(struct inject *in);
int		 inject_options(struct inject *in, uintptr_t more);
int		 inject_result(struct inject *in, int64_t *ret);
int		 inject_trust(const struct inject *in);
int		 inject_may(const struct inject *in);
int		 inject_make(struct inject *in, int64_t *ret, long nr,
		    const uint64_t arg[6]);

/* dead.c: where a stack is dead */
int		 dead_find(struct inject *in, const struct vmas *l);
int		 dead_own(struct inject *in);

/* sigstop.c: SIGSTOP that waits in a stopped process */
int		 stops_note(struct inject *in);
void		 stops_send(struct inject *in);

/* code.c */
int		 gadgets_find(struct gadgets *g, pid_t pid, int mem,
		    const struct vmas *l);

/* frame.c: what a thread finds if we die meanwhile */
struct way {
	pid_t		 tid;
	const struct gadgets *gadget;
	const struct user_regs_struct *regs; /* that it gets back */
	uint64_t	 mask;		/* of its signals, likewise */
	struct iovec	 mapped;	/* what it unmaps before; or nothing */
	bool		 bare;		/* nothing to unmap, and no room for it */
};

size_t		 frame_size(void);
int		 frame_build(uint8_t *buf, uint64_t at, const struct way *w,
		    struct stacks *s);
uint64_t	 frame_exit(uint8_t buf[FRAME_EXIT], uint64_t at,
		    const struct way *w);

#endif
