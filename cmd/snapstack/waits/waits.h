/*
 * System calls in which threads wait: waits.c (what a thread waits for),
 * calls.c (names), descriptors.c (descriptors).
 */
#ifndef WAITS_H
#define WAITS_H

#include "snapstack/snapstack.h"

struct call {			/* the system call that a thread is in */
	struct unwinder	*u;	/* borrowed */
	const struct stack *st;	/* borrowed */
	const char	*name;
	uint64_t	 arg[6];
	uint64_t	 futex;	/* address of the futex that the thread waits
				   for, or 0 */
	struct buf	*b;	/* description of the wait */
	size_t		 bare;	/* length of the description up to the timeout,
				   which ends it; 0: it has no timeout */
};

/* calls.c */
const char	*call_name(uint16_t machine, int64_t nr);

/* descriptors.c */
void		 put_descriptor(struct call *c, int fd);
void		 put_poll(struct call *c);
void		 put_select(struct call *c);
void		 put_oldselect(struct call *c);

#endif
