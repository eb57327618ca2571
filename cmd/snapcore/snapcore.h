/*
 * What the files of snapcore share.
 */
#ifndef SNAPCORE_H
#define SNAPCORE_H

#include "common/common.h"

/* core.c: an ELF core, as a file */
int		 core_write(struct snap *s, struct proc *p, const char *path,
		    bool verbose, struct progress *progress);

#endif
