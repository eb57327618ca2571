/*
 * What a processor architecture supplies for capturing live processes. amd64/
 * and arm64/ supply it, other/ serves all other machines; nothing else in the
 * library depends on the machine that it runs on. The declarations are in the
 * order in which a new machine implements them. Each part is useful without the
 * parts after it, and is a file in the machine's folder:
 *
 *	isa.c		its registers: with this file alone, and the rest as
 *			in other/, all of a process is captured except what
 *			only the process itself can find out
 *	regs.c restart.c
 *			threads continue as if they had not been stopped
 *	code.c call.c	threads run system calls for us,
 *	frame.c		and return to where they were if we die
 *
 * inject/ makes a call as follows. It reads the registers (gregs_read), and
 * finds code that makes a call and code that returns from a signal handler
 * (gadgets_*). It writes a signal frame that returns to where the thread is
 * now, below the used part of its stack (frame_build), and loads registers that
 * make rt_sigreturn(2) with that frame (call_back). At the entry of that call
 * it loads those of the call to be made (call_load, call_enter). If we die, the
 * thread returns by the frame, which restores it. Otherwise inject/ reads the
 * result (call_result) and restores the thread (gregs_write, extstate_write,
 * restartinfo_load).
 *
 * Functions that return -1 set errno, as ptrace(2) does. All threads are
 * stopped and traced by us.
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
	int		 note;	/* NT_ constant of <elf.h> */
	const char	*name;	/* name of the file with this set; see
				   snap-linux(6) */
	bool		 maybe;	/* some processors or kernels do not have it */
	bool		 sized;	/* the set starts with its length in 4 bytes;
				   ptrace(2) returns the maximum length */
};

struct isa {
	const struct regnote *regset; /* all register sets to read from a
					 thread, general registers first;
					 ends with a NULL name */
	bool		 faults; /* the kernel has tracepoints for page faults;
				    see lib/trace.h */
	/* processes can be made to run system calls. If not, the members
	   below are unused, and only the functions of regs.c and the first
	   three of restart.c are called */
	bool		 injects;
	uint32_t	 audit;	/* AUDIT_ARCH_ constant for system calls of this
				   machine */
	unsigned int	 call;	/* length of the system-call instruction, in
				   bytes */
	unsigned int	 redzone; /* number of bytes below the stack pointer
				     that the ABI lets functions use */
	uint64_t	 top;	/* end of the address range in which processes
				   map memory */
	long		 mmap;	/* number of the system call mmap(2) that takes
				   a byte offset */
	/* size of a stage in bytes: frame_exit builds one, and the first one
	   of a frame that unmaps nothing is scratch memory; MIN_STAGE or
	   more */
	size_t		 stage;
	size_t		 frame;	/* maximum size of a frame made by
				   frame_build(), in bytes */
};

extern const struct isa	 isa;

/*
 * regs.c: read and write general registers.
 */
struct gregs {			/* general registers, in a layout that only
				   the machine's files know */
	uint64_t	 word[48];
};

/*
 * Read or write the general registers of thread tid. Return 0, or -1.
 */
int		 gregs_read(pid_t tid, struct gregs *r);
int		 gregs_write(pid_t tid, const struct gregs *r);

/*
 * Return the address of the next instruction, and the stack pointer.
 */
uint64_t	 gregs_pc(const struct gregs *r);
uint64_t	 gregs_sp(const struct gregs *r);

/*
 * Set the address of the next instruction to pc.
 */
void		 gregs_jump(struct gregs *r, uint64_t pc);

/*
 * restart.c: restart system calls that were interrupted by our stop. Some calls
 * fail with EINTR although no signal is delivered: signal(7), "Interruption of
 * system calls and library functions by stop signals". Their threads must make
 * them again.
 */
