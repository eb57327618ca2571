/*
 * What a tracer (trace.h) is made of: perf_event_open(2) and the tracepoints of
 * the kernel.
 */
#ifndef PERF_H
#define PERF_H

#include "trace.h"

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

int		 perfrec_parse(struct perfrec *r, const uint8_t *p, size_t len);
uint64_t	 perfrec_time(const uint8_t *p, size_t len);
int		 ring_copy(struct buf *out, const uint8_t *data, size_t size,
		    uint64_t tail, uint64_t head);

/*
 * Records of several rings in the order of their times: perfrec.c
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
};

int		 order_note(struct perforder *o);
int		 order_split(struct perforder *o, uint64_t until,
		    struct perforder *old);
void		 order_free(struct perforder *o);

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
int		 tracefs_read(int dir, const char *path, struct buf *b);
int		 format_id(const char *text, uint64_t *id);
int		 format_field(const char *text, const char *name,
		    struct tpfield *f);
uint64_t	 field_get(const struct tpfield *f, const uint8_t *raw,
		    size_t len, size_t i);
void		 field_string(const struct tpfield *f, const uint8_t *raw,
		    size_t len, char *out, size_t size);

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

void		 tpflags_parse(struct tpflags *f, const char *text);

/*
 * The tracepoints that a tracer asks for: tracefs.c
 */
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

int		 tracepoint_load(struct tpformat *f, enum trace_kind kind,
		    int dir);
void		 tracepoint_decode(struct trace *t, const struct tpformat *f);

/*
 * What threads there are, and as whose child each is traced: threadset.c
 */
RB_HEAD(threadset, member);	/* zeroed before use */

int		 threadset_add(struct threadset *s, pid_t tid, pid_t owner);
pid_t		 threadset_owner(struct threadset *s, pid_t tid);
bool		 threadset_counts(struct threadset *s, pid_t thread, pid_t tid,
		    enum trace_kind kind, uint64_t time);
void		 threadset_drop(struct threadset *s, pid_t tid);
void		 threadset_free(struct threadset *s);

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
