/*
 * Changing the files of a Linux record: edit.c
 */
#ifndef RECEDIT_H
#define RECEDIT_H

#include "snap.h"

enum {				/* what is to become of a file; -1: error */
	EDIT_KEEP,
	EDIT_CHANGE,		/* to what is in data, and of that name */
	EDIT_DROP
};

/*
 * Called with a file and its name, which has room for most bytes: tell which
 * of the above, with new bytes in data and another name, if it is to have one,
 * in place of its own.
 */
typedef int	 (*recedit_fn)(void *arg, const struct recfile *f, char *name,
		    size_t most, struct buf *data);

int		 linuxrec_edit(struct proc *p, const char *cputype,
		    recedit_fn edit, void *arg, const struct file *more,
		    size_t n);
void		 carried_put(struct buf *b, const struct carried *c);

#endif
