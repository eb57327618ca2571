/*
 * What the files that inject system calls share: inject.c (the process, and
 * its memory for us), enter.c (into a thread, and out), code.c (the
 * instructions), repeat.c (the call that the thread was in), run.c (one call),
 * step.c (up to the edge of one), wait.c (for what it does), scratch.c (what it
 * takes and gives), clone.c (a clone), dead.c (where the way back is),
 * sigstop.c (what it would take of signals).  Registers, instructions and the
 * way back are what the machine supplies: linux/machine/machine.h.
 */
#ifndef INJECTRUN_H
#define INJECTRUN_H

#include "inject.h"
#include "linux/machine/machine.h"
#include "linux/set/set.h"

#include <signal.h>

#define SIG_BIT(sig)	(UINT64_C(1) << ((sig) - 1))	/* in a mask */
#define SIG_FAULTS	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | \
			    SIG_BIT(SIGILL) | SIG_BIT(SIGFPE) | \
			    SIG_BIT(SIGTRAP) | SIG_BIT(SIGSYS))

/* why nothing can be run in a thread, which two see: enter.c and step.c */
#define INJECT_DISPATCHED	"it hands its system calls to itself " \
    "(PR_SET_SYSCALL_USER_DISPATCH)"

struct inject {
	pid_t		 pid;
	const struct lthread *leader;	/* borrowed */
	pid_t		 tid;		/* the thread that runs calls */
	int		 mem;		/* owned; /proc/PID/mem, to read */
	struct gadgets	 gadget;
	uint64_t	 hole;		/* where that can be; 0: nowhere */
	uint64_t	 map;		/* our memory in it; 0: none */
	struct stacks	 stack;
	uint64_t	 dead;		/* where the leader's stack is dead */
	size_t		 len;		/* bytes of a frame there */
	uint8_t		*was;		/* owned; what was there */
	uint8_t		*buf;		/* owned; room for a frame */
	bool		 ready;		/* it can: what it had is known, and
					   what leads it back is there */
	bool		 entered;	/* the thread is not as it was */
	bool		 going;		/* it runs to the edge of a call, */
	uint64_t	 since;		/* ms, from then on */
	bool		 halting;	/* or, instead, is to stop for good */
	bool		 makes;		/* a clone was made, and it is to leave
					   the call that made it */
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
	struct gregs	 regs;		/* as they were */
	const struct seencall *seen;	/* borrowed; the thread's, before */
	struct again	 again;		/* what it was to repeat */
	struct kept	 kept;		/* owned; what else was, likewise */
	uint64_t	 mask;		/* of its signals, likewise */
	sigset_t	 ours;		/* the mask of our signals */
	bool		 told;		/* a SIGCHLD to us was taken, */
	siginfo_t	 child;		/* this one */
	uint64_t	 until;		/* ms; then no more calls are begun */
};

enum {
	START_MS = 500,		/* to be made to run, or to stop */
	CALL_MS = 60000,	/* for a call: to clone a terabyte is one */
	ALL_MS = 10000		/* for all of a process, to be begun in */
};

/* enter.c */
int		 inject_thread_enter(struct inject *in,
		    const struct lthread *t);
int		 inject_thread_leave(struct inject *in);

/* inject.c */
int		 inject_frame(struct inject *in, bool unmap);

/* scratch.c */
int		 inject_put(pid_t pid, const void *buf, size_t len,
		    uint64_t at);

/* wait.c */
int		 inject_await(struct inject *in, uint64_t until);
int		 inject_gone(struct inject *in);
int		 inject_refused(struct inject *in, const char *what);
void		 inject_retell(struct inject *in);
int		 inject_stuck(struct inject *in);
int		 inject_wait(struct inject *in, pid_t tid, uint64_t ms);

/* step.c */
int		 inject_halt(struct inject *in);
void		 inject_halting(struct inject *in);
int		 inject_leave(struct inject *in);
int		 inject_load(struct inject *in, long nr, const uint64_t arg[6]);
int		 inject_options(struct inject *in, uintptr_t more);
int		 inject_start(struct inject *in, long nr, const uint64_t arg[6],
		    uintptr_t with);
int		 inject_go(struct inject *in, int sig);
int		 inject_step(struct inject *in, int event, uint64_t ms);

/* repeat.c */
int		 repeat_learn(struct inject *in);
int		 repeat_restore(struct inject *in);

/* run.c */
int		 inject_begincall(struct inject *in, long nr,
		    const uint64_t arg[6]);
int		 inject_enter(struct inject *in, long nr, const uint64_t arg[6],
		    uintptr_t with);
int		 inject_result(struct inject *in, int64_t *ret);
int		 inject_trust(const struct inject *in);
int		 inject_may(const struct inject *in);
int		 inject_make(struct inject *in, int64_t *ret, long nr,
		    const uint64_t arg[6]);

/* dead.c: where a stack is dead */
int		 dead_find(struct inject *in, const struct vmas *l);

/* sigstop.c: SIGSTOP that waits in a stopped process */
int		 stops_note(struct inject *in);
void		 stops_send(struct inject *in);

/* code.c */
int		 gadgets_find(struct gadgets *g, pid_t pid, int mem,
		    const struct vmas *l);

#endif
