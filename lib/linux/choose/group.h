/*
 * Groups as directories: private to this room.
 */
#ifndef GROUP_H
#define GROUP_H

#include "choose.h"

struct group {			/* a directory */
	char		*dir;	/* owned */
	dev_t		 dev;	/* of the hierarchy */
	ino_t		 ino;
};

struct cgroups {
	struct group	*v;	/* owned */
	size_t		 n;
	size_t		 last;	/* the first of what was added last */
};

#endif
