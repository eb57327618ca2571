/*
 * Shared by the files that make CRIU images from processes that snap(1)
 * captured.
 *
 * The files of this directory; each calls only those above it:
 *
 *	memory.c	pages
 *	rseq.c		restartable sequences
 *	regs.c		registers, by machine: amd64.c, arm64.c
 *	ring.c		rings of io_setup(2)
 *	vma.c		one mapping
 *	mm.c		all mappings: mm-N.img
 *	signal.c	pending signals
 *	seccomp.c	system-call filters
 *	process.c	state of a process that its threads share
 *	core.c		state of a thread: core-N.img
 *	check.c		whether a process and its threads can be restored
 *	tree.c		parents and children: pstree, ids, inventory
 *	make.c		all images of a directory
 */
#ifndef CRIUMAKER_H
#define CRIUMAKER_H

#include "criu/namespace/namespace.h"
#include "make.h"

/* tree.c */
int		 maketree_choose(struct criumake *);
int		 maketree_roots(struct criumake *, uint64_t **, size_t *);
int		 maketree_ids(struct criumake *, struct maketask *);
int		 maketree_write(struct criumake *);

/* check.c */
int		 makecheck_process(struct criumake *, struct maketask *);

/* rseq.c */
void		 makeregs_abort(struct image *, const uint64_t *, uint64_t *);

/*
 * regs.c, amd64.c and arm64.c: what depends on the machine
 */
typedef int	 makeregs_fn(struct criumake *, struct maketask *,
		    struct maketask *, const struct recfile *,
		    const uint64_t *, Criu__Core *);

makeregs_fn	 makeregs_amd64, makeregs_arm64;
enum { MAX_AUXV = 44 };	/* largest value that makeregs_auxv() returns */
size_t		 makeregs_auxv(const struct maketask *);
void		 makeregs_machine(Criu__Core *, const struct maketask *);
int		 makeregs_get(struct criumake *, struct maketask *,
		    struct maketask *, const uint64_t *, Criu__Core *);

/* seccomp.c */
int		 makeseccomp_set(struct criumake *, struct maketask *,
		    struct maketask *, Criu__ThreadCore *);
int		 makeseccomp_write(struct criumake *);

/*
 * signal.c, process.c and core.c: cores
 */
enum {
	SIGNALS = 64,
	SIGACTIONS = SIGNALS - 2, /* all signals but SIGKILL and SIGSTOP */
	SIGINFO = 128,			/* size of a siginfo_t in bytes */
	LIMITS = 16,
	GROUPS = 65536,			/* NGROUPS_MAX from linux/limits.h */
	ALIVE = 1, ENDED = 2, STOPPED = 3	/* values of task_state in
						   core images */
};

uint64_t	 makecore_blocked(const struct maketask *);
int		 makecore_stops(struct maketask *);
int		 makecore_pending(struct criumake *, Criu__SignalQueue *,
		    struct maketask *, struct maketask *, bool);
int		 makecore_task(struct criumake *, Criu__TaskCore *,
		    struct maketask *);
int		 makecore_write(struct criumake *, struct maketask *,
		    struct maketask *);

/* ring.c: rings of io_setup(2) */
int		 makering_add(struct criumake *, const struct maketask *,
		    const struct vma *, Criu__Mm *);

/* vma.c: mappings */
struct smapfacts { /* facts about a mapping, from the file "smaps" */
	unsigned int	 flag;	/* bits of enum vmflag */
	uint64_t	 page;	/* page size in bytes; 0: not known */
};

int		 makevma_set(struct criumake *, struct maketask *,
		    const struct vma *, const struct smapfacts *, Criu__Mm *,
		    Criu__Vma *);
unsigned int	 makevma_pages(const struct vma *, const Criu__Vma *);

/* mm.c */
int		 makemm_write(struct criumake *, struct maketask *);

/* memory.c */
int		 makemem_pages(struct criumake *, struct maketask *);

#endif
