/*
 * A set of live processes: what all rooms that do something to it share.
 */
#ifndef SET_H
#define SET_H

#include "linux/machine/machine.h"
#include "linux/proc/proc.h"

#include <sys/queue.h>
#include <sys/tree.h>

#include <pthread.h>
#include <stdatomic.h>

struct smap;

enum hold {			/* how we have a thread */
	HOLD_NONE,
	HOLD_SEIZED,		/* traced by us, it runs */
	HOLD_ASKED,		/* the same, and is to stop */
	HOLD_STOPPED,		/* stopped by us */
	HOLD_FOREIGN,		/* traced by another */
	HOLD_BUSY,		/* would not stop in time */
	HOLD_DUMPED,		/* it stands still while core is dumped */
	HOLD_GONE
};

enum rank {			/* of a thread, when it is seized: threads.c */
	RANK_IDLE,		/* it sleeps */
	RANK_RUNS,		/* it may have a child soon */
	RANK_TOLD,		/* signals are sent to it */
	RANK_MAX
};

struct lthread {
	TAILQ_ENTRY(lthread) entry;
	RB_ENTRY(lthread) bytid;
	pid_t		 tid;
	enum rank	 rank;
	enum hold	 hold;
	long		 tracer;	/* another, where hold tells of one */
	char		 state;		/* before we came */
	struct filelist	 seen;	/* by its tracer, or before it had one */
	struct seencall	 seencall;	/* then */
	bool		 regs;		/* its registers were read */
	struct bytes	 general;	/* owned; of these, until rec has it */
	bool		 later;		/* nothing more is read in the stop:
					   gathered when taken */
	struct filelist	 rec;		/* what was gathered */
};

TAILQ_HEAD(lthreads, lthread);
RB_HEAD(tids, lthread);

struct rootid {			/* where a process looks files up */
	uint64_t	 ino;	/* of the directory; 0: that is not told */
	uint64_t	 mount;	/* what is mounted there, */
	uint64_t	 dev;	/* of which there may be several: btrfs */
};

/*
 * Return whether a and b are one file on one mount.
 */
static inline bool
rootid_same(const struct rootid *a, const struct rootid *b)
{
	return a->ino == b->ino && a->mount == b->mount && a->dev == b->dev;
}

struct common {			/* private memory without a file, in KB */
	uint64_t	 kb;	/* that others have mapped, too, */
	uint64_t	 own;	/* and not, before the stop */
	uint64_t	 start;	/* the mapping that has most of the first */
	uint64_t	 end;
	uint64_t	 most;	/* of it there */
};

struct dumpthread {		/* a thread in what the kernel writes */
	struct bytes	 general; /* borrowed; general registers */
	int		 signal; /* that was handled last, 0: none */
	uint64_t	 blocked; /* signals; of 32 bits, the first 32 */
	size_t		 at;	/* where the next of its notes is */
};

struct dumpnote {
	uint32_t	 type;	/* NT_ of <elf.h> */
	uint8_t		*data;	/* borrowed; NULL: there is none */
	size_t		 len;
};

/*
 * The moment that the mappings in lproc->task are of.
 */
enum mapstate {
	MAPS_BEFORE,	/* maps, smaps and vma are from before the stop */
	MAPS_REFIT,	/* smaps alone is: mappings_smaps() corrects it */
	MAPS_STOP	/* all are as they were in the stop */
};

