/*
 * The address space of a process, live or in a snapshot: its mappings, their
 * pages, and the processes that share them.
 */
#ifndef SPACE_H
#define SPACE_H

#include "library.h"

/*
 * Edit a list of mappings: state/vmaedit.c
 */
int		 vmas_map(struct vmas *l, const struct vma *v);
int		 vmas_unmap(struct vmas *l, uint64_t start, uint64_t end);
int		 vmas_protect(struct vmas *l, uint64_t start, uint64_t end,
		    unsigned int prot);
int		 vmas_move(struct vmas *l, uint64_t start, uint64_t len,
		    uint64_t dest, uint64_t newlen);
int		 vmas_copy(struct vmas *copy, const struct vmas *l);

/*
 * Address space of a process: its mappings, and sizes and addresses from smaps,
 * status, stat and limits: state/space.c. Its sources are
 * linux/observe/livespace.c, linux/observe/kernspace.c and record/maps.c.
 */
enum vmflag {			/* flags of VmFlags; see proc_pid_smaps(5) */
	VMF_MAYREAD = VMA_READ,	/* mprotect(2) may set PROT_READ (VM_MAYREAD) */
	VMF_MAYWRITE = VMA_WRITE,
	VMF_MAYEXEC = VMA_EXEC,
	VMF_SHADOW = 1 << 3,	/* the mapping is a shadow stack */
	VMF_DEVICE = VMA_DEVICE,
	VMF_GROWSDOWN = VMA_GROWSDOWN,
	VMF_UFFD = VMA_UFFD, /* registered with userfaultfd(2), in any mode */
	VMF_DONTDUMP = VMA_DONTDUMP,
	VMF_SEALED = 1 << 8,	/* sealed by mseal(2) */
	VMF_LOCKED = 1 << 9,	/* locked by mlock(2) */
	VMF_LOCKONFAULT = 1 << 10,
	VMF_DONTFORK = 1 << 11,	/* this flag, and those down to NOHUGEPAGE, are
				   set by madvise(2) */
	VMF_WIPEONFORK = 1 << 12,
	VMF_DROPPABLE = 1 << 13,
	VMF_RANDOM = 1 << 14,
	VMF_SEQUENTIAL = 1 << 15,
	VMF_MERGEABLE = 1 << 16,
	VMF_HUGEPAGE = 1 << 17,
	VMF_NOHUGEPAGE = 1 << 18,
	VMF_NORESERVE = 1 << 19, /* MAP_NORESERVE of mmap(2) */
	VMF_HUGETLB = 1 << 20,	/* MAP_HUGETLB, or a file of hugetlbfs */
	VMF_FLAGS_KNOWN = 1 << 21,
	VMF_SIZES_KNOWN = 1 << 22,
	VMF_PKEY = 1 << 23	/* protection key other than 0; pkeys(7) */
};

enum {				/* masks of two flags each */
	VMF_STACK = VMF_GROWSDOWN | VMF_SHADOW,
	VMF_WIRED = VMF_LOCKED | VMF_LOCKONFAULT
};

struct mapping {		/* flags and sizes of a mapping, from smaps */
	unsigned int	 flags;	/* bits of enum vmflag */
	uint64_t	 rss;	/* "rss" to "swap": sizes in kilobytes */
	uint64_t	 shared;
	uint64_t	 private;
	uint64_t	 anon;
	uint64_t	 swap;
	uint64_t	 touched; /* number of kilobytes accessed since
				     touched_forget() was called */
	uint64_t	 huge;	/* part of rss that is mapped by huge
				   page-table entries */
};

struct space {
	uint64_t	 pid;
	uint64_t	 tid; /* for a live process: ID of a thread that still
				 has memory */
	char		 name[64]; /* name of the program, from status */
	struct vmas	 vma;
	struct mapping	*m;	/* owned; one for each mapping of vma */
	uint64_t	 threads;
	uint64_t	 rss, text, data, stack; /* sizes in kilobytes, from
						    status */
	uint64_t	 startcode, startdata, startstack, startbrk;
	uint64_t	 stacklimit, datalimit; /* limits in bytes; 0: unknown,
						   UINT64_MAX: unlimited */
	bool		 gone;	/* reading failed because the process does not
				   exist */
	bool		 denied; /* reading failed because the kernel hides its
				    addresses */
	bool		 moving; /* the mappings kept changing while they were
				    read */
	bool		 brief;	/* do not read sizes and most flags */
};

int		 space_live(struct space *sp, pid_t pid, bool brief);
int		 space_kernel(struct space *sp);
int		 space_snap(struct space *sp, struct snap *s, uint64_t pid);
void		 space_free(struct space *sp);

