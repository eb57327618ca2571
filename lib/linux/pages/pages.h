/*
 * Pages of live processes.
 */
#ifndef PAGES_H
#define PAGES_H

#include "space.h"

/* frames.c */
int		 frames_want(struct frames *f, uint64_t frame);
int		 frames_get(struct frames *f, uint64_t frame, uint64_t *value);
int		 frames_once(const struct frames *f, uint64_t frame,
		    uint64_t *value);

/*
 * Bits of an entry of pagemap: Linux,
 * Documentation/admin-guide/mm/pagemap.rst.  What is no page but a guard, a
 * marker, or on its way elsewhere, is told as swapped, too.
 */
#define PME_PRESENT	((uint64_t)1 << 63)
#define PME_SWAPPED	((uint64_t)1 << 62)
#define PME_FILE	((uint64_t)1 << 61)
#define PME_GUARD	((uint64_t)1 << 58)
#define PME_UFFD	((uint64_t)1 << 57)
#define PME_EXCLUSIVE	((uint64_t)1 << 56)
#define PME_FRAME	(((uint64_t)1 << 55) - 1)

/* pagemap.c: which pages are there */
enum {
	PM_PRESENT = 1,
	PM_SWAPPED = 2,
	PM_FILE = 4,		/* of a file or shared memory, unmodified */
	PM_ZERO = 8,
	PM_GUARD = 16,
	PM_HUGE = 32		/* mapped with others by one entry */
};

/*
 * A run of pages of a process that lie one after another and are alike: what
 * an interval in page tables is called, here and in the rooms above.
 */
struct pagerun {
	uint64_t	 start;	/* addresses */
	uint64_t	 end;	/* exclusive */
	unsigned int	 what;	/* PM_PRESENT and others */
};

typedef int	(*pagerun_fn)(void *, const struct pagerun *);

int		 space_pagemap(const struct space *sp);
int		 pagemap_fail(ssize_t n);
ssize_t		 pagemap_read(int fd, uint64_t addr, uint64_t end, uint64_t *v,
		    size_t most);
int		 pagemap_walk(int fd, uint64_t start, uint64_t end,
		    unsigned int more, pagerun_fn fn, void *arg);
int		 pagemap_first(int fd, uint64_t *addr, uint64_t end);
bool		 pagemap_scans(int fd);
bool		 pagemap_guards(int fd);
uint64_t	 pagemap_huge(int fd, uint64_t addr, uint64_t end);
int		 pagemap_any(int fd, uint64_t start, uint64_t end);
int		 pagemap_frames(int fd, uint64_t addr, size_t n,
		    uint64_t *frame);

/* told.c: what smaps tells of pages */
struct told {			/* of a mapping; kilobytes */
	uint64_t	 start;	/* addresses */
	uint64_t	 end;
	uint64_t	 rss;	/* no zero page */
	uint64_t	 swap;
	uint64_t	 huge;	/* of rss, mapped with others by one entry */
	bool		 device; /* what is there is no page */
};

struct tolds {			/* ascending */
	struct told	*v;	/* owned */
	size_t		 n;
};

int		 told_read(struct tolds *l, pid_t tid);
const struct told *told_find(const struct tolds *l, const struct vma *v);
void		 told_free(struct tolds *l);

/* touched.c */
int		 pagemap_touched(pid_t tid, int fd, const struct vmas *l,
		    bool *has);

/* entries.c: pagemap of all mappings */
struct entries {		/* that lie one after another in a mapping */
	size_t		 vma;	/* its place */
	uint64_t	 addr;	/* of the first */
	const uint64_t	*v;	/* borrowed */
	size_t		 n;
	size_t		 each;	/* pages of one: 1, or all of a huge page */
};

typedef int	(*entries_fn)(void *, const struct entries *);

int		 pagemap_entries(int fd, const struct vmas *l,
		    const struct frames *flags, entries_fn fn, void *arg);

#endif
