/*
 * The address space of a process: its mappings, their pages, and who shares
 * them, live or in a snapshot.
 */
#ifndef SPACE_H
#define SPACE_H

#include "snap.h"

/*
 * Mappings that change: state/vmaedit.c
 */
int		 vmas_map(struct vmas *l, const struct vma *v);
int		 vmas_unmap(struct vmas *l, uint64_t start, uint64_t end);
int		 vmas_protect(struct vmas *l, uint64_t start, uint64_t end,
		    unsigned int prot);
int		 vmas_move(struct vmas *l, uint64_t start, uint64_t len,
		    uint64_t to, uint64_t newlen);
int		 vmas_copy(struct vmas *to, const struct vmas *from);

/*
 * The whole address space of a process, with what smaps, status, stat and
 * limits tell of it: state/space.c, and for where that comes from
 * linux/observe/livespace.c, linux/observe/kernspace.c and record/maps.c
 */
enum vmflag {			/* VmFlags of proc_pid_smaps(5) */
	VMF_MAYREAD = VMA_READ,	/* mprotect(2) may give it, as the next */
	VMF_MAYWRITE = VMA_WRITE,
	VMF_MAYEXEC = VMA_EXEC,
	VMF_SHADOW = 1 << 3,	/* a shadow stack */
	VMF_DEVICE = VMA_DEVICE,
	VMF_GROWSDOWN = VMA_GROWSDOWN,
	VMF_UFFD = VMA_UFFD,	/* in any mode */
	VMF_DONTDUMP = VMA_DONTDUMP,
	VMF_SEALED = 1 << 8,	/* mseal(2) */
	VMF_LOCKED = 1 << 9,	/* mlock(2) */
	VMF_LOCKONFAULT = 1 << 10,
	VMF_DONTFORK = 1 << 11,	/* madvise(2), these and what follows */
	VMF_WIPEONFORK = 1 << 12,
	VMF_DROPPABLE = 1 << 13,
	VMF_RANDOM = 1 << 14,
	VMF_SEQUENTIAL = 1 << 15,
	VMF_MERGEABLE = 1 << 16,
	VMF_HUGEPAGE = 1 << 17,
	VMF_NOHUGEPAGE = 1 << 18,
	VMF_NORESERVE = 1 << 19, /* MAP_NORESERVE of mmap(2) */
	VMF_HUGETLB = 1 << 20,	/* MAP_HUGETLB, or a file of hugetlbfs */
	VMF_TOLD = 1 << 21,	/* these are told */
	VMF_SIZES = 1 << 22	/* the sizes are */
};

enum {				/* one or the other */
	VMF_STACK = VMF_GROWSDOWN | VMF_SHADOW,
	VMF_WIRED = VMF_LOCKED | VMF_LOCKONFAULT
};

struct mapping {		/* what smaps tells of a struct vma */
	unsigned int	 flags;	/* of enum vmflag */
	uint64_t	 rss;	/* these in kilobytes */
	uint64_t	 shared;
	uint64_t	 private;
	uint64_t	 anon;
	uint64_t	 swap;
	uint64_t	 touched; /* since touched_forget */
	uint64_t	 huge;	/* of rss, mapped with others by one entry */
};

struct space {
	uint64_t	 pid;
	uint64_t	 tid;	/* of a live one: a thread that has memory */
	char		 name[64]; /* of the program, as status has it */
	struct vmas	 vma;
	struct mapping	*m;	/* owned; as many, in the same order */
	uint64_t	 threads;
	uint64_t	 rss, text, data, stack; /* kilobytes, of status */
	uint64_t	 startcode, startdata, startstack, startbrk;
	uint64_t	 stacklimit, datalimit; /* bytes; 0: not known,
				   UINT64_MAX: none */
	bool		 gone;	/* it failed because there is no process */
	bool		 denied; /* that of the kernel, which may not be seen */
	bool		 moving; /* its mappings changed all the time */
	bool		 brief;	/* sizes and most flags are not asked for */
};