struct seencall {			/* the call that a thread was in
					   before it was stopped, from
					   /proc/TID/syscall */
	int64_t		 nr;	/* number of the call; -1: none or unknown. For
				   restart_syscall, the call that it continues,
				   if that is known */
	uint64_t	 arg[6];
	uint64_t	 sp;
	uint64_t	 pc;
	/* voluntary context switches of the thread in /proc/TID/status, when
	   it slept in the call; 0: unknown, or it may have left the call */
	uint64_t	 sleeps;
};

/*
 * Return true if restart_call() needs seencall.sleeps for a thread that was
 * seen in call nr.
 */
bool		 restart_counts(int64_t nr);

/*
 * Return true if a thread may need restart_call(). *now has its general
 * registers, len bytes as in NT_PRSTATUS.
 */
bool		 restart_due(const void *now, size_t len);

/*
 * If a call of thread tid failed with EINTR because we stopped the thread, make
 * the thread restart the call when it resumes. seen is the call that the thread
 * was in before it was stopped. If a signal is to be handled first, the call
 * still fails with EINTR, as it should. Return true if the call will restart.
 */
bool		 restart_call(pid_t tid, const struct seencall *seen);

/*
 * code.c: find instructions in a process, in its C library or [vdso].
 */
enum {				/* sizes in bytes */
	MAX_CODE = 32,		/* maximum length of the code of a gadget */
	MAX_SKIP = 96		/* maximum value of gadgets.skip */
};

struct gadgets {			/* addresses of instructions; 0: not
					   found */
	uint64_t	 call;	/* code that makes a system call and returns */
	size_t		 skip;	/* number of bytes that the code at "call" pops
				   before it returns */
	uint64_t	 back;	/* code that does rt_sigreturn(2) */
	bool		 pops;	/* the code at "back" only pops the number of
				   rt_sigreturn(2) from the stack; it must
				   return to the code at "call" */
};

/*
 * Return true if the code in buf, len bytes from address at of the process,
 * begins with instructions that make a call (gadgets_call) or do
 * rt_sigreturn(2) (gadgets_back). In that case, set their address in g.
 */
bool		 gadgets_call(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);
bool		 gadgets_back(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);

/*
 * Search all of the code in buf, len bytes from address at of the process, for
 * the instructions that are still missing from g.
 */
void		 gadgets_seek(struct gadgets *g, const uint8_t *buf,
		    size_t len, uint64_t at);

/*
 * call.c: make a thread run a system call.
 */
struct extstate {			/* thread state that system calls
					   change, apart from general
					   registers */
	size_t		 len;	/* number of bytes in "buf"; 0: none */
	uint8_t		*buf;	/* owned */
};

/*
 * Return the reason why thread tid, with registers *r, cannot make calls for
 * us, or NULL if it can.
 */
const char	*call_refused(pid_t tid, const struct gregs *r);

/*
 * Set the registers *r to make system call nr with arguments arg, using the
 * instructions g and stack pointer sp. Mark them as not being in a call, so
 * that none is restarted.
 */
void		 call_load(struct gregs *r, const struct gadgets *g,
		    uint64_t sp, long nr, const uint64_t arg[6]);

/*
 * Set the registers *r to make rt_sigreturn(2) with the signal frame of the
 * stage to which the stack pointer sp belongs. The thread then goes on as after
 * a call that call_load() made with sp. arg has the arguments of the call that
 * will take the place of this one at its entry: on some machines the kernel
 * restarts a call with the first argument that it had before that.
 */
void		 call_back(struct gregs *r, const struct gadgets *g,
		    uint64_t sp, const uint64_t arg[6]);

/*
 * Change the registers *r, which call_load() has set, to those that a thread
 * has at the entry of the call.
 */
void		 call_enter(struct gregs *r);

/*
 * Cancel the system call at whose entry thread tid is stopped. Return 0, or -1.
 */
int		 call_cancel(pid_t tid);

/*
 * Return the result of a system call, taken from the registers at its exit.
 */
int64_t		 call_result(const struct gregs *r);

