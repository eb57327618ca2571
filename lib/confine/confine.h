/*
 * What the files share that confine a program: confine.c (what it needs),
 * caps.c (capabilities), landlock.c (files), callfilter.c (system calls), and
 * helperjob.c (a process that does outside what the program may not do; it is
 * asked with io/helper.c).  Programs call what snap.h has of confine.c.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include "snap.h"

/* AddressSanitizer's own runtime needs more */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* caps.c */
void		 caps_drop(const struct confined *c);
void		 caps_drop_helper(void);

/* landlock.c */
int		 landlock_apply(const struct confined *c);

/* callfilter.c */
enum {				/* calls beside those that all make */
	CALLS_BENEATH = 1,	/* openat2(2): files below a directory */
	CALLS_MAKE = 2,		/* files in a directory */
	CALLS_SERVE = 4		/* what a server in the background does */
};

int		 callfilter_apply(unsigned int who);

/* helperjob.c */
int		 helperjob_start(const struct confined *c, bool made);

#endif
