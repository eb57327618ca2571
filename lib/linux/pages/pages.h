/*
 * Pages of live processes.
 */
#ifndef PAGES_H
#define PAGES_H

#include "space.h"

/* frames.c: values of page frames */
int		 frames_want(struct frames *f, uint64_t frame);
int		 frames_get(struct frames *f, uint64_t frame, uint64_t *value);
int		 frames_once(const struct frames *f, uint64_t frame,
		    uint64_t *value);

/*
 * Bits of a pagemap entry: Linux, Documentation/admin-guide/mm/pagemap.rst.
 * PME_SWAPPED is also set for guards, markers and pages under migration.
 */
#define PME_PRESENT	((uint64_t)1 << 63)
#define PME_SWAPPED	((uint64_t)1 << 62)
#define PME_FILE	((uint64_t)1 << 61)
#define PME_GUARD	((uint64_t)1 << 58)
#define PME_UFFD	((uint64_t)1 << 57)
#define PME_EXCLUSIVE	((uint64_t)1 << 56)
#define PME_FRAME	(((uint64_t)1 << 55) - 1)

/* pagemap.c: find out which pages exist */
enum {
	PM_PRESENT = 1,
	PM_SWAPPED = 2,
	PM_FILE = 4,		/* unmodified page of a file or shared memory */
	PM_ZERO = 8,
	PM_GUARD = 16,
	PM_HUGE = 32		/* part of a huge page, mapped by one entry */
};

/*
 * Consecutive pages of a process with the same properties, called a run here
 * and by all callers.
 */
struct pagerun {
	uint64_t	 start;	/* address of the first page */
	uint64_t	 end;	/* address after the last page */
	unsigned int	 what;	/* mask of PM_ bits */
};

typedef int	(*pagerun_fn)(void *, const struct pagerun *);

int		 space_pagemap(const struct space *sp);
ssize_t		 pagemap_read(int fd, uint64_t addr, uint64_t end, uint64_t *v,
		    size_t max);
int		 pagemap_walk(int fd, uint64_t start, uint64_t end,
		    unsigned int more, pagerun_fn fn, void *arg);
int		 pagemap_first(int fd, uint64_t *addr, uint64_t end);
bool		 pagemap_scans(int fd);
bool		 pagemap_guards(int fd);
uint64_t	 pagemap_huge(int fd, uint64_t addr, uint64_t end);
int		 pagemap_any(int fd, uint64_t start, uint64_t end);
int		 pagemap_frames(int fd, uint64_t addr, size_t n, bool anon,
		    uint64_t *frame);

/* smapsizes.c: page counts of mappings in smaps */
struct smapsize {		/* counts for a mapping, in KB */
	uint64_t	 start;	/* start address of the mapping */
	uint64_t	 end;	/* end address (exclusive) */
	uint64_t	 rss;	/* resident pages, without zero pages */
	uint64_t	 swap;
	uint64_t	 huge;	/* part of "rss" that is in huge pages */
	bool		 device; /* the mapping is device memory, which has no
				    pages */
};

struct smapsizes {		/* counts for all mappings of a process, sorted
				   by address */
	struct smapsize	*v;	/* owned */
	size_t		 n;
};

int		 smapsizes_read(struct smapsizes *l, pid_t tid);
const struct smapsize *smapsizes_find(const struct smapsizes *l,
		    const struct vma *v);
void		 smapsizes_free(struct smapsizes *l);

/* touched.c: find the mappings that have pages */
int		 pagemap_touched(pid_t tid, int fd, const struct vmas *l,
		    bool *has);

/* alone.c: pages that no other process maps */
bool		 pages_arealone(int pagemap, uint64_t addr, uint64_t end);
bool		 pages_readalone(pid_t pid, int pagemap, void *buf, size_t len,
		    uint64_t addr);

/* entries.c: read pagemap for all mappings */
struct entries {		/* consecutive entries of one mapping */
	size_t		 vma;	/* index of the mapping */
	uint64_t	 addr;	/* address of the first page */
	const uint64_t	*v;	/* borrowed */
	size_t		 n;
	size_t		 each;	/* number of pages per entry: 1, or all pages of
				   a huge page */
};

typedef int	(*entries_fn)(void *, const struct entries *);

int		 pagemap_entries(int fd, const struct vmas *l,
		    const struct frames *flags, entries_fn fn, void *arg);

#endif
