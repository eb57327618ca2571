/*
 * What a machine supplies for live processes to be taken on it.  amd64/ and
 * arm64/ supply it, other/ does for all other machines; nothing else in the
 * library depends on the machine that it runs on.  A new machine needs all
 * that is here, and a line of ROOMS; one of which only the registers are to
 * be read needs nothing: other/ reads these.
 *
 *	isa.c		numbers and register sets
 *	regs.c		general registers, and a call in them
 *	call.c		what is to be known, and put right, around a call
 *	code.c		the instructions that make calls
 *	frame.c		what leads a thread back whose tracer dies
 *	restart.c	what a thread goes on with that was stopped
 *	stack.c		where its stack begins
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <sys/types.h>
#include <sys/uio.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* isa.c */
struct regnote {			/* that ptrace(2) has */
	int		 note;	/* NT_ of <elf.h> */
	const char	*name;	/* of the file in the record: snap(6) */
	bool		 maybe;	/* not all processors have it, or kernels */
	bool		 sized;	/* it begins with its length, 4 bytes, and
				   ptrace(2) tells that of the longest */
};

struct isa {
	bool		 injects; /* processes can be made to make calls */
	bool		 faults; /* tracepoints of the kernel tell of page
				   faults, as lib/trace.h has them */
	uint32_t	 audit;	/* AUDIT_ARCH_ of its system calls */
	unsigned int	 call;	/* bytes of the instruction that makes one */
	unsigned int	 redzone; /* bytes below the stack pointer that
				   functions may use: its ABI */
	uint64_t	 top;	/* processes map nothing from there on */
	long		 mmap;	/* number of mmap(2), with an offset in bytes */
	size_t		 stage;	/* bytes that frame_exit takes, and that may be
				   written to where a frame that unmaps nothing
				   begins; STAGE_LEAST or more */
	size_t		 frame;	/* bytes that a frame takes, at most */
	const struct regnote *regset; /* all that is read of a thread, first its
				   general registers; ends with a NULL name */
};

extern const struct isa	 isa;

/* regs.c: of a stopped thread.  -1 is with the errno of ptrace(2). */
struct gregs {			/* as its machine has them; only regs.c knows
				   what is where */
	uint64_t	 word[48];
};

int		 gregs_read(pid_t tid, struct gregs *r);
int		 gregs_write(pid_t tid, const struct gregs *r);
uint64_t	 gregs_pc(const struct gregs *r);
void		 gregs_jump(struct gregs *r, uint64_t pc);
uint64_t	 gregs_sp(const struct gregs *r);
uint64_t	 gregs_tls(const struct gregs *r);

/* code.c */
struct gadgets {		/* instructions of a process; 0: not found */
	uint64_t	 call;	/* makes a call, and returns */
	size_t		 skip;	/* bytes of the stack it takes before that */
	uint64_t	 back;	/* does rt_sigreturn(2) */
	bool		 pops;	/* only makes the call; its number is taken off
				   the stack */
};

enum {				/* bytes: */
	CODE_MOST = 32,		/* of code, that tell what it is */
	SKIP_MOST = 96
};

void		 gadgets_seek(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);
bool		 gadgets_call(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);
bool		 gadgets_back(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);

/* call.c */
struct kept {			/* of a thread, beside its general registers,
				   what calls change */
	size_t		 len;	/* 0: nothing */
	uint8_t		*buf;	/* owned */
};

const char	*call_refused(pid_t tid, const struct gregs *r);
void		 call_load(struct gregs *r, const struct gadgets *g,
		    uint64_t sp, long nr, const uint64_t arg[6]);
int		 call_cancel(pid_t tid);
int64_t		 call_result(const struct gregs *r);
int		 call_pending(pid_t tid, long nr, uint64_t first);
int		 kept_read(pid_t tid, struct kept *k);
int		 kept_write(pid_t tid, const struct kept *k);

/* frame.c: what a thread finds if we die meanwhile */
enum {
	FRAME_SPARE = 96,	/* bytes that are only taken off the stack */
	STAGE_LEAST = 448,	/* isa.stage is more, or the same, */
	STAGE_MOST = 2048	/* and less */
};

struct stacks {			/* of a thread, for */
	uint64_t	 call;	/* any call */
	uint64_t	 last;	/* that after which our memory is gone */
};

struct way {
	pid_t		 tid;
	const struct gadgets *gadget;
	const struct gregs *regs; /* that it gets back */
	uint64_t	 mask;		/* of its signals, likewise */
	struct iovec	 mapped;	/* what it unmaps before; or nothing */
	bool		 bare;		/* nothing to unmap, nor room for it */
};

int		 frame_build(uint8_t *buf, uint64_t at, const struct way *w,
		    struct stacks *s);
uint64_t	 frame_exit(uint8_t *buf, uint64_t at, const struct way *w);

/* restart.c: the call that a thread was in when it stopped */
struct seencall {		/* before that, in /proc/TID/syscall */
	int64_t		 nr;	/* -1: none, or not seen */
	uint64_t	 arg[6];
	uint64_t	 sp;
	uint64_t	 pc;
	uint64_t	 sleeps; /* how often the thread had gone to sleep,
				   as /proc/TID/status tells, when it slept in
				   that; 0: not seen, or it may be in another */
};

struct again {
	int		 code;	/* ERESTART of include/linux/errno.h, by which
				   the kernel knows it and registers do not
				   tell; 0: registers tell all */
	bool		 ask;	/* only its next call tells whether that is so:
				   it is restart_syscall(2) */
};

struct again	 again_look(pid_t tid, const struct gregs *r);
uint64_t	 again_first(const struct gregs *r);
void		 again_load(struct gregs *r, int code);

/* of registers as NT_PRSTATUS has them, of some bytes */
bool		 restart_same(const void *before, size_t nbefore,
		    const void *now, size_t nnow);
bool		 restart_due(const void *now, size_t len);
bool		 restart_counts(int64_t nr);
bool		 restart_call(pid_t tid, const struct seencall *seen);

/* stack.c */
uint64_t	 stack_begin(int mem, const struct gregs *r, uint64_t lower);

#endif
