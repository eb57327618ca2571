/*
 * Declarations shared by the files of snapcore.
 */
#ifndef SNAPCORE_H
#define SNAPCORE_H

#include "common/common.h"

/* core.c: write an ELF core or a minidump to a file */
typedef struct core *core_make(struct snap *, struct proc *);

int		 core_write(core_make *make, struct snap *s, struct proc *p,
		    const char *path, bool verbose, struct progress *progress);

#endif
