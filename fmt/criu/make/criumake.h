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
struct makeregs {		/* the first member of those of a machine */
	/* put them, which must outlive it, into a core, with the address that
	   the kernel clears when the thread ends: set_tid_address(2) */
	void		(*put)(Criu__Core *, struct makeregs *, uint64_t);
};

int		 makeregs_amd64(struct criumake *, struct maketask *,
		    struct maketask *, const struct recfile *,
		    const uint64_t *, struct makeregs **);
int		 makeregs_arm64(struct criumake *, struct maketask *,
		    struct maketask *, const struct recfile *,
		    const uint64_t *, struct makeregs **);
enum { AUXV_MOST = 44 };	/* of what makeregs_auxv returns */
size_t		 makeregs_auxv(const struct maketask *);
void		 makeregs_machine(Criu__Core *, const struct maketask *);
int		 makeregs_get(struct criumake *, struct maketask *,
		    struct maketask *, const uint64_t *, struct makeregs **);

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

struct corebits {		/* what a core is made of */
	Criu__Core	 core;
	Criu__TaskCore	 tc;
	Criu__ThreadCore th;
	struct makeregs	 *regs;	/* owned; NULL: it has none */
	Criu__Creds	 creds;
	uint32_t	 caps[5][2];
	char		 profile[4096];
	Criu__Sas	 sas;
	Criu__Rseq	 rseq;
	Criu__Timers	 timers;
	Criu__Itimer	 itimer[3];
	Criu__Rlimits	 rlimits;
	Criu__Rlimit	 rlimit[LIMITS];
	Criu__Rlimit	 *rlimitp[LIMITS];
	Criu__SaEntry	 sa[SIGACTIONS];
	Criu__SaEntry	 *sap[SIGACTIONS];
	Criu__SignalQueue pending[2];	/* of the process, of the thread */
	Criu__Siginfo	 *siginfo[2];	/* owned */
	char		 comm[32];
	uint32_t	 *groups;	/* owned */
};

uint64_t	 corebits_blocked(const struct maketask *);
int		 corebits_stops(const struct criumake *, struct maketask *);
int		 corebits_pending(struct criumake *, struct corebits *,
		    struct maketask *, struct maketask *, bool);
int		 corebits_task(struct criumake *, struct corebits *,
		    struct maketask *);
int		 makecore_write(struct criumake *, struct maketask *,
		    struct maketask *);

/* ring.c: rings of io_setup(2) */
struct makerings {		/* those of a process */
	Criu__AioRing	*v;	/* owned */
	Criu__AioRing	**p;	/* owned; each of them */
	size_t		 n;
};

int		 makering_add(struct criumake *, const struct maketask *,
		    const struct vma *, struct makerings *);
int		 makering_set(struct makerings *, Criu__Mm *);
void		 makering_free(struct makerings *);

/* mm.c */
int		 makemm_write(struct criumake *, struct maketask *);

/* memory.c */
int		 makemem_pages(struct criumake *, struct maketask *);

#endif
