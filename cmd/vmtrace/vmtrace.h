/*
 * Declarations shared by the files of vmtrace.
 */
#ifndef VMTRACE_H
#define VMTRACE_H

#include "common/common.h"
#include "trace.h"

#include <sys/queue.h>

struct options {
	bool	 totals;	/* -s */
	bool	 kernel;	/* -k */
	struct tableopts table;	/* options for tables of totals */
	uint64_t count;		/* -n; 0: no limit */
	uint64_t ns;		/* -t; 0: no limit */
};

/*
 * line.c: print lines in the order in which their events began
 */
enum access { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE, ACCESS_EXEC,
	ACCESS_COW, ACCESSES };

enum result { RESULT_MINOR, RESULT_MAJOR, RESULT_NONE, RESULT_SEGV,
	RESULT_BUS, RESULTS };

struct line {
	TAILQ_ENTRY(line) entry;
	uint64_t	 time;	/* time of CLOCK_MONOTONIC, in nanoseconds */
	pid_t		 pid;
	pid_t		 tid;
	char		*text;	/* owned; text of the line; NULL: the line is
				   for a page fault */
	bool		 open;	/* the line is for a fault that has not ended */
	bool		 passed; /* later lines were printed before this fault
				    ended */
	uint64_t	 ns;	/* duration of the fault; 0: unknown */
	uint64_t	 addr;
	uint64_t	 ip;
	bool		 kernel; /* ip is an address in the kernel */
	enum access	 access;
	enum result	 result;
	struct vma	 where;	/* copy of the mapping at "addr"; where.name is
				   owned, and NULL if there is no mapping */
	struct vma	 code;	/* copy of the mapping at "ip"; code.name is
				   owned, and NULL if there is no mapping */
};

TAILQ_HEAD(lines, line);

RB_HEAD(rows, row);

struct tally { /* table of counts, zeroed before use; see tally.c */
	struct rows	 all;
	size_t		 n;
};

struct output_state {		/* destination of lines */
	const struct options *opts; /* borrowed */
	uint64_t	 start;	/* time in nanoseconds to which printed times
				   are relative */
	struct lines	 held;	/* lines not yet printed */
	size_t		 nheld;
	uint64_t	 faults; /* number of faults printed or counted */
	bool		 full;	/* the maximum number of faults was reached */
	struct tally	 maps;	/* totals, if opts->totals is set */
	struct tally	 code;
	struct tally	 slab;
};

struct line	*line_add(struct output_state *, uint64_t, pid_t, pid_t);
void		 line_text(struct line *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
void		 line_close(struct output_state *, struct line *, enum result,
		    uint64_t);
void		 lines_flush(struct output_state *, uint64_t);

/*
 * task.c: processes, their threads and mappings
 */
struct process {
	RB_ENTRY(process) entry;
	pid_t		 pid;
	size_t		 nthread;
	struct vmas	 map;
	uint64_t	 since;	/* time at which "map" was read, with the
				   effects of all earlier events */
	uint64_t	 brk;	/* end of the heap; 0: unknown */
	bool		 left;	/* the leader thread of the process has ended */
};

struct thread {
	RB_ENTRY(thread) entry;
	pid_t		 tid;
	struct process	*process; /* borrowed */
	struct line	*fault;	/* borrowed; open fault, or NULL */
	uint64_t	 call[TRACE_ARGS]; /* arguments of the current system
					      call */
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

/*
 * stream.c: turn events into lines; calls.c: mappings; slab.c: kernel
 * allocations
 */
struct stream {
	struct tasks	 tasks;
	struct output_state out;
	uint64_t	 last;	/* time of the latest event */
	uint64_t	 reread; /* time of the last tasks_reread() */
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
 * tally.c, total.c: counts
 */
enum { COUNTS = 8 };

struct row {
	RB_ENTRY(row)	 entry;
	pid_t		 pid;
	uint64_t	 num;	/* address, or offset in a file */
	uint64_t	 end;	/* end address, for mappings only */
	unsigned int	 flags;
	uint64_t	 ino;
	char		*name;	/* owned */
	bool		 rest;	/* the row "others", which has no key */
	uint64_t	 count[COUNTS];
};

struct row	*tally_get(struct tally *, const struct row *);
struct row	**tally_rows(const struct tally *, size_t *);

void		 total_fault(struct output_state *, const struct line *);
void		 total_slab(struct output_state *, const char *, uint64_t, bool,
		    uint64_t);
void		 total_print(struct output_state *);

/*
 * command.c: start a command
 */
struct command {
	pid_t	 pid;		/* process ID; 0: no command */
	int	 go; /* pipe: a byte written to it starts the command */
	int	 why; /* pipe: errno can be read from it if execution fails */
};

void		 command_begin(struct command *, char **);
void		 command_go(struct command *, const char *);
int		 command_end(const struct command *, const char *, bool);

/*
 * symbol.c: names of mappings and instructions
 */
const char	*vma_label(const struct vma *v);
const char	*kernel_name(uint64_t addr, char *s, size_t size);
const char	*symbol_name(const struct row *r, char *s, size_t size);

/*
 * targets.c: determine what to trace
 */
struct targets {		/* zeroed before use */
	struct sources	 sources; /* live processes */
	char		**command; /* borrowed; NULL: none */
};

int		 targets_settle(struct targets *targets, char **operand,
		    bool command);
size_t		 targets_add(const struct targets *targets, struct tracer *t,
		    struct stream *s, bool *failed);

#endif
