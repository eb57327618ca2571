/*
 * Changing the files of a Linux record: edit.c
 */
#ifndef RECEDIT_H
#define RECEDIT_H

#include "snap.h"

/*
 * Given a file, put what it is to be into the buffer and, if it is to have
 * another one, its name (of so many bytes at most) in place of the present
 * one, and return 1; or 0, to leave it, or -1.
 */
typedef int	 (*recedit_fn)(void *, const struct recfile *, char *, size_t,
		    struct buf *);

int		 linuxrec_edit(struct proc *, const char *, recedit_fn, void *,
		    const struct file *, size_t);

#endif
