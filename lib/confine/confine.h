/*
 * Shared declarations of confinement: confine.c (the needs of a program),
 * caps.c (capabilities), landlock.c (files), callfilter.c (system calls), and
 * helperjob.c (the process that acts for the confined program; requests are in
 * io/helper.c). Programs call the functions of confine.c in library.h.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include "library.h"

/* caps.c */
void		 caps_drop(const struct confined *c);
void		 caps_drop_helper(void);

/* landlock.c */
int		 landlock_apply(const struct confined *c);

/* callfilter.c */
enum {				/* system calls that only some programs need */
	CALLS_BENEATH = 1,	/* openat2(2): open files below a directory */
	CALLS_MAKE = 2,		/* create files in a directory */
	CALLS_SERVE = 4,	/* calls of a background server */
	CALLS_ASK = 8		/* send descriptors to the proxy */
};

int		 callfilter_apply(unsigned int programs);

/* helperjob.c */
int		 helperjob_start(const struct confined *c, bool made);

#endif
