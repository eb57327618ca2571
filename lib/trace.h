/*
 * Page faults, mappings and allocations of live processes as they happen: what
 * vmtrace shows.
 */
#ifndef TRACE_H
#define TRACE_H

#include "snap.h"

struct perfrec {		/* a record taken apart; it borrows */
	uint32_t	 type;	/* of enum perfrec_type, or another */
	uint32_t	 misc;
	uint64_t	 id;	/* of the event that made it */
	uint64_t	 time;	/* ns of CLOCK_MONOTONIC */
	uint32_t	 pid;	/* in whose context */
	uint32_t	 tid;
	uint64_t	 ip;	/* SAMPLE: the instruction */
	uint64_t	 addr;	/* SAMPLE, MMAP2 */
	const uint8_t	*raw;	/* SAMPLE of a tracepoint, or NULL */
	size_t		 rawlen;
	uint64_t	 len;	/* MMAP2: bytes; and so on */
	uint64_t	 off;
	uint32_t	 major;
	uint32_t	 minor;
	uint64_t	 ino;
	uint32_t	 prot;	/* PROT_READ and others */
	uint32_t	 flags;	/* MAP_SHARED and others */
	const char	*name;	/* MMAP2, COMM: ends in NUL */
	uint32_t	 child;	/* FORK, EXIT: process and thread, and */
	uint32_t	 ctid;
	uint32_t	 parent; /* those it comes from */
	uint32_t	 ptid;
	uint64_t	 lost;	/* LOST, LOSTSAMPLES: events */
};

enum trace_kind {		/* what the args are */
	TRACE_MINOR,		/* handled without input and output */
	TRACE_MAJOR,
	TRACE_FAULT,		/* begun; told if there is no tracepoint */
	TRACE_USER,		/* address, instruction, error code of x86 */
	TRACE_KERNEL,		/* the same, in a system call */
	TRACE_SIGNAL,		/* number, code; SIGBUS or SIGSEGV */
	TRACE_CALL,		/* system call: its number, six arguments */
	TRACE_RETURN,		/* its number, what it returns */
	TRACE_PAGEALLOC,	/* frame, order, gfp flags */
	TRACE_PAGEFREE,		/* frame, order */
	TRACE_PAGEFREES,	/* frame */
	TRACE_KMALLOC,		/* call site, address, asked, got, gfp */
	TRACE_KFREE,		/* call site, address */
	TRACE_CACHEALLOC,	/* call site, address, asked, got, gfp, name */
	TRACE_CACHEFREE,	/* call site, address, name */
	TRACE_EVENTS,		/* those above are perf events */
	TRACE_MMAP = TRACE_EVENTS, /* a mapping; with those next to it */
	TRACE_COMM,
	TRACE_EXEC,		/* the memory is new */
	TRACE_FORK,
	TRACE_EXIT,		/* of a thread */
	TRACE_LOST		/* events, from here to there */
};

enum { TRACE_ARGS = 7 };

struct tpflags;

struct trace {
	enum trace_kind	 kind;
	uint64_t	 arg[TRACE_ARGS];
	char		 name[64]; /* CACHEALLOC, CACHEFREE */
	const struct tpflags *flags; /* borrowed: names of those in args; NULL
				   if it is no tracepoint */
	const struct perfrec *rec; /* borrowed */
};

typedef int	(*trace_fn)(void *arg, const struct trace *t);

/*
 * A tracer of threads: linux/observe/tracer.c
 */
struct tracer;

struct tracer	*tracer_new(bool slab);
int		 tracer_add(struct tracer *t, pid_t tid, bool on_exec);
int		 tracer_addprocess(struct tracer *t, pid_t pid);
void		 tracer_lacks(const struct tracer *t, char *s, size_t size);
int		 tracer_wait(struct tracer *t, int ms);
void		 tracer_stop(struct tracer *t);
int		 tracer_read(struct tracer *t, bool all, trace_fn fn,
		    void *arg);
uint64_t	 tracer_lost(const struct tracer *t);
void		 tracer_free(struct tracer *t);

/*
 * To look at a process before it is traced: linux/observe/livespace.c
 */
pid_t		 traced_process(pid_t tid);
int		 traced_maps(pid_t pid, struct vmas *l);

/*
 * The names of flags, as a tracepoint tells them: linux/observe/tpflags.c
 */
const char	*tpflags_string(const struct tpflags *f, uint64_t flags,
		    char *s, size_t size);

/*
 * Symbols of the kernel: linux/observe/kallsyms.c
 */
struct ksym {
	uint64_t	 addr;
	const char	*name;	/* borrowed from the text */
};

struct ksyms {			/* zeroed before use */
	char		*text;	/* owned */
	struct ksym	*sym;	/* owned; ascending */
	size_t		 n;
};

int		 ksyms_load(struct ksyms *k, const char *path);
const struct ksym *ksyms_find(const struct ksyms *k, uint64_t addr);
void		 ksyms_free(struct ksyms *k);

/*
 * Names of what is in an ELF file: elf/symbols.c
 */
struct elfsyms;

struct elfsyms	*elfsyms_open(const char *path, uint64_t ino);
const char	*elfsyms_find(const struct elfsyms *s, uint64_t off,
		    uint64_t *into);
void		 elfsyms_free(struct elfsyms *s);

#endif
