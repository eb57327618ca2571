/*
 * Shared by the files of snapstack, which prints the stacks of threads.
 *
 *	target.c	a process: its mappings, memory and mapped files
 *	symbols/	names of code:
 *	  elfimage.c	ELF files in the snapshot, for libelf
 *	  debugfile.c	files of this machine, by build ID
 *	  fetch.c	files from debuginfod servers
 *	  modules.c	mapped files, for libdwfl
 *	  dynsym.c	symbols that a module has in memory
 *	  location.c	functions, source lines, inlined functions
 *	  scopes.c	functions that contain an address
 *	  jit.c		names of code that a process generated
 *	  demangle.c	C++ and Rust names
 *	unwind/		the frames of a thread, by unwind.c:
 *	  regs.c	registers by their DWARF numbers
 *	  sigframe.c	frames interrupted by a signal
 *	  scan.c	guessed frames
 *	waits/		what a thread waits for: waits.h
 *	failure.c	crashes of libdw
 *	memory.c	limit on memory
 *	process.c	one process: gather, unwind, print
 *	living.c	live processes
 *	python/		Python: python.h
 *	  merge.c	Python frames in place of the interpreter's
 *	threads.c	threads by their IDs
 *	fatal.c		the signal that ended a thread
 *	show/		output as text, as JSON, and for flame graphs:
 *			print.c, objects.c, folded.c
 *	  group.c	threads with the same stack
 */
#ifndef SNAPSTACK_H
#define SNAPSTACK_H

#include "common/common.h"
#include "pool.h"

#include <elfutils/libdwfl.h>

enum {
	REGS_MAX = 32,		/* maximum number of registers */
	FRAMES_MAX = 4096,	/* maximum number of frames of a thread */
	CACHED = 64,		/* number of blocks in a cache of memory */
	KEPT_STACK = 1024 * KB,	/* maximum size of a live thread's stack that is
				   kept, in bytes */
	KEPT_ALL = 64 * 1024 * KB /* maximum size of all stacks of a live
				     process that are kept, in bytes */
};

/* target.c */
struct block {			/* a block of memory that was read */
	uint64_t	 addr;
	unsigned int	 valid;	/* a bit for each kilobyte that was read; 0:
				   the block is unused */
	uint8_t		 data[4 * KB];
};

struct target {			/* a process and its memory */
	struct snap	*snap;	/* borrowed */
	struct proc	*proc;	/* borrowed */
	struct vmas	 vma;	/* owned */
	const struct linuxrec *rec; /* borrowed from proc */
	uint64_t	 exe_start; /* start address of the executable if no
				       mapping contains it; otherwise 0 */
	char		 exe[4096]; /* path of the executable, or "" */
	struct pool	 pool;	/* owned; has "cache", "kept", and the stacks
				   of the threads */
	struct block	*cache;	/* CACHED blocks */
	struct block	**kept;	/* sorted by address */
	size_t		 nkept;
	uint64_t	 cost;	/* cost of memory reads so far: 1 for each
				   access, plus 1 for each 32 bytes */
	bool		 live;	/* the process is live: it is held stopped,
				   and this program is not confined yet, so
				   no files are read */
	bool		 released; /* only kept memory and mapped files can be
				      read */
	struct buf	 perfmap; /* names of the code that a live process
				     generated; see jit.c */
	struct jit	*jit;	/* owned; NULL: not read yet */
};

int		 target_open(struct target *t, struct snap *s, struct proc *p,
		    bool live);
void		 target_close(struct target *t);
bool		 target_read(struct target *t, uint64_t addr, void *buf,
		    size_t len);
bool		 target_word(struct target *t, uint64_t addr, size_t word,
		    uint64_t *v);
size_t		 target_wordsize(const struct target *t);
uint64_t	 target_entry(const struct target *t);
void		 target_keep(struct target *t, uint64_t sp, uint64_t from,
		    uint64_t to);
void		 target_release(struct target *t);
struct image	*target_file(const struct target *t, const struct vma *v);
const struct vma *target_code(const struct target *t, uint64_t addr);

/* elfimage.c */
Elf		*elfimage_open(struct image *im);
Elf		*elfimage_memory(struct target *t, uint64_t start,
		    uint64_t end);
void		 elfimage_forget(void);
void		 elfimage_tidy(void);

/* debugfile.c */
extern struct words debugfile_dirs;

int		 debugfile_open(const void *id, size_t len, bool debug,
		    const char *name, const char *link, char **path);

