/*
 * vmtrace: what its files share.
 */
#ifndef VMTRACE_H
#define VMTRACE_H

#include "common/common.h"
#include "trace.h"

#include <sys/queue.h>

struct options {
	bool	 totals;	/* -c */
	bool	 kernel;	/* -k */
	struct tableopts table;	/* of totals */
	uint64_t count;		/* -n; 0: no limit */
	uint64_t ns;		/* -t; 0: no limit */
};

/*
 * Lines, in the order in which what they tell began: line.c
 */
enum access { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE, ACCESS_EXEC,
	ACCESS_COW, ACCESSES };

enum result { RESULT_MINOR, RESULT_MAJOR, RESULT_NONE, RESULT_SEGV,
	RESULT_BUS, RESULTS };

struct line {
	TAILQ_ENTRY(line) entry;
	uint64_t	 time;	/* ns of CLOCK_MONOTONIC */
	pid_t		 pid;
	pid_t		 tid;
	char		*text;	/* owned; NULL: a fault */
	bool		 open;	/* a fault that is not over */
	bool		 passed; /* while it was open others went ahead */
	uint64_t	 ns;	/* it took so long; 0: not known */
	uint64_t	 addr;
	uint64_t	 ip;
	bool		 kernel; /* ip is in the kernel */
	enum access	 access;
	enum result	 result;
	struct vma	 where;	/* the mapping at that time; name owned, NULL:
				   none */
	struct vma	 code;	/* that of the instruction, likewise */
};

TAILQ_HEAD(lines, line);

RB_HEAD(rows, row);

struct tally {			/* counts: tally.c; zeroed before use */
	struct rows	 all;
	size_t		 n;
};

struct output_state {		/* where lines go to; zeroed before use */
	const struct options *opts; /* borrowed */
	uint64_t	 start;	/* the time that is 0 */
	struct lines	 held;	/* in order */
	size_t		 nheld;
	uint64_t	 faults; /* so many were told */
	bool		 full;	/* as many as wanted */
	struct tally	 maps;	/* these: totals */
	struct tally	 code;
	struct tally	 slab;
};

void		 lines_begin(struct output_state *, const struct options *,
		    uint64_t);
struct line	*line_add(struct output_state *, uint64_t, pid_t, pid_t);
void		 line_text(struct line *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
void		 line_close(struct output_state *, struct line *, enum result,
		    uint64_t);
void		 lines_flush(struct output_state *, uint64_t);
void		 lines_heading(void);
void		 lines_end(struct output_state *);

/*
 * Processes, their threads and mappings: task.c
 */
struct process {
	RB_ENTRY(process) entry;
	pid_t		 pid;
	size_t		 nthread;
	struct vmas	 map;
	uint64_t	 since;	/* what was earlier is in map already */
	uint64_t	 brk;	/* where the heap ends; 0: not known */
	bool		 left;	/* the thread that leads it has ended */
};

struct thread {
	RB_ENTRY(thread) entry;
	pid_t		 tid;
	struct process	*process; /* borrowed */
	struct line	*fault;	/* borrowed; one that is open, or NULL */
	uint64_t	 call[TRACE_ARGS]; /* the system call it is in */
	bool		 calling;
};

RB_HEAD(processes, process);
RB_HEAD(threads, thread);

struct tasks {			/* zeroed before use */
	struct processes process;
	struct threads	 thread;
};

struct process	*process_new(struct tasks *, pid_t);
int		 process_read(struct process *);
void		 process_forget(struct process *);
struct thread	*thread_find(struct tasks *, pid_t);
struct thread	*thread_get(struct tasks *, pid_t, pid_t);
void		 thread_drop(struct tasks *, struct thread *);
void		 threads_each(struct tasks *,
		    void (*)(void *, struct thread *), void *);
void		 tasks_reread(struct tasks *);
void		 tasks_free(struct tasks *);

/*
 * What happens, as lines: stream.c; calls.c for mappings, slab.c for
 * allocations of the kernel
 */
struct stream {
	struct tasks	 tasks;
	struct output_state out;
	uint64_t	 last;	/* the latest time that was seen */
};

int		 stream_read(struct stream *, struct tracer *, bool);
void		 stream_end(struct stream *);
void		 call_begin(struct thread *, const struct trace *);
void		 call_end(struct stream *, struct thread *,
		    const struct trace *);
void		 mapping_made(struct stream *, struct thread *,
		    const struct trace *);
void		 slab_take(struct stream *, const struct trace *);

/*
 * Counts: tally.c, total.c
 */
enum { COUNTS = 8 };

struct row {
	RB_ENTRY(row)	 entry;
	pid_t		 pid;
	uint64_t	 num;	/* an address, or an offset in a file */
	uint64_t	 end;	/* of mappings */
	unsigned int	 flags;
	uint64_t	 dev;
	uint64_t	 ino;
	char		*name;	/* owned */
	uint64_t	 count[COUNTS];
};

struct row	*tally_get(struct tally *, const struct row *);
struct row	**tally_rows(const struct tally *, size_t *);
void		 tally_free(struct tally *);

void		 total_fault(struct output_state *, const struct line *);
void		 total_slab(struct output_state *, const char *, uint64_t, bool,
		    uint64_t);
void		 total_print(struct output_state *);

/*
 * A command that is started: command.c
 */
struct command {
	pid_t	 pid;		/* 0: none */
	int	 go;		/* it starts when a byte comes from here */
	int	 why;		/* errno comes from here, if it does not */
};

void		 command_begin(struct command *, char **);
void		 command_go(struct command *, const char *);
int		 command_end(const struct command *, const char *, bool);

/*
 * Names of mappings and instructions: symbol.c
 */
const char	*vma_label(const struct vma *v);
const char	*kernel_name(uint64_t addr, char *s, size_t size);
const char	*symbol_name(const struct row *r, char *s, size_t size);
void		 symbols_free(void);

/*
 * What is to be traced: targets.c
 */
struct targets {		/* zeroed before use */
	struct sources	 sources; /* live processes */
	char		**command; /* borrowed; NULL: none */
};

int		 targets_settle(struct targets *to, char **operand,
		    bool command);
size_t		 targets_add(const struct targets *to, struct tracer *t,
		    struct stream *s, bool *failed);

#endif
