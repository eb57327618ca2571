/*
 * System calls that threads wait in: waits.c (which, and for what), calls.c
 * (their names), descriptors.c (what they are asked for).
 */
#ifndef WAITS_H
#define WAITS_H

#include "snapstack/snapstack.h"

struct call {			/* that a thread is in */
	struct unwinder	*u;	/* borrowed, as the next */
	const struct stack *st;
	const char	*name;
	uint64_t	 arg[6];
	uint64_t	 futex;	/* at which it waits, or 0 */
	struct buf	*b;	/* what is told of it */
	size_t		 bare;	/* how much of that comes before times; 0: there
				   are none */
};

/* calls.c */
const char	*call_name(uint16_t machine, int64_t nr);

/* descriptors.c */
void		 put_seconds(struct call *c, const char *word, uint64_t s,
		    uint64_t ns);
void		 put_descriptor(struct call *c, int fd);
void		 put_poll(struct call *c);
void		 put_select(struct call *c);
void		 put_oldselect(struct call *c);

#endif
