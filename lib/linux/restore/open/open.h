/*
 * Record the open files of processes.
 */
#ifndef OPEN_H
#define OPEN_H

#include "linux/set/set.h"

/* hardlink.c: other names of files whose name was deleted */
void		 hardlinks_look(struct live *l);
void		 hardlinks_free(struct live *l);

/* openfile.c: open files of a process, and resources it shares */
void		 files_record(struct live *l, struct snap *s,
		    const struct lproc *p, struct filelist *rec);
void		 files_free(struct live *l);

#endif
