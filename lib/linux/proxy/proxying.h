/*
 * What the files of the proxy share.
 */
#ifndef PROXYING_H
#define PROXYING_H

#include "proxy.h"

#include <pthread.h>

#define MS		((uint64_t)1000000)	/* in nanoseconds */

/*
 * A question is one message, with or without a descriptor: a proxy_fn, whose
 * address is the same in the process that was forked, and its argument.  An
 * answer is as many messages as it takes, each this and bytes.
 */
struct proxy_answer {
	int		 error;	/* an errno, and the bytes are a sentence */
	bool		 more;	/* another one follows */
	bool		 last;	/* the proxy ends */
};

struct proxies {
	pthread_mutex_t	 lock;	/* of who was left behind, or missed */
	bool		 on;
	bool		 held;	/* something is stopped */
	uint64_t	 most;	/* ns for an answer, or all of them */
	uint64_t	 left;	/* of that, while something is stopped */
};

struct lane {			/* a proxy, which one thread asks at a time */
	pthread_mutex_t	 lock;	/* of the others, and of a question */
	pid_t		 pid;	/* 0: none */
	int		 sock;
};

/* proxy.c */
extern struct proxies proxies;

void		 lane_abandon(struct lane *p);
int		 lane_fork(struct lane *p);
struct lane	*lane_of(const struct proxy_key *k);
void		 lane_unlock(struct lane *p);
void		 lanes_end(void);

#endif
