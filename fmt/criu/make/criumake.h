/*
 * What the files share that make CRIU images of processes that snap(1) took.
 *
 * The lowest first:
 *
 *	memory.c	pages
 *	rseq.c		restartable sequences
 *	regs.c		registers, by machine: amd64.c, arm64.c
 *	ring.c		rings of io_setup(2)
 *	mm.c		mappings: mm
 *	signal.c	signals that wait
 *	seccomp.c	filters of system calls
 *	process.c	what a process has beside what its threads have
 *	core.c		and these: core
 *	check.c		whether a process, and its threads, can be restored
 *	tree.c		how they hang together: pstree, ids, inventory
 *	make.c		all images, one after another
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
 * regs.c: all that is of one kind of machine; amd64.c, arm64.c
 */
typedef int	 makeregs_fn(struct criumake *, struct maketask *,
		    struct maketask *, const struct recfile *,
		    const uint64_t *, Criu__Core *);

makeregs_fn	 makeregs_amd64, makeregs_arm64;
enum { MAX_AUXV = 44 };	/* of what makeregs_auxv returns */
size_t		 makeregs_auxv(const struct maketask *);
void		 makeregs_machine(Criu__Core *, const struct maketask *);
int		 makeregs_get(struct criumake *, struct maketask *,
		    struct maketask *, const uint64_t *, Criu__Core *);

/* seccomp.c */
int		 makeseccomp_set(struct criumake *, struct maketask *,
		    struct maketask *, Criu__ThreadCore *);
int		 makeseccomp_write(struct criumake *);

/*
 * Cores: signal.c, process.c and core.c
 */
enum {
	SIGNALS = 64,
	SIGACTIONS = SIGNALS - 2,	/* but of SIGKILL and SIGSTOP */
	SIGINFO = 128,			/* bytes of a siginfo_t */
	LIMITS = 16,
	GROUPS = 65536,			/* NGROUPS_MAX */
	ALIVE = 1, ENDED = 2, STOPPED = 3	/* task_state */
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

/* mm.c */
int		 makemm_write(struct criumake *, struct maketask *);

/* memory.c */
int		 makemem_pages(struct criumake *, struct maketask *);

#endif
