/*
 * Live processes: what the files of lib/linux share.
 */
#ifndef LIVE_H
#define LIVE_H

#include "clock.h"
#include "snap.h"
#include "linux/proc/steps.h"
#include "space.h"

#include <sys/ptrace.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/tree.h>

#include <pthread.h>
#include <stdatomic.h>

enum hold {			/* how we have a thread */
	HOLD_NONE,
	HOLD_SEIZED,		/* traced by us, it runs */
	HOLD_ASKED,		/* the same, and is to stop */
	HOLD_STOPPED,		/* stopped by us */
	HOLD_FOREIGN,		/* traced by another */
	HOLD_BUSY,		/* would not stop in time */
	HOLD_GONE
};

enum rank {			/* of a thread, when it is seized: threads.c */
	RANK_IDLE,		/* it sleeps */
	RANK_RUNS,		/* it may have a child soon */
	RANK_TOLD,		/* signals are sent to it */
	RANK_MAX
};

struct filelist {		/* named files, on the way into a record */
	struct file	*file;	/* owned */
	size_t		 n;
	size_t		 cap;
	bool		 failed;
	char		 lost[32]; /* the first that could not be read ... */
	int		 why;	/* ... and its errno; 0: none */
};

struct lthread {
	TAILQ_ENTRY(lthread) entry;
	RB_ENTRY(lthread) bytid;
	pid_t		 tid;
	enum rank	 rank;
	enum hold	 hold;
	char		 state;		/* before we came */
	struct filelist	 seen;		/* by its tracer, or before it had one */
	struct bytes	 reg[REGSET_MAX];	/* owned */
	struct task	*task;		/* owned; what was gathered, or NULL */
	struct filelist	 rec;		/* likewise */
};

TAILQ_HEAD(lthreads, lthread);
RB_HEAD(tids, lthread);

struct lproc {
	TAILQ_ENTRY(lproc) entry;
	RB_ENTRY(lproc)	 bypid;
	pid_t		 pid;
	long		 tracer; /* another, of its first thread; or 0 */
	pid_t		 mmtid;	/* a thread that has the memory; 0: none */
	struct lthreads	 threads;
	struct tids	 tids;	/* the same, by number */
	bool		 found;	/* by -r or by name, not asked for by pid */
	bool		 kernel; /* a thread of the kernel */
	bool		 skip;	/* not taken after all */
	bool		 inert;	/* nothing can be run in it: that is told */
	bool		 gathered; /* so are its threads */
	unsigned int	 dumped; /* its coredump_filter: core(5) */
	uint64_t	 since;	/* stopped, ns of CLOCK_MONOTONIC; 0: not */
	uint64_t	 held;	/* how long it was stopped, in us */
	struct bytes	 smaps;	/* owned; from before the stop, or NULL */
	struct vmas	 before; /* owned; what smaps tells */
	pid_t		 clone;	/* of its memory, by us; 0: none */
	pid_t		 origin; /* mmtid without the clone */
	char		*limit;	/* owned; of its memory, a sentence; or NULL */
	atomic_bool	 lost;	/* its clone was killed before its time */
	struct kept	*kept;	/* owned; what the clone lacks, ascending */
	size_t		 nkept;
};

TAILQ_HEAD(lprocs, lproc);
RB_HEAD(pids, lproc);

struct username {
	uid_t		 uid;
	char		 name[32];
};

struct taker {			/* the thread that takes what is stopped */
	struct live	*live;		/* borrowed, as all here */
	struct snap	*snap;
	take_fn		 take;
	void		*arg;
	pthread_t	 thread;
	bool		 threaded;
	atomic_bool	 quit;
	size_t		 ngiven;	/* the caller's alone */
	pthread_mutex_t	 lock;		/* also of snap while it grows */
	pthread_cond_t	 ready;
	size_t		 nready;	/* these four are locked */
	bool		 done;
	bool		 failed;
	char		 why[1024];
};

struct kept {			/* a run of pages that a clone lacks */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	unsigned int	 what;	/* as pagemap.c tells it */
	struct source	*src;	/* borrowed; NULL: can be had all the same */
	uint64_t	 loc;	/* in src */
};

struct carry {			/* a file to be carried along */
	struct vma	 vma;	/* one that is of it; name owned */
	struct source	*src;	/* borrowed */
	struct stat	 st;
	bool		 mem;	/* not as a text, but as memory */
};

struct otherlink {		/* a file whose name is deleted */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned; another name; NULL: not found */
	const char	*name;	/* borrowed; the last part of it */
	int		 dir;	/* owned; where that is; -1: not found */
};

struct targetfile {		/* a file of a target, opened */
	int		 fd;	/* owned; far: O_PATH; -1: none */
	bool		 far;	/* to be read through the proxy */
	bool		 elf;	/* it begins as an ELF file */
	int		 unread; /* an errno: whether it does is not known */
	uint64_t	 number; /* the proxy's, of one that is far */
	uint64_t	 dev;	/* likewise, of its file system */
	long		 type;	/* of its file system: statfs(2); 0: none */
	struct stat	 st;
};

struct files;			/* what processes have open: openfile.c */

struct live {
	struct lprocs	 procs;
	struct pids	 pids;	/* the same, by number */
	struct carry	*carry;		/* owned; the taker's */
	size_t		 ncarry;
	size_t		*carryslot; /* owned; by device and inode: carry.c */
	size_t		 ncarryslot; /* a power of two; more than ncarry */
	size_t		 nopened; /* of carry, with a descriptor of ours */
	bool		 carryfull; /* there are more: that was told */
	struct source	*empty;	/* borrowed; of a file of no bytes, or NULL */
	struct files	*files;		/* owned; NULL: not looked at yet */
	struct otherlink *link;		/* owned; before all was stopped */
	size_t		 nlink;
	struct source	*vdso;		/* borrowed; a copy of ours */
	uint64_t	 vdsolen;	/* bytes; 0: not looked for yet */
	struct frozen	*frozen;	/* owned; by inode: linux/serve/shared.c */
	size_t		 nfrozen;
	struct readers	*readers; /* owned; NULL: not looked for yet */
	struct guard	*guard;		/* owned; NULL: no clones */
	struct room	*room;		/* owned; in cgroups: headroom.c */
	size_t		 nroom;
	char		*mounts;	/* owned; our mountinfo, or NULL */
	struct taker	*taker;		/* owned; NULL: not taking */
	struct liveopts	 opts;
	bool		 incomplete;
	bool		 stopped;	/* from here on, ask no one for names */
	struct steps	 steps;		/* what it takes time for */
	size_t		 nmissed;	/* who did not answer: that is told */
	struct username	*user;		/* owned */
	size_t		 nuser;
};

void		 live_warn(struct live *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
void		 live_say(const struct live *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

/* live.c */
void		 live_tellmissed(struct live *);
struct lproc	*lproc_find(struct live *, pid_t);
int		 live_found(struct live *, pid_t);
void		 lproc_leave(struct live *, struct lproc *);
void		 lproc_refuse(struct live *, struct lproc *);
void		 thread_ungather(struct lthread *);
void		 thread_forget(struct lthread *);

/* freeze.c */
void		 live_release(struct live *);

#endif