/* fetch.c */
void		 fetch_begin(void);
int		 fetch_open(const void *id, size_t len, bool debug);

/* modules.c */
Dwfl		*modules_open(struct target *t);
void		 modules_use(struct target *t);
bool		 module_id(Dwfl_Module *m, char *hex, size_t size);

/* regs.c */
struct registers {
	uint64_t	 v[REGS_MAX]; /* values of registers, indexed by DWARF
					 number */
	unsigned int	 n;	/* 0: of these members, only "machine" and
				   "word" are known, if they are not 0 */
	uint64_t	 pc;
	uint64_t	 sp;
	uint16_t	 machine; /* value of e_machine; see elf(5) */
	unsigned int	 word;	/* size of an address in bytes */
	unsigned int	 spnum;	/* DWARF number of the stack pointer */
	int64_t		 call;	/* number of the current system call, or -1 */
	uint64_t	 arg[6]; /* arguments of the system call */
};

void		 registers_get(struct registers *r, struct proc *thread,
		    const char *cputype, size_t word);

/* unwind.c */
struct frame {
	uint64_t	 pc;
	uint64_t	 sp;	/* stack pointer; 0: not known */
	bool		 exact;	/* pc is the next instruction, not a return
				   address */
	bool		 signal; /* frame made by the kernel to run a signal
				    handler */
	bool		 guess;	/* no table led to the frame: it was found by
				   the frame pointer, or by scanning the
				   stack */
	const struct pyframe *python; /* borrowed from struct stack; Python
					 frames that this frame interprets,
					 innermost first */
	size_t		 npython;
	bool		 within; /* a frame of the interpreter, between
				    frames that run Python code */
};

struct pyframe {		/* a frame of Python code */
	char		*function;
	char		*file;
	int64_t		 line;	/* line number; 0: not known */
	bool		 entry;	/* the function was called from C code, not from
				   Python */
	uint64_t	 call;	/* stack address of the interpreter call that
				   runs this frame, or 0 */
	struct pylocal	*local;	/* local variables, if the user asked for
				   them */
	size_t		 nlocal;
};

struct pylocal {		/* a local variable */
	char		*name;
	char		*value;	/* the value as written by repr(), possibly
				   shortened */
};

enum gil {			/* relation of a thread to Python's global
				   interpreter lock */
	GIL_NONE, GIL_HELD, GIL_WANTED
};

struct stack {			/* a thread and its stack; its pointers lead to
				   the pool of its target */
	struct proc	*thread; /* borrowed */
	uint64_t	 tid;
	uint64_t	 inner;	/* ID of the thread in its own PID namespace */
	uint64_t	 clears; /* address that the kernel clears when the
				    thread ends, or 0 */
	uint64_t	 robust; /* address of the thread's robust mutex list,
				    as from get_robust_list(2), or 0 */
	char		 comm[64];
	char		 state[16]; /* state of the thread in words, from
				       /proc/TID/status; "": not known */
	struct registers regs;	/* registers; n is 0 if they are not known */
	struct frame	*frame;	/* innermost first */
	size_t		 n;
	bool		 whole;	/* the last element of "frame" is the outermost
				   frame */
	char		*why;	/* why the outermost frame was not reached, or
				   NULL */
	char		*wait;	/* what the thread waits for, or NULL */
	size_t		 bare;	/* length of the text in "wait" before its
				   timeout */
	unsigned int	 signal; /* signal that ended the thread, or 0 */
	bool		 faulted; /* the fault address is known */
	uint64_t	 fault;	/* address reported with the signal */
	uint64_t	 futex;	/* address of the futex that the thread waits
				   for, or 0 */
	struct pyframe	*python; /* all Python frames of the thread */
	size_t		 npython;
	bool		 merged; /* each Python frame is assigned to a native
				    frame */
	uint64_t	 interpreter; /* number of the Python interpreter that
					 the thread runs; 0: the main one */
	enum gil	 gil;
	bool		 collects; /* the thread's Python interpreter is
				      collecting garbage */
	size_t		 same;	/* index of the first thread with the same
				   stack */
};

struct threadkey {		/* an entry for finding a thread by a key */
	uint64_t	 key;
	size_t		 nth;	/* index of the thread in stack[] */
};

