/*
 * Processes that have nearly all of their memory in common: alike.c, family.c
 */
#ifndef SAMEFRAMES_H
#define SAMEFRAMES_H

#include "linux/pages/pages.h"

enum alikeness {		/* of a mapping, and what a clone has there */
	ALIKE_ALL,
	ALIKE_FILE,		/* but for which pages of its file are there */
	ALIKE_NOT
};

struct likeness {		/* a process, and the clone of another */
	enum alikeness	*how;	/* owned; of each mapping; of memory that is
				   not private, nothing */
	struct pagespan	*own;	/* owned; ascending: what it has alone */
	size_t		 n;
	size_t		 nown;	/* pages */
	size_t		 most;	/* of them */
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
