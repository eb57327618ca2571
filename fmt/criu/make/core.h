/*
 * What the files share that make core-N.img: core.c, what every thread
 * has, process.c, what a process has beside it, and signal.c.
 */
#ifndef CRIUMAKECORE_H
#define CRIUMAKECORE_H

#include "make.h"

enum {
	SIGNALS = 64,
	SIGACTIONS = SIGNALS - 2,	/* but of SIGKILL and SIGSTOP */
	SIGINFO = 128,			/* bytes of a siginfo_t */
	LIMITS = 16,
	GROUPS = 65536,			/* NGROUPS_MAX */
	ALIVE = 1, ENDED = 2, STOPPED = 3,	/* task_state */
	USEC = 1000000, NSEC = 1000000000
};

struct corebits {		/* what a core is made of */
	Criu__Core	 core;
	Criu__TaskCore	 tc;
	Criu__ThreadCore th;
	struct makeregs	 regs;
	Criu__Creds	 creds;
	uint32_t	 caps[5][2];
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

/* signal.c: signals that wait */
uint64_t	 corebits_blocked(const struct maketask *);
int		 corebits_stops(const struct criumake *, struct maketask *);
int		 corebits_pending(struct criumake *, struct corebits *,
		    struct maketask *, struct maketask *, bool);

/* process.c */
int		 corebits_task(struct criumake *, struct corebits *,
		    struct maketask *);

#endif