struct lproc {
	TAILQ_ENTRY(lproc) entry;
	RB_ENTRY(lproc)	 bypid;
	pid_t		 pid;
	uint64_t	 start;	/* when it was started, in ticks; 0: not told */
	long		 tracer; /* another, of its first thread; or 0 */
	pid_t		 sharer; /* another process that has its memory and
				    is not stopped; 0: none */
	pid_t		 mmtid;	/* the clone, or a thread that has the memory;
				   0: none */
	struct lthreads	 threads;
	struct tids	 tids;	/* the same, by number */
	bool		 found;	/* by -r or by name, not asked for by pid */
	bool		 kernel; /* a thread of the kernel */
	struct coredump	*core;	/* owned; of one that dumps core, or NULL */
	bool		 skip;	/* not taken after all */
	bool		 inert;	/* nothing can be run in it: that is told */
	uint64_t	 when;	/* it was gathered, in ms of now_ms */
	struct filelist	 files;	/* some of the record, read in the stop, */
	struct filelist	 links;	/* likewise, */
	struct filelist	 fds;	/* what it will have of descriptors, */
	char		*unopened; /* owned; and why they are not all, or
				      NULL */
	struct rootid	 root;	/* its root directory, in the stop */
	const struct bytes *mounts; /* borrowed; mountinfo then, or NULL */
	unsigned int	 dumped; /* its coredump_filter: core(5) */
	uint64_t	 since;	/* stopped, ns of CLOCK_MONOTONIC; 0: not */
	uint64_t	 held;	/* how long it was stopped, in us */
	struct task	 task;	/* of its first thread */
	enum mapstate	 maps;
	pid_t		 clone;	/* of its memory, by us; 0: none */
	pid_t		 origin; /* a thread of its own that has the memory */
	bool		 whole;	/* the clone has all that is mapped */
	struct common	 common; /* with others */
	struct lproc	*head;	/* borrowed; whose clone this one has, or
				   NULL: clone/family.c */
	struct source	*memory; /* borrowed; of the clone, once it is made */
	struct inject	*calls;	/* owned; that the clone makes, or NULL */
	struct bytes	 cgroup; /* owned; that of its first thread, which
				   others may not be in; no data: none is in
				   one */
	char		*limit;	/* owned; of its memory, a sentence; or NULL */
	atomic_bool	 ended;	/* its clone has ended, and was waited for */
	atomic_bool	 lost;	/* its clone was killed before its time */
	struct pagerun	*huge;	/* owned; huge pages that it has as its clone
				   has them, ascending */
	size_t		 nhuge;
	struct gap	*gap;	/* owned; what the clone lacks, ascending */
	size_t		 ngaps;
};

/*
 * Return true if process p is taken, and is more than a name: not a thread of
 * the kernel.
 */
static inline bool
lproc_istaken(const struct lproc *p)
{
	return !p->skip && !p->kernel;
}

TAILQ_HEAD(lprocs, lproc);
RB_HEAD(pids, lproc);

enum step {			/* what takes long while some are stopped */
	STEP_NONE,	/* nothing is stopped */
	STEP_STOP,
	STEP_REGS,
	STEP_ASK,
	STEP_RECORD,
	STEP_FILES,
	STEP_CLONE,
	STEP_SHARED,
	STEP_MEMORY,
	STEP_RELEASE,
	NSTEP
};

struct steps {
	enum step	 now;
	uint64_t	 since;		/* ns */
	uint64_t	 spent[NSTEP];	/* ns */
};

struct hurry {			/* linux/live.c */
	pid_t		 tid;	/* who does, 0: nobody */
	int		 policy; /* that it had, sched(7) */
};

struct setfile {		/* what is known of a file: setfile.c */
	RB_ENTRY(setfile) entry;
	uint64_t	 dev;
	uint64_t	 ino;
	uint64_t	 bytes;	/* of one in memory, resident in the process
				   that has most */
	struct shmcopy	*shmcopy; /* owned, as these: file/shared.c */
	struct carry	*carry;	/* file/carry.c */
	struct plain	*plain;	/* clone/plain.c */
};

RB_HEAD(setfiles, setfile);

struct live {
	struct lprocs	 procs;
	struct pids	 pids;	/* the same, by number */

	/* owned, each by the file that knows it; NULL: nothing yet */
	struct carries	*carries;	/* file/carry.c */
	struct prepared	*prepared;	/* file/prepared.c */
	struct cgroups	*cgroups;	/* choose/cgroup.c */
	struct pipeline	*pipeline;	/* stop/pipeline.c */
	struct files	*files;		/* restore/open/openfile.c */
	struct hardlinks *links;	/* restore/open/hardlink.c */
	struct guard	*guard;		/* clone/guard.c */
	struct headroom	*headroom;	/* clone/headroom.c */
	struct mounted	*mounted;	/* restore/namespace/mounted.c */
	struct spacerec *spacerecs;	/* restore/namespace/recorded.c */
	struct filters	*filters;	/* take/seccomp.c */
	struct sysv	*sysv;		/* restore/namespace/sysv.c */
	struct taker	*taker;		/* take/take.c */
	struct username	*users;		/* user.c */

