/*
 * What processes have open.
 */
#ifndef OPEN_H
#define OPEN_H

#include "linux/set/set.h"

/* hardlink.c: other names of files whose names are deleted */
void		 hardlinks_look(struct live *l);
void		 hardlinks_free(struct live *l);

/* openfile.c: what a process has open, and shares with others */
void		 files_record(struct live *l, struct snap *s,
		    const struct lproc *p, struct filelist *rec);
void		 files_free(struct live *l);

#endif
