/*
 * What the files share that confine a program: confine.c (what it needs, and
 * its capabilities), landlock.c (files), callfilter.c (system calls), and
 * helper.c (a process that does outside what the program may not do).
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

/* confine.c */
void		 caps_drop_helper(void);

/* landlock.c */
int		 landlock_apply(const struct confined *);

/* callfilter.c */
enum {				/* calls beside those that all make */
	CALLS_BENEATH = 1,	/* openat2(2): files below a directory */
	CALLS_MAKE = 2,		/* files in a directory */
	CALLS_SERVE = 4		/* what a server in the background does */
};

int		 callfilter_apply(unsigned int);

/* helper.c */
int		 helper_start(const struct confined *, bool);
bool		 helper_there(void);
int		 helper_elf(const char *);
int		 helper_spool(void);
int		 helper_create(const char *, bool *);
int		 helper_finish(void);
void		 helper_drop(void);
void		 helper_quit(void);

#endif
