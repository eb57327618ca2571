/*
 * What goes between a confined program (helper.c) and its helper
 * (helperjob.c).
 */
#ifndef HELPER_H
#define HELPER_H

#include "confine.h"

struct answer {
	int		 rc;
	int		 error;		/* errno */
	char		 why[512];	/* the error string */
};

void		 helper_main(int, const struct confined *, bool, pid_t)
		    __attribute__((noreturn));

#endif
