/*
 * Asking stopped processes what only they can tell: they are made to run system
 * calls, several at once.  Functions that take n of them, v, leave those in
 * which something has failed alone, and take it that no two share memory, and
 * that all signals are blocked.
 */
#ifndef ASKING_H
#define ASKING_H

#include "linux/inject/inject.h"
#include "taking.h"

#include <signal.h>

struct asking {			/* a process that is asked, or a thread */
	struct inject	*in;
	struct lproc	*proc;	/* borrowed; whose it is */
	struct filelist	*to;	/* the record that the answers go to */
	int		 rc;	/* 0; -1, with why: it is asked no more */
	char		 why[256];
	int64_t		 ret;	/* of the last call */
	struct buf	 told;	/* owned; what becomes a file */
};

enum { ASKED_MOST = 32 };

struct round {			/* processes that are asked at once */
	struct asking	 v[ASKED_MOST];
	size_t		 n;
	bool		 rest;	/* what a clone has as its process has it */
	sigset_t	 ours;	/* the mask of our signals, before */
};

/* asking.c */
void		 ask_each(struct asking *v, size_t n, long nr,
		    const uint64_t arg[6], size_t room);
bool		 asking_got(struct asking *a, void *buf, size_t len);
void		 asking_failed(struct asking *a);
int		 asking_result(const struct asking *a);
void		 asking_told(struct asking *v, size_t n, const char *name);
void		 ask_prctl(struct asking *v, size_t n, const char *name,
		    long option, size_t size, bool hex);

/* askthread.c */
void		 ask_thread(struct asking *v, size_t n);

/* askprocess.c */
void		 ask_process(struct asking *v, size_t n);
void		 ask_memory(struct asking *v, size_t n);

/* askkeys.c */
void		 ask_processkeys(struct asking *v, size_t n);
int		 ask_sessionkeys(struct asking *a);

/* rounds.c: who is asked what, by the functions above */
void		 ask_begin(struct round *r, bool rest);
void		 ask(struct live *l, struct round *r, struct lproc *p);
void		 ask_end(struct live *l, struct round *r);

#endif
