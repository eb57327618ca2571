/*
 * Declarations shared by the files of snapcore.
 */
#ifndef SNAPCORE_H
#define SNAPCORE_H

#include "common/common.h"

/* core.c: write an ELF core to a file */
int		 core_write(struct snap *s, struct proc *p, const char *path,
		    bool verbose, struct progress *progress);

#endif
