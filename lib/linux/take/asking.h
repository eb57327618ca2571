/*
 * Asking a stopped process what only it can tell: it is made to run system
 * calls.
 */
#ifndef ASKING_H
#define ASKING_H

#include "linux/inject/inject.h"
#include "taking.h"

struct asking {			/* a process that is asked */
	struct inject	*in;
	struct filelist	*to;	/* the record that the answers go to */
};

/* asking.c */
int		 ask(struct asking *a, long nr, const uint64_t arg[6],
		    void *buf, size_t len);
int		 ask_prctl(struct asking *a, const char *name, long option,
		    size_t size, bool hex);

/* askthread.c */
int		 ask_thread(struct asking *a);

/* askprocess.c */
int		 ask_process(struct asking *a, pid_t pid);
int		 ask_memory(struct asking *a);

/* askkeys.c */
int		 ask_processkeys(struct asking *a);
int		 ask_sessionkeys(struct asking *a);

#endif