/*
 * Kinds of pages in mappings: state/pages.c, state/sharing.c,
 * linux/observe/livepages.c, record/pages.c
 */
enum pagekind {
	PAGES_NONE,		/* no page is present */
	PAGES_RAW,
	PAGES_ZERO,
	PAGES_SHARED,		/* pages shared with another process */
	PAGES_SWAPPED,
	PAGES_GUARD, /* guard pages: MADV_GUARD_INSTALL of madvise(2) */
	PAGES_MISSING, /* pages that are present, but were not captured */
	PAGES_SAME, /* in a comparison of two snapshots: unchanged pages */
	PAGES_CHANGED,
	PAGES_NEW,
	PAGES_GONE,
	PAGES_KINDS
};

struct pagespan {			/* run of pages of one kind */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	enum pagekind	 kind;
	uint64_t	 with;	/* for PAGES_SHARED: ID of the other process; 0:
				   unknown */
	uint64_t	 store;	/* identity of the store that has the bytes;
				   0: unknown */
	uint64_t	 at;	/* index of the first kilobyte in that store */
};

struct pagelist {
	struct pagespan	*v;	/* owned; in ascending order */
	size_t		 n;
};

struct sharing; /* index of stored pages and the processes that have them */

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
		    const struct vmas *oldmap, struct image *new,
		    const struct vmas *newmap);

/*
 * Memory use of mappings from their page tables, flags of their page frames,
 * and pages touched in a window of time: linux/observe/pageuse.c,
 * linux/observe/pageflags.c, linux/pages/frames.c.
 */
struct pageuse {		/* memory use in kilobytes, except for pss */
	uint64_t	 rss;	/* as smaps counts it: without zero pages and
				   hugetlbfs pages */
	uint64_t	 uss;	/* part of rss that nothing else maps */
	uint64_t	 shared; /* part of rss that is mapped elsewhere as
				    well */
	uint64_t	 pss;	/* proportional set size, in units of 1/4096
				   byte, as in the kernel's sum */
	uint64_t	 swap;
	uint64_t	 huge;	/* pages of hugetlbfs */
	uint64_t	 zero;	/* zero pages; set only if detail is requested,
				   as are "guard" and "thp" */
	uint64_t	 guard;	/* guard pages; see MADV_GUARD_INSTALL in
				   madvise(2) */
	uint64_t	 thp;	/* pages mapped by huge page-table entries */
};

enum { PSS_KB = 4096 * KB };	/* value of pss for one kilobyte */

struct flagcount {		/* kilobytes of pages with the same flags */
	uint64_t	 flags;	/* bit n stands for the flag pageflag_name(n) */
	uint64_t	 kb;
};

struct flagcounts {
	struct flagcount *v;	/* owned */
	size_t		 n;
	size_t		 last;	/* index of the last match, which is tried
				   first */
};

struct frames;			/* reader of /proc/kpagecount or kpageflags */

struct frames	*frames_open(const char *name);
int		 pageuse_live(struct pageuse *use, const struct space *sp,
		    struct frames *counts, const struct frames *flags,
		    bool detail, bool *hidden);
int		 pageflags_live(struct flagcounts *c, const struct space *sp,
		    struct frames *frames, bool *hidden);
const char	*pageflag_name(unsigned int bit);
int		 touched_forget(pid_t pid);

/*
 * Facts about live processes from /proc: linux/proc/living.c,
 * linux/proc/procfs.c, linux/proc/read.c, linux/proc/refused.c,
 * linux/proc/visit.c
 */
int		 maps_read(pid_t pid, struct vmas *l);
uint64_t	 ns_number(pid_t pid, const char *link);
pid_t		 proc_leader(pid_t tid);
int		 proc_stat(pid_t pid, pid_t tid, struct task *t);
bool		 proc_ended(pid_t pid);
pid_t		 proc_living(pid_t pid);
int		 proc_limit(pid_t pid, const char *name, uint64_t *soft);
uint64_t	 proc_began(pid_t tid);
int		 proc_refused(pid_t pid);
int		 proc_setting(const char *path, int absent);
long		 proc_status(pid_t pid, pid_t tid, const char *key);

/*
 * Measure a process while it runs: linux/proc/gauge.c
 */
enum gauge {
	GAUGE_CPU,		/* processor time used, in ms */
	GAUGE_RSS,		/* memory present, in bytes */
	GAUGE_THREADS,
	GAUGE_FDS,		/* number of descriptors */
	GAUGE_PSI_CPU,	/* pressure stall information of its cgroup, in
				   hundredths of a percent */
	GAUGE_PSI_IO,
	GAUGE_PSI_MEMORY
};

int		 proc_gauge(pid_t pid, enum gauge m, uint64_t *v);

#endif
