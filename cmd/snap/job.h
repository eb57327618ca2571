/*
 * Declarations shared by the files of snap.
 */
#ifndef JOB_H
#define JOB_H

#include "common/common.h"

#include <time.h>

enum { MAX_NOTE = 1000 }; /* maximum length of the argument of -m, in bytes */

struct move {			/* options -k, -d and -f, which move
				   processes elsewhere */
	bool	 kill; /* -k: kill the processes when the snapshot is written */
	bool	 dry;		/* -d: only print what prevents restoring */
	bool	 force; /* -f: kill even if something prevents restoring */
	char	*to;	/* --to: command that restores the processes, or NULL */
};

struct job {			/* settings from the command line */
	struct liveopts	 live;
	bool		 stop;	/* -s: keep processes stopped until the snapshot
				   is written */
	bool		 core;	/* --core: standard input is a core */
	pid_t		 dumps;	/* --core: ID of the process that is dumping
				   core */
	uint64_t	 most;	/* --most: number of bytes for which there is
				   room; 0: unlimited */
	struct sources	 sources;	/* live processes to capture */
	struct move	 move;
	struct exclude	*exclude; /* owned; secrets to leave out, or NULL */
	const char	*note;	/* borrowed; reason for the snapshot (-m), or
				   NULL */
	struct buf	 taken;	/* file "taken" of the Linux record */
	time_t		 at;	/* time at which to take the snapshot; 0: now */
	const char	*path;	/* output file; NULL: standard output */
	bool		 compress;
	double		 every;	/* seconds from one moment of a series to the
				   next; 0: take one moment */
	uint64_t	 count;	/* number of moments; 0: until no process is
				   left */
};

struct sharedfile {		/* shared memory, or a file */
	uint64_t	 dev;
	uint64_t	 ino;
};

struct taking {			/* state of a snapshot being taken */
	const struct job *job;
	struct far	*far;	/* owned; runs the command of --to; NULL: --to
				   was not given */
	struct live	*live;
	struct snap	*snap;
	struct snap6	*writer; /* owned; NULL: not begun, or ended */
	struct early	*early;	/* owned; the last copy that early_copy() made,
				   or NULL */
	struct snap	**moment; /* owned; moments of a series; the last is
				     "snap" */
	size_t		 nmoment;
	struct live	*before; /* owned; the moment before, if its clones
				    still exist, or NULL */
	struct output	*out;	/* output file; NULL: not opened, or already
				   committed */
	bool		 again;	/* fail if a clone is killed, so that the
				   capture starts again without clones */
	bool		 regs_warned; /* missing registers were reported */
	bool		 noted;	/* file "taken" was added to the first
				   process */
	/* --most: */
	bool		 tight;	/* memory of the dumping process is left out */
	uint64_t	 left;	/* number of the process or file for which
				   there was no room last; 0: none */
	struct sharedfile *shared; /* owned; shared memory counted so far */
	size_t		 nshared;
	atomic_bool	 incomplete; /* something is missing from the
					snapshot: exit with 1 */
};

/* at.c: take the snapshot at a given time of day */
int		 at_parse(time_t *start, const char *s);
void		 at_wait(time_t start);

/* command.c: the command line */
struct job	*job_parse(int argc, char *argv[]);

/* early.c: copy memory to the far side while the processes run */
int		 early_copy(struct taking *k, const struct liveopts *o);
bool		 early_compare(struct proc *p, struct snap *s,
		    unsigned int nth);
int		 early_finish(struct taking *k);
const struct live *early_live(const struct taking *k);
void		 early_free(struct taking *k);

/* far.c: the command of --to, and what it answers */
enum answer { /* answers of the far side, in order of arrival */
	ANSWER_NONE,
	ANSWER_READY,		/* the processes can be received */
	ANSWER_RESTORED, /* the processes are restored but still stopped */
	ANSWER_RESUMED,		/* the processes are running */
	ANSWER_RUNNING,		/* the same, with all of their memory */
	ANSWER_FAILED		/* no further answers will come */
};

struct far;

struct far	*far_begin(const char *command);
int		 far_ask(struct far *f, struct live *l, bool early);
int		 far_await(struct far *f, enum answer answer);
int		 far_check(struct far *f);
int		 far_go(struct far *f);
bool		 far_ran(const struct far *f);
bool		 far_went(const struct far *f);
void		 far_wrap(struct far *f);
void		 far_end(struct far *f);

/* leave.c: leave out memory and processes for which there is no room */
bool		 leave_choose(struct live *l, const struct proc *p,
		    uint64_t limit, struct exclude *x);
bool		 leave_whole(struct taking *k, const struct proc *p);

/* log.c: lines that are appended to a file */
struct log;

struct log	*log_open(char *arg);
bool		 log_look(struct log *l, char *text, size_t n);
bool		 log_isover(const struct log *l);

/* message.c: hold back messages until the processes run again */
void		 say(void *arg, const char *text);
void		 say_hold(void);
void		 say_kept(bool drop);
void		 say_nothing(void *arg, const char *text);
int		 say_totals(const struct snap *s, struct output *out);

/* move.c: kill processes once their snapshot is safely stored */
int		 move_look(const struct move *m, struct live *l);
int		 move_check(const struct move *m, struct live *l,
		    struct snap *s, const struct output *out,
		    void (*warn)(void *, const char *));
int		 move_end(struct live *l, struct output **out, struct far *f);

/* note.c: who took the snapshot, when, where, how and why: snap(6) */
const char	*note_check(const char *text);
void		 note_make(struct buf *b, char *const argv[],
		    const char *text);

/* question.c: what the processes need on the far side */
int		 question_make(struct buf *b, struct live *l, bool early);

/* same.c: notice that another process has an ID */
void		 same_check(const struct words *w);

/* series.c: several moments in one file */
int		 series_take(struct taking *k, const struct liveopts *o);
void		 series_free(struct taking *k);

/* take.c: add the small files and the Linux record to each process */
int		 take(void *taking, struct proc *p, const struct task *t,
		    const struct file *rec, size_t n);
void		 take_lose(void *taking, const char *text);

/* when.c: wait until a condition is true */
void		 when_add(char *arg);
bool		 when_given(void);
int		 when_wait(const struct sources *s);

#endif
