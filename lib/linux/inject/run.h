/*
 * Declarations shared by the files that inject system calls: inject.c (begin
 * and end for a process, and its scratch mapping), enter.c (begin and end for a
 * thread), code.c (find instructions), run.c (one call), step.c (run to the
 * entry or exit of a call), wait.c (wait for the thread), clone.c (make a
 * clone), unusedstack.c (find unused stack for the return frame), sigstop.c
 * (pending SIGSTOP). Registers, instructions and return frames depend on the
 * machine: linux/machine/machine.h.
 */
#ifndef INJECTRUN_H
#define INJECTRUN_H

#include "inject.h"
#include "linux/machine/machine.h"
#include "linux/set/set.h"

#include <signal.h>

/* bit of a signal in a mask */
#define SIG_BIT(sig)	(UINT64_C(1) << ((sig) - 1))
#define SIG_FAULTS	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | \
			    SIG_BIT(SIGILL) | SIG_BIT(SIGFPE) | \
			    SIG_BIT(SIGTRAP) | SIG_BIT(SIGSYS))

/* error message */
#define INJECT_DISPATCHED	"it hands its system calls to itself " \
    "(PR_SET_SYSCALL_USER_DISPATCH)"

struct inject {
	pid_t		 pid;
	const struct lthread *leader;	/* borrowed; main thread */
	pid_t		 tid;		/* thread that runs the calls */
	int		 mem;		/* owned; /proc/PID/mem, for reading */
	struct gadgets	 gadget;
	uint64_t	 hole; /* address of a free range for our mapping; 0:
				  none */
	uint64_t	 map;		/* address of our mapping; 0: none */
	struct stacks	 stack;
	uint64_t	 unused; /* address of the unused stack bytes that we
				    borrow */
	size_t		 len;		/* number of the unused stack bytes that
					   the return frame overwrites */
	uint8_t		*saved; /* owned; original contents of the overwritten
				   stack bytes */
	uint8_t		*buf; /* owned; buffer for building a return frame */
	bool		 ready;		/* the thread's state is saved and
					   its return frame written */
	bool		 entered;	/* registers for a call of ours were
					   loaded into the thread */
	bool		 going;		/* the thread is running to the next
					   system-call entry or exit */
	uint64_t	 since; /* when "going" was set, in ms, as returned by
				   now_ms() */
	bool		 halting;	/* PTRACE_INTERRUPT was sent, but we
					   have not waited for the stop yet */
	bool		 cloned;	/* a clone exists; the thread has yet
					   to leave clone(2) */
	bool		 gone;		/* the process has died */
	bool		 lost;		/* the thread could not be stopped
					   again; it will return by its
					   return frame */
	bool		 unexpected;	/* the thread did something other
					   than our calls */
	bool		 frozen;	/* the thread did not run in time */
	bool		 stopped;	/* the process was in a group-stop at
					   the thread's last stop */
	struct waiting	*stops; /* owned; SIGSTOPs consumed by threads */
	size_t		 nstops;
	uintptr_t	 options;	/* ptrace(2) options of the thread */
	uintptr_t	 suspend;	/* PTRACE_O_SUSPEND_SECCOMP, or 0; added
					   to "options" during our calls */
	bool		 filtered; /* the thread was under seccomp(2) before it
				      was stopped, or that is unknown */
	struct gregs	 regs;		/* original registers */
	const struct seencall *seen;	/* borrowed; the call that the thread
					   was in before it was stopped */
	struct restartinfo restart;	/* how to restart the interrupted
					   call */
	struct extstate	 ext;		/* owned; original extended state */
	uint64_t	 mask;		/* original signal mask */
	sigset_t	 oldmask; /* signal mask of our own thread before
				     inject_begin() */
	bool		 sigchld;	/* a SIGCHLD sent to us was consumed */
	siginfo_t	 child;		/* details of that SIGCHLD */
	uint64_t	 until;		/* deadline for beginning a call, in ms,
					   as returned by now_ms() */
};

enum {
	START_MS = 500,		/* maximum time for a thread to start or stop */
	CALL_MS = 60000,	/* maximum time for one call; cloning a
				   terabyte takes long */
	ALL_MS = 10000 /* time limit for starting calls in a process */
};

/* enter.c: begin and end calls in a thread */
int		 inject_thread_enter(struct inject *inj,
		    const struct lthread *t);
int		 inject_thread_leave(struct inject *inj);

/* wait.c: wait for the thread, and report why it failed */
int		 inject_await(struct inject *inj, uint64_t deadline);
int		 inject_gone(struct inject *inj);
int		 inject_refused(struct inject *inj, const char *what);
void		 inject_resignal(struct inject *inj);
int		 inject_wait(struct inject *inj, pid_t tid, uint64_t ms);

/* step.c: run the thread to the entry or exit of a call */
int		 inject_halt(struct inject *inj);
int		 inject_leave(struct inject *inj);
int		 inject_load(struct inject *inj, const uint64_t arg[6]);
int		 inject_options(struct inject *inj, uintptr_t more);
int		 inject_start(struct inject *inj, long nr,
		    const uint64_t arg[6], uintptr_t opts);
int		 inject_go(struct inject *inj, int sig);
int		 inject_step(struct inject *inj, int event, uint64_t ms);

/* run.c: run one system call, and write its arguments to memory */
int		 repeat_restore(struct inject *inj);
int		 inject_put(pid_t pid, const void *buf, size_t len,
		    uint64_t addr);
int		 inject_begincall(struct inject *inj, const uint64_t arg[6]);
int		 inject_enter(struct inject *inj, long nr,
		    const uint64_t arg[6], uintptr_t opts);
int		 inject_result(struct inject *inj, int64_t *ret);
int		 inject_trust(const struct inject *inj);
int		 inject_may(const struct inject *inj);
int		 inject_make(struct inject *inj, int64_t *ret, long nr,
		    const uint64_t arg[6]);

/* unusedstack.c: find unused stack */
int		 unusedstack_find(struct inject *inj, const struct vmas *l);

/* sigstop.c: keep a SIGSTOP pending in a stopped process */
int		 stops_note(struct inject *inj);
void		 stops_send(struct inject *inj);

/* code.c: find instructions */
int		 gadgets_find(struct gadgets *g, pid_t pid, int mem,
		    const struct vmas *l);

#endif