struct unwinder {
	struct target	*target; /* borrowed */
	Dwfl		*dwfl;	/* owned */
	Elf		*head; /* owned; an ELF header that names the machine */
	char		 comm[64]; /* name of the process, or "" */
	size_t		 nthreads; /* number of threads of the process */
	struct stack	*stack;	/* the threads of the process, or the one that
				   the user chose */
	size_t		 n;
	struct threadkey *inner; /* keys of all threads, sorted by
				    stack.inner */
	struct threadkey *clears;
	bool		 locals; /* the user asked for local variables of
				    Python */
	const char	*nolocals; /* why there are no local variables, or
				      NULL */
	struct registers now;	/* registers of the frame from which to
				   continue */
	bool		 unread; /* memory needed to unwind the current frame
				    is missing */
};

void		 unwinder_close(struct unwinder *u);
void		 stack_unwind(struct unwinder *u, struct stack *st);

/* sigframe.c */
bool		 sigframe_is(struct target *t, uint16_t machine, uint64_t pc);
bool		 sigframe_step(struct target *t, const struct frame *f,
		    struct registers *r);
uint64_t	 sigframe_interrupted(struct target *t,
		    const struct registers *r);

/* python.c */
void		 python_find(struct unwinder *u);
bool		 python_is(const char *path);

/* dynsym.c */
bool		 dynsym_find(struct target *t, uint64_t start,
		    const char *name, uint64_t *addr);

/* merge.c */
void		 python_merge(struct unwinder *u, struct stack *st);

/* scan.c */
bool		 scan_next(struct target *t, const struct registers *r,
		    uint64_t *sp, uint64_t *pc);

/* scopes.c */
size_t		 scopes_find(const Dwarf_Die *cu, Dwarf_Addr pc,
		    Dwarf_Die *found, size_t max);

/* location.c */
struct location {
	const char	*function; /* borrowed; name of the function, or NULL */
	uint64_t	 offset; /* offset from the start of the function */
	const char	*file;	/* borrowed; source file, or NULL */
	int		 line;
	bool		 inlined; /* the function is inlined into that of the
				     next location */
	bool		 jit;	/* the code was generated, and its name is from
				   the map that the process wrote; see jit.c */
	const char	*module; /* borrowed; name of the mapping, or NULL */
	char		 id[130]; /* build ID of the module, or "" */
};

typedef void	 (*location_fn)(void *arg, const struct location *pl);

void		 locations_each(struct unwinder *u, const struct frame *f,
		    location_fn fn, void *arg);

/* jit.c */
const char	*jit_name(struct target *t, uint64_t pc, uint64_t *start);
void		 jit_close(struct target *t);

/* demangle.c */
const char	*demangle(const char *name);

/* waits.c */
void		 wait_find(struct unwinder *u, struct stack *st);

/* failure.c */
void		 failure_begin(void);
void		 failure_blame(uint64_t pid);

/* memory.c */
void		 memory_limit(void);
void		 memory_check(void);

/* threads.c */
int		 threads_sort(struct unwinder *u);
const struct stack *thread_find(const struct unwinder *u,
		    const struct threadkey *k, uint64_t key);

/* fatal.c */
void		 fatal_find(struct stack *st);
void		 fatal_name(const struct stack *st, char *s, size_t size);

/* group.c */
void		 stacks_group(struct stack *st, size_t n, bool all);

/* process.c */
struct asked {			/* options given on the command line */
	bool		 all;	/* print threads with the same stack one by
				   one */
	bool		 locals; /* print local variables of Python */
	bool		 folded;
	bool		 json;
	uint64_t	 tid;	/* print only this thread; UINT64_MAX: all */
	uint64_t	 timeout; /* seconds to wait for file servers; 0: the
				     default */
};

struct process {
	struct target	 t;
	struct unwinder	 u;
};

int		 process_gather(struct process *ps, struct snap *s,
		    struct proc *p, const struct asked *asked, bool keep);
void		 process_print(struct process *ps, const struct asked *asked,
		    const char *path);
void		 process_close(struct process *ps);

/* living.c */
struct living {			/* captured live processes, kept until the
				   program exits */
	struct live	*live;	/* owned */
	struct snap	*snap;	/* owned */
	struct process	*ps;	/* owned */
	size_t		 n;
};

int		 living_take(struct living *l, const struct sources *src,
		    const struct asked *asked);

/* print.c */
void		 print_process(struct unwinder *u, bool all);

/* objects.c */
void		 objects_process(struct unwinder *u, const char *path);

/* folded.c */
void		 folded_process(struct unwinder *u);

#endif
