/*
 * Processes that have nearly all of their memory in common: sameframes.c,
 * family.c
 */
#ifndef SAMEFRAMES_H
#define SAMEFRAMES_H

#include "linux/pages/pages.h"

enum alikeness {		/* how a mapping of a process compares with
				   another process's clone */
	ALIKE_ALL,
	ALIKE_FILE, /* identical, except for which pages of its file are
		       present */
	ALIKE_NOT
};

struct likeness {		/* comparison of a process with another
				   process's clone */
	enum alikeness	*how;	/* owned; result for each mapping; ALIKE_ALL for
				   mappings that are not private */
	struct pagespan	*own;	/* owned; pages that only the process has, in
				   ascending order */
	size_t		 n;
	size_t		 nown;	/* number of pages in "own" */
	size_t		 most;	/* maximum value of "nown" */
};

struct pagetable;

struct pagetable *table_read(int fd, const struct vmas *vma);
bool		 table_holds(const struct pagetable *t, int fd);
void		 table_free(struct pagetable *t);
int		 alike_compare(struct likeness *a, const struct pagetable *t,
		    int fd, const struct vmas *vma);
uint64_t	 alike_until(const struct likeness *a, uint64_t addr,
		    uint64_t end, bool *own);
void		 alike_free(struct likeness *a);

#endif