int		 space_live(struct space *sp, pid_t pid, bool brief);
int		 space_kernel(struct space *sp);
int		 space_snap(struct space *sp, struct snap *s, uint64_t pid);
void		 space_free(struct space *sp);

/*
 * What is known of the pages of mappings: state/pages.c, state/sharing.c,
 * linux/observe/livepages.c, record/pages.c
 */
enum pagekind {
	PAGES_NONE,		/* nothing is there */
	PAGES_RAW,
	PAGES_ZERO,
	PAGES_SHARED,		/* with another process */
	PAGES_SWAPPED,
	PAGES_GUARD,		/* MADV_GUARD_INSTALL of madvise(2) */
	PAGES_MISSING,		/* not captured */
	PAGES_SAME,		/* of two snapshots: as it was */
	PAGES_CHANGED,
	PAGES_NEW,
	PAGES_GONE,
	PAGES_KINDS
};

struct pagespan {			/* a run of pages that are alike */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	enum pagekind	 kind;
	uint64_t	 with;	/* SHARED: a process, or 0: not known */
	uint64_t	 store;	/* where the bytes are; 0: not known */
	uint64_t	 at;	/* kilobyte in that store of the first */
};

struct pagelist {
	struct pagespan	*v;	/* owned; ascending */
	size_t		 n;
};

struct sharing;			/* who has which pages of which store */

int		 pagelist_add(struct pagelist *l, const struct pagespan *p);
void		 pagelist_free(struct pagelist *l);
struct sharing	*sharing_new(void);
int		 sharing_add(struct sharing *sh, const struct pagelist *l,
		    uint64_t pid);
int		 sharing_record(struct sharing *sh, struct pagelist *l,
		    uint64_t pid);
int		 sharing_matrix(const struct sharing *sh, const uint64_t *pid,
		    size_t n, uint64_t *kb, uint64_t *repeated);
void		 sharing_free(struct sharing *sh);
int		 pages_live(struct pagelist *l, const struct space *sp);
int		 pages_snap(struct pagelist *l, struct image *im);
int		 pages_compare(struct pagelist *l, struct image *old,
		    const struct vmas *was, struct image *new,
		    const struct vmas *is);

/*
 * How much memory mappings take, by their page tables, what the kernel
 * tells of the frames behind them, and what is touched in a window of time:
 * linux/observe/pageuse.c, linux/observe/pageflags.c, linux/pages/frames.c; and
 * whose threads they are: linux/proc/procfs.c
 */
struct pageuse {		/* kilobytes, but for pss */
	uint64_t	 rss;	/* as smaps counts it: no zero page, no
				   huge ones of hugetlbfs */
	uint64_t	 uss;	/* of it, mapped nowhere else */
	uint64_t	 shared; /* and the rest */
	uint64_t	 pss;	/* in 1/4096 of a byte, as the kernel sums it */
	uint64_t	 swap;
	uint64_t	 huge;	/* of hugetlbfs */
	uint64_t	 zero;	/* where nothing was written; these in
				   detail only */
	uint64_t	 guard;	/* MADV_GUARD_INSTALL of madvise(2) */
	uint64_t	 thp;	/* mapped with others by one entry */
};

enum { PSS_KB = 4096 * KB };	/* pss of a kilobyte */

struct flagcount {		/* pages that are alike */
	uint64_t	 flags;	/* 1 << the place in a list of names */
	uint64_t	 kb;
};

struct flagcounts {
	struct flagcount *v;	/* owned */
	size_t		 n;
	size_t		 last;	/* where the last one was found */
};

struct frames;			/* what the kernel tells of frames */

struct frames	*frames_open(const char *name);
void		 frames_free(struct frames *f);
int		 pageuse_live(struct pageuse *use, const struct space *sp,
		    struct frames *counts, const struct frames *flags,
		    bool detail, bool *hidden);
int		 pageflags_live(struct flagcounts *c, const struct space *sp,
		    struct frames *frames, bool *hidden);
const char	*pageflag_name(unsigned int bit);
int		 touched_forget(pid_t pid);
pid_t		 proc_leader(pid_t tid);
bool		 proc_ended(pid_t pid);
int		 proc_refused(pid_t pid);

#endif
