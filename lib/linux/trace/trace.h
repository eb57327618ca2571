/*
 * Events of live processes as they happen: perf_event_open(2) and the
 * tracepoints of the kernel.
 */
#ifndef TRACE_H
#define TRACE_H

#include "snap.h"

/*
 * Records of a ring: perfrec.c
 */
enum perfrec_type {		/* linux/perf_event.h */
	PERFREC_LOST = 2,
	PERFREC_COMM = 3,
	PERFREC_EXIT = 4,
	PERFREC_FORK = 7,
	PERFREC_SAMPLE = 9,
	PERFREC_MMAP2 = 10,
	PERFREC_LOSTSAMPLES = 13
};

enum { PERFREC_EXEC = 1 << 13 }; /* misc of COMM: by execve(2) */

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

int		 perfrec_parse(struct perfrec *, const uint8_t *, size_t);
uint64_t	 perfrec_time(const uint8_t *, size_t);
int		 ring_copy(struct buf *, const uint8_t *, size_t, uint64_t,
		    uint64_t);

/*
 * Records of several rings in the order of their times: perforder.c
 */
struct perfslot {
	uint64_t	 time;
	size_t		 at;	/* in bytes of the buffer */
};

struct perforder {		/* zeroed before use */
	struct buf	 bytes;	/* whole records; a ring is copied to it */
	size_t		 seen;	/* of bytes; those behind have no slot yet */
	struct perfslot	*slot;	/* owned */
	size_t		 n;
	size_t		 cap;
};

int		 order_note(struct perforder *);
int		 order_split(struct perforder *, uint64_t, struct perforder *);
void		 order_free(struct perforder *);

/*
 * Tracepoints: tracefs.c
 */
struct tpfield {		/* where a field of a tracepoint is */
	size_t		 off;	/* bytes from the raw data */
	size_t		 size;	/* 0: it has no such field */
	bool		 sign;
	bool		 loc;	/* __data_loc: it tells where the string is */
};

int		 tracefs_open(void);
int		 tracefs_read(int, const char *, struct buf *);
int		 format_id(const char *, uint64_t *);
int		 format_field(const char *, const char *, struct tpfield *);
uint64_t	 field_get(const struct tpfield *, const uint8_t *, size_t,
		    size_t);
void		 field_string(const struct tpfield *, const uint8_t *, size_t,
		    char *, size_t);

/*
 * Names of flags, as tracepoints have them: tpflags.c
 */
enum { TPFLAGS = 64 };

struct tpflag {
	uint64_t	 value;	/* of one bit or several */
	char		 name[32];
};

struct tpflags {		/* zeroed before use; nothing is owned */
	struct tpflag	 v[TPFLAGS];
	size_t		 n;
};

void		 tpflags_parse(struct tpflags *, const char *);
const char	*tpflags_string(const struct tpflags *, uint64_t, char *,
		    size_t);

/*
 * Symbols of the kernel: kallsyms.c
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

int		 ksyms_load(struct ksyms *, const char *);
const struct ksym *ksyms_find(const struct ksyms *, uint64_t);
void		 ksyms_free(struct ksyms *);

/*
 * What happens to threads: tracer.c, and tracepoint.c for what their
 * tracepoints are
 */
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

struct trace {
	enum trace_kind	 kind;
	uint64_t	 arg[TRACE_ARGS];
	char		 name[64]; /* CACHEALLOC, CACHEFREE */
	const struct tpflags *flags; /* borrowed: names of those in args; NULL
				   if it is no tracepoint */
	const struct perfrec *rec; /* borrowed */
};

typedef int	(*trace_fn)(void *, const struct trace *);

struct tracepoint {		/* one that is asked for */
	const char	*event;	/* SUBSYSTEM/NAME */
	const char	*filter; /* or NULL */
	const char	*field[TRACE_ARGS];
	bool		 slab;	/* only with allocations of the kernel */
};

extern const struct tracepoint tracepoints[TRACE_EVENTS];

struct tpformat {		/* what tracefs tells of it */
	uint64_t	 id;
	struct tpfield	 field[TRACE_ARGS];
	struct tpflags	 flags;
	bool		 known;
};

#define TRACE_POINT TRACE_USER	/* the first that is one */

int		 tracepoint_load(struct tpformat *, enum trace_kind, int);
void		 tracepoint_decode(struct trace *, const struct tpformat *);

/*
 * What threads there are, and as whose child each is traced: threadset.c
 */
struct threadset;

struct threadset *threadset_new(void);
int		 threadset_add(struct threadset *, pid_t, pid_t);
pid_t		 threadset_owner(struct threadset *, pid_t);
bool		 threadset_counts(struct threadset *, pid_t, pid_t,
		    enum trace_kind, uint64_t);
void		 threadset_drop(struct threadset *, pid_t);
void		 threadset_free(struct threadset *);

/*
 * Perf events: perfevent.c
 */
struct perflevel {		/* what the kernel lets us have */
	bool	 user_only;	/* nothing that happens in system calls */
	bool	 counts_lost;	/* PERF_FORMAT_LOST */
	bool	 has[TRACE_EVENTS];
	int	 tracefs;	/* errno, where there is none; else 0 */
	int	 denied;	/* errno, where tracepoints cannot be had */
	struct tpformat	 format[TRACE_EVENTS];
	int	 probe[TRACE_EVENTS]; /* owned; -1, or of ourselves, unused: the
				   kernel takes long to end the last event of
				   a tracepoint */
};

struct ring {			/* one processor's */
	int		 cpu;
	int		 fd;	/* borrowed; an event that has it, or -1 */
	void		*map;	/* owned; NULL: none yet */
	size_t		 size;	/* of the data, bytes */
};

int		 perflevel_find(struct perflevel *, bool);
void		 perflevel_lacks(const struct perflevel *, bool, char *,
		    size_t);
void		 perflevel_free(struct perflevel *);
int		 perfevent_open(const struct perflevel *, enum trace_kind,
		    pid_t, int, bool);
int		 rings_online(struct ring **, size_t *);
int		 ring_attach(struct ring *, int, size_t);
int		 ring_drain(struct ring *, struct buf *);
void		 ring_free(struct ring *);

struct tracer;

struct tracer	*tracer_new(bool);
int		 tracer_add(struct tracer *, pid_t, bool);
int		 tracer_addprocess(struct tracer *, pid_t);
void		 tracer_lacks(const struct tracer *, char *, size_t);
bool		 tracer_has(const struct tracer *, enum trace_kind);
int		 tracer_wait(struct tracer *, int);
void		 tracer_stop(struct tracer *);
int		 tracer_read(struct tracer *, bool, trace_fn, void *);
uint64_t	 tracer_lost(const struct tracer *);
void		 tracer_free(struct tracer *);

#endif
