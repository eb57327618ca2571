/*
 * What a machine supplies for live processes to be taken on it.  amd64/ and
 * arm64/ supply it, other/ does for all other machines; nothing else in the
 * library depends on the machine that it runs on.  All is here, in the order
 * in which a new machine gets it, each part of use without those behind it;
 * each is a file of the machine's folder:
 *
 *	isa.c		which registers there are: with that alone, and the
 *			rest as in other/, all of a process is taken but what
 *			only it can tell itself
 *	regs.c restart.c
 *			threads go on as if they had not been stopped
 *	code.c call.c	they are made to make system calls,
 *	frame.c		and led back, should we die meanwhile
 *
 * A call is made so, by inject/: the registers are read (gregs_read), code is
 * found that makes a call and code that returns from a signal handler
 * (gadgets_), the frame of a handler that returns to where the thread is now is
 * written below what it uses of its stack (frame_build), and
 * registers are given to it that make the call (call_load).  Whatever ends us
 * from there on, it goes on behind the call into that frame, and as it was.
 * Else the result is read (call_result), and all is put back (gregs_write,
 * kept_write, again_load).
 *
 * Functions return what is told here; -1 is with errno, that of ptrace(2) where
 * a thread was asked.  Threads are stopped, and traced by us.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <sys/types.h>
#include <sys/uio.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * isa.c: numbers and register sets.
 */
struct regnote {			/* a register set of ptrace(2) */
	int		 note;	/* NT_ of <elf.h> */
	const char	*name;	/* of the file in the record: snap(6) */
	bool		 maybe;	/* not all processors have it, or kernels */
	bool		 sized;	/* it begins with its length, 4 bytes, and
				   ptrace(2) tells that of the longest */
};

struct isa {
	const struct regnote *regset; /* all that is read of a thread, first its
				   general registers; ends with a NULL name */
	bool		 faults; /* tracepoints of the kernel tell of page
				   faults, as lib/trace.h has them */
	bool		 injects; /* processes can be made to make calls; if
				   not, nothing is used of what follows here,
				   and of functions only those of regs.c and
				   the first four of restart.c */
	uint32_t	 audit;	/* AUDIT_ARCH_ of its system calls */
	unsigned int	 call;	/* bytes of the instruction that makes one */
	unsigned int	 redzone; /* bytes below the stack pointer that
				   functions may use: its ABI */
	uint64_t	 top;	/* processes map nothing from there on */
	long		 mmap;	/* number of mmap(2), with an offset in bytes */
	size_t		 stage;	/* bytes that frame_exit takes, and that may be
				   written to where a frame that unmaps nothing
				   begins; MIN_STAGE or more */
	size_t		 frame;	/* bytes that frame_build takes, at most */
};

extern const struct isa	 isa;

/*
 * regs.c: general registers, in and out.
 */
struct gregs {			/* as its machine has them; only that knows
				   what is where */
	uint64_t	 word[48];
};

/*
 * Read those of a thread, or give it others: 0, or -1.
 */
int		 gregs_read(pid_t tid, struct gregs *r);
int		 gregs_write(pid_t tid, const struct gregs *r);

/*
 * Return the address of the next instruction, the stack pointer, and the
 * address by which a thread finds its own data.
 */
uint64_t	 gregs_pc(const struct gregs *r);
uint64_t	 gregs_sp(const struct gregs *r);

/*
 * Have the next instruction be that at pc.
 */
void		 gregs_jump(struct gregs *r, uint64_t pc);

/*
 * restart.c: what a thread goes on with that we have stopped.  Some system
 * calls give up with EINTR then, although no signal is delivered: signal(7),
 * "Interruption of system calls and library functions by stop signals".  Their
 * threads are to make them again.
 */
struct seencall {			/* what a thread was seen in before, in
				   /proc/TID/syscall */
	int64_t		 nr;	/* -1: none, or not seen; never that of
				   restart_syscall(2) where it is known which
				   call that goes on with */
	uint64_t	 arg[6];
	uint64_t	 sp;
	uint64_t	 pc;
	uint64_t	 sleeps; /* how often the thread had gone to sleep,
				   as /proc/TID/status tells, when it slept in
				   that; 0: not seen, or it may be in another */
};

/*
 * Return true if restart_call has to know seencall.sleeps of a thread that was
 * seen in call nr.
 */
bool		 restart_counts(int64_t nr);

/*
 * Return true if a thread with these general registers, as NT_PRSTATUS has
 * them, of len bytes, may be one for restart_call.
 */
bool		 restart_due(const void *now, size_t len);

/*
 * If a thread, which was seen in a call before it stopped, gave up one because
 * we stopped it, have it make that again, unless a signal is to be handled
 * first: then it fails with EINTR, as it should.  Return true if it does.
 */
bool		 restart_call(pid_t tid, const struct seencall *seen);

/*
 * code.c: instructions of a process, in its C library or [vdso].
 */
enum {				/* bytes: */
	MAX_CODE = 32,		/* of code, that tell what it is */
	MAX_SKIP = 96		/* gadgets.skip, at most */
};

