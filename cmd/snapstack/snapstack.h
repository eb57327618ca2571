/*
 * What the files of snapstack share: the stacks of the threads of a snapshot.
 *
 *	target.c	a process: its mappings, its memory, what it had mapped
 *	symbols/	what its code is called:
 *	  elfimage.c	ELF files of the snapshot as libelf wants them
 *	  debugfile.c	files of this machine that have a build id
 *	  fetch.c	those of debuginfod servers
 *	  modules.c	what is mapped where, for libdwfl
 *	  dynsym.c	symbols that a module has in memory
 *	  location.c	functions, source lines, what was inlined
 *	  scopes.c	functions that an address lies in
 *	  jit.c		names of code that a process made
 *	  demangle.c	names of C++ and Rust
 *	unwind/		the frames of a thread, by unwind.c:
 *	  regs.c	registers by their DWARF numbers
 *	  sigframe.c	what was interrupted by a signal
 *	  scan.c	what may be frames where nothing tells
 *	waits/		what a thread waits for: waits.h
 *	failure.c	what happens where libdw fails
 *	process.c	a process from beginning to end
 *	living.c	live processes
 *	python/		Python: python.h
 *	  merge.c	its frames in place of the interpreter's
 *	threads.c	threads by their numbers
 *	fall.c		the signal by which a thread fell
 *	show/		all that for people, as JSON, and for flame graphs:
 *			print.c, objects.c, folded.c
 *	  group.c	threads with the same stack
 */
#ifndef SNAPSTACK_H
#define SNAPSTACK_H

#include "common/common.h"

#include <elfutils/libdwfl.h>

enum {
	REGS_MAX = 32,		/* registers by DWARF numbers */
	FRAMES_MAX = 4096,	/* of a thread */
	CACHED = 64		/* blocks of memory */
};

/* target.c */
struct block {			/* a piece of memory that was read */
	uint64_t	 addr;
	unsigned int	 valid;	/* a bit each kilobyte; 0: none */
	uint8_t		 data[4 * KB];
};

struct target {			/* a process of the snapshot */
	struct snap	*snap;	/* borrowed, as the next */
	struct proc	*proc;
	struct vmas	 vma;	/* owned */
	const struct linuxrec *rec; /* of proc, which owns it */
	uint64_t	 exe_start; /* where it is, if no mapping tells; or 0 */
	char		 exe[4096]; /* the path of the executable, or "" */
	struct block	*cache;	/* owned; CACHED */
	struct block	**kept;	/* owned, and what it points to; by address */
	size_t		 nkept;
	uint64_t	 cost;	/* of reading it: look-ups, and bytes */
	bool		 live;	/* it is stopped; no file of it is read */
	bool		 left;	/* its memory is not to be had, but kept */
	struct buf	 perfmap; /* of a live one: jit.c */
	struct jit	*jit;	/* owned; NULL: not read yet */
};

int		 target_open(struct target *t, struct snap *s, struct proc *p,
		    bool live);
void		 target_close(struct target *t);
bool		 target_read(struct target *t, uint64_t addr, void *buf,
		    size_t len);
bool		 target_word(struct target *t, uint64_t addr, size_t word,
		    uint64_t *v);
bool		 target_auxv(const struct target *t, uint64_t type,
		    uint64_t *v);
void		 target_keep(struct target *t, uint64_t sp);
void		 target_leave(struct target *t);
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
		    const char *name, char **path);

/* fetch.c */
void		 fetch_begin(void);
int		 fetch_open(const void *id, size_t len, bool debug);

/* modules.c */
Dwfl		*modules_open(struct target *t);
void		 modules_use(struct target *t);
bool		 module_id(Dwfl_Module *m, char *hex, size_t size);

/* regs.c */
struct registers {
	uint64_t	 v[REGS_MAX]; /* by their DWARF numbers */
	unsigned int	 n;
	uint64_t	 pc;
	uint64_t	 sp;
	uint16_t	 machine; /* e_machine of elf(5) */
	unsigned int	 word;	/* bytes of an address */
	unsigned int	 spnum;	/* the DWARF number of the stack pointer */
	unsigned int	 fpnum;	/* and of the frame pointer */
	int64_t		 call;	/* a system call that it is in, or -1 */
	uint64_t	 arg[6]; /* its arguments */
};

bool		 registers_get(struct registers *r, struct proc *thread,
		    const char *cputype);

/* unwind.c */
struct frame {
	uint64_t	 pc;
	uint64_t	 sp;	/* 0: not known */
	bool		 exact;	/* pc is of the instruction that is next, not
				   behind a call */
	bool		 signal; /* the kernel made it to run a handler */
	bool		 guess;	/* found by a scan of the stack */
	const struct pyframe *python; /* of the stack's; Python code that this
				   frame interprets, the innermost first */
	size_t		 npython;
	bool		 within; /* it is the interpreter's, between such */
};

