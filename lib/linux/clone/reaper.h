/*
 * The reaping of clones: reaper.c.  For the guard (guard.c) alone.
 */
#ifndef REAPER_H
#define REAPER_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

struct ward {			/* a process and its clone */
	pid_t		 target;
	pid_t		 clone;	/* 0: will be made now; -1: was not */
	uint64_t	 since;	/* ticks since this system was started */
	uint64_t	 start;	/* of the clone, likewise */
};

struct wards {
	struct ward	*v;	/* owned */
	size_t		 n;
};

int		 ward_set(struct ward *, pid_t, pid_t);
int		 wards_add(struct wards *, const struct ward *);
void		 wards_reap(struct wards *) __attribute__((noreturn));

#endif