struct gadgets {			/* addresses; 0: not found */
	uint64_t	 call;	/* makes a call, and returns */
	size_t		 skip;	/* bytes that it takes off the stack between */
	uint64_t	 back;	/* does rt_sigreturn(2) */
	bool		 pops;	/* back only takes the number of a call off
				   the stack, and call is to make that */
};

/*
 * Look whether the code in buf, of len bytes, which is at an address, begins
 * with what makes a call, or does rt_sigreturn(2).  Return true, and tell g, if
 * it does.
 */
bool		 gadgets_call(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);
bool		 gadgets_back(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);

/*
 * Look for what g lacks yet anywhere in it.
 */
void		 gadgets_seek(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);

/*
 * call.c: a system call that a thread is made to make.
 */
struct kept {			/* of a thread, beside its general registers,
				   what calls change */
	size_t		 len;	/* 0: nothing */
	uint8_t		*buf;	/* owned */
};

/*
 * Return why none can be made by a thread with registers *r; NULL: it can.
 */
const char	*call_refused(pid_t tid, const struct gregs *r);

/*
 * Have the registers *r make system call nr with these arguments, by the
 * instructions g and with stack pointer sp, and be in none, so that none is
 * repeated.
 */
void		 call_load(struct gregs *r, const struct gadgets *g,
		    uint64_t sp, long nr, const uint64_t arg[6]);

/*
 * Have a thread at the entry of a system call make none: 0, or -1.
 */
int		 call_cancel(pid_t tid);

/*
 * Return what a system call that has come to its end returned.
 */
int64_t		 call_result(const struct gregs *r);

/*
 * Return 1 if a thread would go on with system call nr, whose first argument is
 * first: it is before it, or has to repeat it; 0 if not; -1 if that cannot be
 * seen.
 */
int		 call_pending(pid_t tid, long nr, uint64_t first);

/*
 * Keep what calls change, and put it back: 0, or -1.
 */
int		 kept_read(pid_t tid, struct kept *k);
int		 kept_write(pid_t tid, const struct kept *k);

/*
 * again_, of restart.c: the call that a thread was in, where the kernel keeps
 * something of that until the thread runs on, and calls of ours have it
 * forgotten.
 */
struct again {
	int		 code;	/* ERESTART of include/linux/errno.h, by which
				   the kernel knows it and registers do not
				   tell; 0: registers tell all */
	bool		 ask;	/* only its next call tells whether that is so:
				   it is restart_syscall(2) */
};

/*
 * Return what the kernel knows of the call of a thread with registers *r.
 */
struct again	 again_look(pid_t tid, const struct gregs *r);

/*
 * Return the first argument of the call that it is to repeat.
 */
uint64_t	 again_first(const struct gregs *r);

/*
 * Have the registers *r, of a thread that is to repeat a call, be those that it
 * had at the end of that, when it returned minus code: with the same first
 * argument as the call of ours has that it stands at the end of.
 */
void		 again_load(struct gregs *r, int code);

/*
 * frame.c: what a thread finds if we die meanwhile.
 */
enum {				/* bytes */
	MIN_STAGE = 448,	/* isa.stage is more, or the same, */
	MAX_STAGE = 2048	/* and less */
};

struct stacks {			/* stack pointers of a thread, for */
	uint64_t	 call;	/* any call */
	uint64_t	 last;	/* that after which our memory is gone */
};

struct way {
	pid_t		 tid;
	const struct gadgets *gadget;
	const struct gregs *regs; /* that it gets back */
	const struct seencall *seen; /* the call that it was seen in before it
				   was stopped, or NULL */
	uint64_t	 mask;		/* of its signals, likewise */
	struct iovec	 mapped;	/* what it unmaps before; or nothing */
};

/*
 * Build in buf, of isa.frame bytes, what leads a thread back; at, a multiple of
 * 64, is where it will be in the process.  With what stack pointers calls are
 * made goes into *s.  If nothing is to be unmapped, its first isa.stage bytes
 * may be written to.  Return its length, or -1.
 */
int		 frame_build(uint8_t *buf, uint64_t at, const struct way *w,
		    struct stacks *s);

/*
 * Build in buf, of isa.stage bytes, a stack for a clone, at an address: it
 * exits as soon as it runs.  Return its stack pointer.
 */
uint64_t	 frame_exit(uint8_t *buf, uint64_t at, const struct way *w);

/*
 * Where isa.injects is false these are nowhere, and called by nobody.
 */
#if !defined __x86_64__ && !defined __aarch64__
#pragma weak gadgets_call
#pragma weak gadgets_back
#pragma weak gadgets_seek
#pragma weak call_refused
#pragma weak call_load
#pragma weak call_cancel
#pragma weak call_result
#pragma weak call_pending
#pragma weak kept_read
#pragma weak kept_write
#pragma weak again_look
#pragma weak again_first
#pragma weak again_load
#pragma weak frame_build
#pragma weak frame_exit
#endif

#endif
