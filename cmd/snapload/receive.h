/*
 * Declarations shared by the files that receive a move.
 */
#ifndef RECEIVE_H
#define RECEIVE_H

#include "common/common.h"

#include <signal.h>

/* signals that ask us to end */
static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

/* option of criu restore: processes run before all their memory is there */
#define LAZY " --lazy-pages"

/* make images in a directory; the second argument is criuopts.lazy */
typedef int	(*make_fn)(const char *, bool);

struct receiving {		/* a move that is received */
	const char	*dir;	/* directory of the images */
	int		 fd;	/* owned; descriptor of this directory */
	uint8_t		*data;	/* owned; buffer of MAX_FRAME bytes for a
				   frame */
	/* ends of two pipes; the action script opens the other ends */
	int		 said;	/* read end of the pipe by which the action
				   script says that it has begun */
	int		 go;	/* write end of the pipe by which the action
				   script is told to exit */
	pid_t		 criu;	/* 0: criu was not started, or its end was
				   noticed */
	bool		 canlazy; /* criu and the kernel support LAZY */
	pid_t		 lazy;	/* criu lazy-pages; 0: not started, or its end
				   was noticed */
	int		 null;	/* descriptor of /dev/null */
	bool		 stdnull; /* standard streams that criu replaces become
				     /dev/null */
};

enum outcome {
	RUNNING,	/* the processes run */
	UNDONE,		/* the processes executed nothing, and are gone */
	KILLED,		/* the processes may have run, and are gone */
	UNKNOWN		/* the processes may have run */
};

/* answer.c */
void		 answer(const char *line);
void		*beat(void *arg);
void		 refuse(enum outcome end);

/* children.c */
int		 child_wait(pid_t pid);
void		 rest_begin(void);
void		 rest_kill(void);

/* question.c */
int		 question_check(struct receiving *r);

/* receive.c */
int		 receive(const char *dir, make_fn make, bool stdnull);

/* restore.c */
int		 receive_script(void);
enum outcome	 restore(struct receiving *r, const struct buf *command);

#endif
