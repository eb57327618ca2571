/*
 * The parts of a tracer (trace.h): perf_event_open(2) and the tracepoints of
 * the kernel.
 */
#ifndef PERF_H
#define PERF_H

#include "trace.h"

/*
 * perfrec.c: parse records of a ring.
 */
enum perfrec_type {		/* record types of linux/perf_event.h */
	PERFREC_LOST = 2,
	PERFREC_COMM = 3,
	PERFREC_EXIT = 4,
	PERFREC_FORK = 7,
	PERFREC_SAMPLE = 9,
	PERFREC_MMAP2 = 10,
	PERFREC_LOSTSAMPLES = 13
};

enum { PERFREC_EXEC = 1 << 13 }; /* flag in the field "misc" of a COMM record:
				    the cause is execve(2) */

int		 perfrec_parse(struct perfrec *r, const uint8_t *p, size_t len);
uint64_t	 perfrec_time(const uint8_t *p, size_t len);
int		 ring_copy(struct buf *out, const uint8_t *data, size_t size,
		    uint64_t tail, uint64_t head);

/*
 * perfrec.c: sort records of several rings by time.
 */
struct perfslot {
	uint64_t	 time;
	size_t		 at;	/* byte offset in perforder.bytes */
};

struct perforder {		/* records to sort; zeroed before use */
	struct buf	 bytes;	/* complete records; the contents of rings are
				   appended here */
	size_t		 seen;	/* number of bytes whose records already have
				   slots */
	struct perfslot	*slot;	/* owned */
	size_t		 n;
};

int		 order_note(struct perforder *o);
int		 order_split(struct perforder *o, uint64_t until,
		    struct perforder *old);
void		 order_free(struct perforder *o);

/*
 * tracefs.c: read the format of tracepoints.
 */
struct tpfield {		/* position of a field in the data of a
				   tracepoint */
	size_t		 off;	/* byte offset in the raw data */
	size_t		 size;	/* size in bytes; 0: the tracepoint has no such
				   field */
	bool		 sign;
	bool		 loc;	/* __data_loc: the field has the offset and
				   length of a string */
};

int		 tracefs_open(void);
int		 format_id(const char *text, uint64_t *id);
int		 format_field(const char *text, const char *name,
		    struct tpfield *f);
uint64_t	 field_get(const struct tpfield *f, const uint8_t *raw,
		    size_t len, size_t i);
void		 field_string(const struct tpfield *f, const uint8_t *raw,
		    size_t len, char *out, size_t size);

/*
 * tpflags.c: names of flags in the format of tracepoints.
 */
enum { TPFLAGS = 64 };

struct tpflag {
	uint64_t	 value;	/* one or more bits */
	char		 name[32];
};

struct tpflags {		/* zeroed before use; owns nothing */
	struct tpflag	 v[TPFLAGS];
	size_t		 n;
};

void		 tpflags_parse(struct tpflags *f, const char *text);

/*
 * tracefs.c: the tracepoints that a tracer requests.
 */
struct tracepoint {		/* a tracepoint to request */
	const char	*event;	/* name, as SUBSYSTEM/NAME */
	const char	*filter; /* filter expression, or NULL */
	const char	*field[TRACE_ARGS];
	bool		 slab;	/* used only if kernel allocations are traced */
};

extern const struct tracepoint tracepoints[TRACE_EVENTS];

struct tpformat {		/* format of a tracepoint, from tracefs */
	uint64_t	 id;
	struct tpfield	 field[TRACE_ARGS];
	struct tpflags	 flags;
	bool		 known;
};

#define TRACE_POINT TRACE_USER	/* the first kind that is a tracepoint */

int		 tracepoint_load(struct tpformat *f, enum trace_kind kind,
		    int dir);
void		 tracepoint_decode(struct trace *t, const struct tpformat *f);

/*
 * threadset.c: the traced threads, and whose events count for each.
 */
RB_HEAD(threadset, member);	/* zeroed before use */

int		 threadset_add(struct threadset *s, pid_t tid, pid_t owner);
pid_t		 threadset_owner(struct threadset *s, pid_t tid);
bool		 threadset_counts(struct threadset *s, pid_t thread, pid_t tid,
		    enum trace_kind kind, uint64_t time);
void		 threadset_drop(struct threadset *s, pid_t tid);
void		 threadset_free(struct threadset *s);

/*
 * perfevent.c: open perf events and read their rings.
 */
struct perflevel {		/* events that the kernel permits us to trace */
	bool	 user_only; /* events within system calls are not permitted */
	bool	 counts_lost;	/* PERF_FORMAT_LOST is supported */
	bool	 has[TRACE_EVENTS];
	int	 tracefs;	/* errno if tracefs is not available, else 0 */
	int	 denied; /* errno if tracepoints are not permitted, else 0 */
	struct tpformat	 format[TRACE_EVENTS];
	/* owned; an unused event of our own process, or -1. It is kept open
	   because the kernel takes long to close the last event of a
	   tracepoint */
	int	 probe[TRACE_EVENTS];
};

struct ring {			/* ring buffer of one processor */
	int		 cpu;
	int		 fd;	/* borrowed; the event that the ring was
				   mapped from, or -1 */
	void		*map;	/* owned; NULL: not mapped yet */
	size_t		 size;	/* size of the data in bytes */
};

int		 perflevel_find(struct perflevel *l, bool slab);
void		 perflevel_lacks(const struct perflevel *l, bool slab, char *s,
		    size_t size);
void		 perflevel_free(struct perflevel *l);
int		 perfevent_open(const struct perflevel *l, enum trace_kind kind,
		    pid_t tid, int cpu, bool on_exec);
int		 rings_online(struct ring **ring, size_t *n);
int		 ring_attach(struct ring *r, int fd, size_t size);
int		 ring_drain(struct ring *r, struct buf *b);
void		 ring_free(struct ring *r);

#endif