struct pyframe {		/* a frame of Python code */
	char		*function; /* owned, as the next */
	char		*file;
	int64_t		 line;	/* 0: not known */
	bool		 entry;	/* it was called from C */
	uint64_t	 call;	/* where on the stack the innermost call of its
				   interpreter is, or 0 */
	struct pylocal	*local;	/* owned; if they are asked for */
	size_t		 nlocal;
};

struct pylocal {		/* a local variable */
	char		*name;	/* owned, as the next */
	char		*value;	/* as far as it can be told */
};

enum gil {			/* the global interpreter lock */
	GIL_NONE, GIL_HELD, GIL_WANTED
};

struct stack {			/* of a thread */
	struct proc	*thread; /* borrowed */
	uint64_t	 tid;
	uint64_t	 inner;	/* in its own PID namespace */
	uint64_t	 clears; /* an address, when it ends; or 0 */
	uint64_t	 robust; /* its list: get_robust_list(2); or 0 */
	char		 comm[64];
	char		 state[16]; /* in the words of status; "": not told */
	struct registers regs;	/* n is 0: not known */
	struct frame	*frame;	/* owned; the innermost first */
	size_t		 n;
	bool		 whole;	/* the last frame is the outermost */
	char		*why;	/* owned; why it is not; or NULL */
	char		*wait;	/* owned; what it waits for, or NULL */
	size_t		 bare;	/* how much of that comes before times */
	unsigned int	 signal; /* it fell by it, or 0 */
	bool		 faulted; /* by what it did at an address: */
	uint64_t	 fault;
	uint64_t	 futex;	/* at which it waits, or 0 */
	struct pyframe	*python; /* owned; all of them */
	size_t		 npython;
	bool		 merged; /* they are told with the frames */
	uint64_t	 interpreter; /* of Python: 0 is the main one */
	enum gil	 gil;
	bool		 collects; /* its garbage is being collected */
	size_t		 same;	/* the number of the first one like it */
};

struct threadkey {		/* what a thread is found by */
	uint64_t	 key;
	size_t		 nth;	/* of the stacks */
};

struct unwinder {
	struct target	*target; /* borrowed */
	Dwfl		*dwfl;	/* owned */
	Elf		*head;	/* owned; names the machine */
	struct stack	*stack;	/* owned; of all threads */
	size_t		 n;
	struct threadkey *inner; /* owned, as the next; n of them, sorted */
	struct threadkey *clears;
	bool		 locals; /* variables of Python are asked for, */
	const char	*nolocals; /* and why there are none; or NULL */
	struct registers now;	/* of the thread that is unwound */
	bool		 unread; /* memory that its frame takes is missing */
};

int		 unwinder_open(struct unwinder *u);
void		 unwinder_close(struct unwinder *u);
void		 stack_free(struct stack *st);
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
size_t		 scopes_find(const Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die *in,
		    size_t most);

/* location.c */
struct location {
	const char	*function; /* borrowed; NULL: not known */
	uint64_t	 offset; /* from its beginning */
	const char	*file;	/* borrowed; of the source, or NULL */
	int		 line;
	bool		 inlined; /* into the next one */
	bool		 jit;	/* the process made it, and told the name */
	const char	*module; /* borrowed; what is mapped there, or NULL */
	char		 id[130]; /* its build id, or "" */
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
void		 failure_of(uint64_t pid);

/* threads.c */
int		 threads_sort(struct unwinder *u);
const struct stack *thread_find(const struct unwinder *u,
		    const struct threadkey *k, uint64_t key);

/* fall.c */
void		 fall_find(struct stack *st);
void		 fall_name(const struct stack *st, char *s, size_t size);

/* group.c */
void		 stacks_group(struct stack *st, size_t n, bool all);

/* process.c */
struct asked {			/* on the command line */
	bool		 all;	/* threads with the same stack, too */
	bool		 locals; /* variables of Python */
	bool		 folded;
	bool		 json;
	uint64_t	 tid;	/* only this thread; UINT64_MAX: all */
	uint64_t	 timeout; /* seconds, for file servers; 0: as usual */
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
struct living {			/* live processes, until the program ends */
	struct live	*live;	/* owned, as the others */
	struct snap	*snap;
	struct process	*ps;
	size_t		 n;
};

int		 living_take(struct living *l, const struct sources *from,
		    const struct asked *asked);

/* print.c */
void		 print_process(struct unwinder *u, bool all);

/* objects.c */
void		 objects_process(struct unwinder *u, const char *path);

/* folded.c */
void		 folded_process(struct unwinder *u);

#endif
