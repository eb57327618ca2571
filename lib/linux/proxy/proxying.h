/*
 * Declarations shared by the files of the proxy.
 */
#ifndef PROXYING_H
#define PROXYING_H

#include "proxy.h"

#include <pthread.h>

#define MS		((uint64_t)1000000) /* nanoseconds per millisecond */

/*
 * A question is one message, with or without a descriptor: the address of a
 * proxy_fn, which is the same in the forked process, and its argument. An
 * answer consists of one or more messages; each has this header and bytes.
 */
struct proxy_answer {
	int		 error;	/* errno, with a message for the user in the
				   bytes that follow; 0: success */
	bool		 more;	/* another message of this answer follows */
	bool		 last;	/* the proxy exits after this answer */
};

struct proxies {
	pthread_mutex_t	 lock;	/* protects the lists of abandoned proxies
				   and of objects that blocked */
	bool		 on;
	bool		 held;	/* processes are stopped */
	uint64_t	 most;	/* time limit in ns: for one answer, or for all
				   answers during a stop */
	uint64_t	 left;	/* time left for answers during a stop, in ns */
};

struct lane {			/* a proxy; one thread at a time asks it */
	pthread_mutex_t	 lock;	/* protects the other members; held from a
				   question to its answer */
	pid_t		 pid;	/* 0: none */
	int		 sock;
};

/* proxy.c: start and end proxies */
extern struct proxies proxies;

void		 lane_abandon(struct lane *p);
int		 lane_fork(struct lane *p);
struct lane	*lane_of(const struct proxy_key *k);
void		 lane_unlock(struct lane *p);
void		 lanes_end(void);

#endif