/*
 * Return 1 if thread tid, when resumed, would make system call nr with first as
 * its first argument: the thread is at the entry of that call, or is about to
 * restart it. Return 0 if not, or -1 if that cannot be determined.
 */
int		 call_pending(pid_t tid, long nr, uint64_t first);

/*
 * Save in k the state of thread tid that calls change, or restore it from k.
 * Return 0, or -1.
 */
int		 extstate_read(pid_t tid, struct extstate *k);
int		 extstate_write(pid_t tid, const struct extstate *k);

/*
 * restart.c, functions restartinfo_*: the call that a thread was interrupted
 * in. On some machines the kernel keeps part of how to restart it until the
 * thread resumes, and calls of ours overwrite that.
 */
struct restartinfo {
	/* ERESTART code of include/linux/errno.h with which the interrupted
	   call ended, if the kernel keeps it outside of registers; 0:
	   registers are enough */
	int		 code;
	bool		 ask;	/* "code" applies only if the thread's next call
				   is restart_syscall(2) */
};

/*
 * Return how to restart the interrupted call of thread tid, whose registers are
 * *r.
 */
struct restartinfo	 restartinfo_read(pid_t tid, const struct gregs *r);

/*
 * Return the first argument of the call that is to be restarted, from the
 * registers *r.
 */
uint64_t	 restartinfo_arg(const struct gregs *r);

/*
 * Change *r, the registers of a thread that is to restart a call, to those at
 * the exit of that call when it returned -code. The thread must be at the exit
 * of a call of ours with the same first argument.
 */
void		 restartinfo_load(struct gregs *r, int code);

/*
 * frame.c: return frames, which a thread runs into if we die.
 */
enum {				/* sizes in bytes */
	MIN_STAGE = 448,	/* minimum value of isa.stage */
	MAX_STAGE = 2048	/* maximum value of isa.stage */
};

struct stacks {			/* stack pointers of a thread, for running
				   calls */
	uint64_t	 call;	/* stack pointer for all calls while our memory
				   is mapped */
	uint64_t	 last;	/* stack pointer for the last call, which unmaps
				   our memory */
};

struct frame {
	pid_t		 tid;
	const struct gadgets *gadget;
	const struct gregs *regs; /* registers to restore */
	const struct seencall *seen; /* call that the thread was seen in
					before it was stopped, or NULL */
	uint64_t	 mask;		/* signal mask to restore */
	struct iovec	 mapped; /* memory to unmap first; length 0: none */
};

/*
 * Build a return frame in buf, of isa.frame bytes. The argument at is the
 * address that the frame will have in the process, a multiple of 64. Set *s to
 * the stack pointers for calls. If w->mapped is empty, the first isa.stage
 * bytes of the frame are free for other use. Return the length of the frame, or
 * -1.
 */
int		 frame_build(uint8_t *buf, uint64_t at, const struct frame *w,
		    struct stacks *s);

/*
 * Build in buf, of isa.stage bytes, a stack on which a clone exits as soon as
 * it runs. The argument at is the address that the stage will have in the
 * process. Return the stack pointer to use with the stage.
 */
uint64_t	 frame_exit(uint8_t *buf, uint64_t at, const struct frame *w);

/*
 * If isa.injects is false, these functions are not defined, and not called.
 */
#if !defined __x86_64__ && !defined __aarch64__
#pragma weak gadgets_call
#pragma weak gadgets_back
#pragma weak gadgets_seek
#pragma weak call_refused
#pragma weak call_load
#pragma weak call_back
#pragma weak call_enter
#pragma weak call_cancel
#pragma weak call_result
#pragma weak call_pending
#pragma weak extstate_read
#pragma weak extstate_write
#pragma weak restartinfo_read
#pragma weak restartinfo_arg
#pragma weak restartinfo_load
#pragma weak frame_build
#pragma weak frame_exit
#endif

#endif
