/*
 * Trace page faults, mappings and allocations of live processes as they happen,
 * for vmtrace(1).
 */
#ifndef TRACE_H
#define TRACE_H

#include "library.h"

struct perfrec {		/* parsed perf record; pointers are borrowed */
	uint32_t	 type;	/* enum perfrec_type, or an unknown type */
	uint32_t	 misc;
	uint64_t	 id; /* number of the event that the record is about */
	uint64_t	 time;	/* time in nanoseconds of CLOCK_MONOTONIC */
	uint32_t	 pid; /* process in whose context the event happened */
	uint32_t	 tid;
	uint64_t	 ip;	/* SAMPLE: address of the instruction */
	uint64_t	 addr;	/* SAMPLE: address accessed; MMAP2: start of
				   the mapping */
	const uint8_t	*raw;	/* SAMPLE of a tracepoint: its data; or NULL */
	size_t		 rawlen;
	uint64_t	 len; /* MMAP2: length in bytes */
	uint64_t	 off;
	uint32_t	 major;
	uint32_t	 minor;
	uint64_t	 ino;
	uint32_t	 prot;	/* MMAP2: PROT_READ and others */
	uint32_t	 flags;	/* MMAP2: MAP_SHARED and others */
	const char	*name;	/* MMAP2, COMM: NUL-terminated */
	uint32_t	 child;	/* FORK, EXIT: process created or ended */
	uint32_t	 ctid;
	uint32_t	 parent; /* FORK, EXIT: parent of process "child" */
	uint64_t	 lost;	/* LOST, LOSTSAMPLES: number of lost events */
};

enum trace_kind {		/* kinds of events, with their arguments */
	TRACE_MINOR,		/* page fault handled without I/O */
	TRACE_MAJOR,
	TRACE_FAULT, /* a page fault began; used if there is no tracepoint */
	TRACE_USER,		/* fault in user mode: address, instruction,
				   x86 error code */
	TRACE_KERNEL, /* fault in kernel mode: arguments as for USER */
	TRACE_SIGNAL,		/* SIGBUS or SIGSEGV: number, code */
	TRACE_CALL, /* a system call: its number and six arguments */
	TRACE_RETURN, /* a system call returned: its number and result */
	TRACE_PAGEALLOC,	/* args: frame, order, gfp flags */
	TRACE_PAGEFREE,		/* args: frame, order */
	TRACE_PAGEFREES,	/* args: frame */
	TRACE_KMALLOC,		/* args: call site, address, bytes requested,
				   bytes allocated, gfp flags */
	TRACE_KFREE,		/* args: call site, address */
	TRACE_CACHEALLOC, /* args as for KMALLOC; "name" is that of the slab
			     cache */
	TRACE_CACHEFREE,	/* args as for KFREE; "name" is that of the slab
				   cache */
	TRACE_EVENTS,		/* number of kinds that are perf events */
	TRACE_MMAP = TRACE_EVENTS, /* mapping created; its range includes
				      merged neighbors */
	TRACE_COMM,
	TRACE_EXEC,		/* execve(2): the address space is new */
	TRACE_FORK,
	TRACE_EXIT,		/* a thread ended */
	TRACE_LOST		/* events were lost */
};

enum { TRACE_ARGS = 7 };

struct tpflags;

struct trace {
	enum trace_kind	 kind;
	uint64_t	 arg[TRACE_ARGS];
	char		 name[64]; /* CACHEALLOC, CACHEFREE: name of the slab
				      cache */
	const struct tpflags *flags; /* borrowed; names of flags in args;
					NULL: not a tracepoint */
	const struct perfrec *rec; /* borrowed */
};

typedef int	(*trace_fn)(void *arg, const struct trace *t);

/*
 * Trace threads: linux/observe/tracer.c
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
 * Look at a process before it is traced: linux/observe/livespace.c
 */
pid_t		 traced_process(pid_t tid);

/*
 * Names of flags from a tracepoint's format: linux/observe/tpflags.c
 */
const char	*tpflags_string(const struct tpflags *f, uint64_t flags,
		    char *s, size_t size);

/*
 * Kernel symbols: linux/observe/kallsyms.c
 */
struct ksym {
	uint64_t	 addr;
	const char	*name;	/* borrowed; points into the text of struct
				   ksyms */
};

struct ksyms {			/* must be zeroed before first use */
	char		*text;	/* owned */
	struct ksym	*sym;	/* owned; sorted by address */
	size_t		 n;
};

int		 ksyms_load(struct ksyms *k, const char *path);
const struct ksym *ksyms_find(const struct ksyms *k, uint64_t addr);
void		 ksyms_free(struct ksyms *k);

/*
 * Symbols of ELF files: elf/symbols.c
 */
struct elfsyms;

struct elfsyms	*elfsyms_open(const char *path, uint64_t ino);
const char	*elfsyms_find(const struct elfsyms *s, uint64_t off,
		    uint64_t *into);
void		 elfsyms_free(struct elfsyms *s);

#endif