	struct setfiles	 byfile;	/* setfile.c */
	size_t		 nshm; /* copies of files: file/shared.c */
	uint64_t	 shmem;	/* bytes that are copied in the stop */
	struct source	*vdso;		/* borrowed; a copy of ours */
	uint64_t	 vdsolen;	/* bytes; 0: not looked for yet */
	struct liveopts	 opts;
	struct hurry	 hurry;
	pthread_t	 watcher; /* waits for clones: clone/clone.c, */
	atomic_bool	 watched; /* if there is one */
	bool		 incomplete;
	bool		 parted; /* likewise, but for what zombies lack */
	bool		 lost;	/* what was copied in the stop */
	bool		 monitor; /* one of them has userfaultfd(2) open */
	bool		 stopped;	/* from here on, ask no one for names */
	struct steps	 steps;		/* what it takes time for */
	uint64_t	 copied;	/* bytes, as clones had them still */
	size_t		 nmissed;	/* who did not answer: that is told */
};

struct turns {			/* processes, for several threads */
	pthread_mutex_t	 lock;	/* protects next */
	struct lproc	*next;	/* borrowed; the first process that no thread
				   has taken yet, or NULL */
};

/* set.c */
void		 live_warn(struct live *l, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
void		 live_say(const struct live *l, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
struct lproc	*lproc_add(struct live *l, pid_t pid);
struct lproc	*lproc_find(struct live *l, pid_t pid);
bool		 lproc_has(const struct lproc *p, enum hold how);
struct lthread	*lproc_leader(const struct lproc *p);
bool		 lproc_isthere(const struct lproc *p);
void		 lproc_leave(struct live *l, struct lproc *p);
void		 lproc_refuse(struct live *l, struct lproc *p);
int		 lproc_stands(const struct lproc *p);
void		 lprocs_free(struct live *l);
size_t		 turns_begin(const struct live *l, struct turns *t,
		    size_t most);
struct lproc	*turns_next(struct turns *t);
void		 task_free(struct task *t);
void		 threads_free(struct lproc *p);

/* coredump.c: what the kernel writes of a process before its memory */
struct coredump	*coredump_read(int fd);
void		 coredump_free(struct coredump *c);
bool		 coredump_find(const struct coredump *c, pid_t inner,
		    struct dumpthread *d);
bool		 coredump_note(const struct coredump *c, struct dumpthread *d,
		    struct dumpnote *n);
void		 coredump_regs(const struct coredump *c,
		    void (*fn)(void *, uint64_t, bool), void *arg);

/* mappings.c: before the stop and in it */
bool		 lproc_shares(const struct lproc *a, const struct lproc *b);
void		 mappings_free(struct lproc *p);
void		 mappings_look(struct live *l, struct lproc *p);
void		 mappings_peek(struct lproc *p);
int		 mappings_read(struct lproc *p);
int		 mappings_smaps(const struct lproc *p, const struct bytes *maps,
		    struct bytes *smaps);

/* setfile.c: files, and how much will be copied in the stop */
struct setfile	*setfile_find(struct live *l, uint64_t dev, uint64_t ino);
struct setfile	*setfile_get(struct live *l, uint64_t dev, uint64_t ino);
struct setfile	*setfile_next(struct live *l, struct setfile *f);
void		 setfiles_free(struct live *l);
void		 shmems_note(struct live *l, const struct smap *m);

/* steps.c */
enum step	 step_begin(struct steps *s, enum step next);
const char	*steps_longest(const struct steps *s, uint64_t *us);
void		 steps_text(const struct steps *s, char *text, size_t size);

/* user.c: names of users */
void		 live_user(struct live *l, uid_t uid, char *name, size_t size);
void		 users_free(struct live *l);
void		 user_name(uid_t uid, char *name, size_t size);

#endif
