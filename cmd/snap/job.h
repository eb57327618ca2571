/*
 * What the files of snap share.
 */
#ifndef JOB_H
#define JOB_H

#include "common/common.h"

#include <time.h>

enum { MAX_NOTE = 1000 };	/* bytes of -m */

struct move {			/* processes that are to go on elsewhere */
	bool	 kill;		/* they end when the snapshot is written */
	bool	 dry;		/* only tell what hinders that */
	bool	 force;		/* in spite of what hinders */
};

struct job {			/* what the command line asks for */
	struct liveopts	 live;
	bool		 stop;	/* they stay stopped until all is written */
	bool		 core;	/* standard input is the core that dumps
				   writes */
	pid_t		 dumps;	/* a process that dumps core */
	uint64_t	 most;	/* bytes of its memory; 0: all */
	struct sources	 who;	/* live processes; not that one */
	struct move	 move;
	struct exclude	*exclude; /* secrets that are left out, or NULL */
	const char	*note;	/* why it is taken, or NULL */
	struct buf	 taken;	/* how: the file of that name in the record */
	time_t		 at;	/* when; 0: now */
	const char	*path;	/* of the output; NULL: the standard one */
	bool		 compress;
};

struct taking {			/* what is done of it */
	const struct job *job;
	struct live	*live;
	struct snap	*snap;
	struct output	*out;	/* NULL: there is none, or none any more */
	bool		 again;	/* it fails where a clone is killed */
	bool		 told;	/* that there are no registers */
	bool		 noted;	/* the first process has job->taken */
	atomic_bool	 incomplete; /* something is missing: exit 1 */
};

/* at.c: the time of day at which a snapshot is taken */
int		 at_parse(time_t *at, const char *s);
void		 at_wait(time_t at);

/* command.c: the command line */
void		 job_free(struct job *j);
struct job	*job_parse(int argc, char *argv[]);

/* leave.c: what is left out where there is not room for all */
void		 leave_choose(struct live *l, pid_t pid, uint64_t most,
		    struct exclude *x);

/* message.c: messages that wait until processes run again */
void		 say(void *arg, const char *text);
void		 say_hold(void);
void		 say_kept(bool drop);
int		 say_totals(const struct snap *s, struct output *out);

/* move.c: processes that are killed when their snapshot is someone's */
int		 move_ready(const struct move *m, const struct output *out);
int		 move_check(const struct move *m, struct live *l,
		    struct snap *s, const struct output *out,
		    void (*warn)(void *, const char *));
int		 move_end(struct live *l, struct output **out);

/* note.c: who took a snapshot, when, on which host, how and why: snap(6) */
const char	*note_check(const char *text);
void		 note_make(struct buf *b, char *const argv[],
		    const char *text);

/* take.c: what a snapshot has of a process beside its memory */
int		 take(void *taking, struct proc *p, const struct task *t,
		    const struct file *rec, size_t n);
void		 take_lose(void *taking, const char *text);

#endif
