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

/*
 * The tracepoints that a tracer asks for: tracepoint.c
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

#endif
