/*
 * A set of live processes: the structures and functions that all rooms of
 * lib/linux share.
 */
#ifndef SET_H
#define SET_H

#include "linux/machine/machine.h"
#include "linux/proc/proc.h"
#include "pool.h"

#include <sys/queue.h>
#include <sys/tree.h>

#include <pthread.h>

struct smap;

enum hold {			/* whether we trace or have stopped a thread */
	HOLD_NONE,
	HOLD_SEIZED,		/* the thread is traced by us, and runs */
	HOLD_INTERRUPTED,	/* the thread runs, but PTRACE_INTERRUPT was
				   sent to it */
	HOLD_STOPPED,		/* the thread was stopped by us */
	HOLD_FOREIGN,		/* the thread is traced by another process */
	HOLD_BUSY,		/* the thread did not stop in time */
	HOLD_DUMPED, /* the thread does not run while the kernel dumps core */
	HOLD_GONE
};

enum rank {			/* order in which threads are seized and
				   stopped; see stop/threads.c */
	RANK_IDLE,		/* the thread sleeps */
	RANK_RUNS, /* the thread runs, so it may have a child soon */
	RANK_SIGNALED,		/* first thread of a process, or one with
				   children: signals are sent to it */
	RANK_MAX
};

enum { MAX_PENDING = 4096 };	/* maximum number of a thread's pending signals
				   to read: the kernel counts from the first for
				   each PTRACE_PEEKSIGINFO */

struct sent {			/* pending signals that processes or terminals
				   sent */
	uint64_t	 set;	/* bit 0 represents signal 1 */
	size_t		 n;	/* how many; one can be queued repeatedly */
	int		 last;	/* the last one */
};

struct lthread {
	TAILQ_ENTRY(lthread) entry;
	RB_ENTRY(lthread) bytid;
	pid_t		 tid;
	enum rank	 rank;
	enum hold	 hold;
	long		 tracer;	/* thread ID of another tracer, if
					   "hold" is HOLD_FOREIGN */
	char		 state;		/* state letter of proc_pid_stat(5)
					   before we stopped it */
	bool		 caught; /* an attempt to seize the thread timed out,
				    and has stopped it all the same */
	struct filelist	 seen;	/* owned; files for "rec" that were read before
				   the thread was stopped, or with ptrace(2) */
	struct seencall	 seencall;	/* system call that the thread was in
					   before we stopped it */
	bool		 regs;		/* the thread's registers were read */
	struct sent	 sent[2];	/* signals that are recorded as pending
					   for the thread [0], and for its
					   process [1] */
	struct bytes	 general;	/* owned; general registers, until they
					   are moved to "rec" */
	/* not the first thread of its process: its record is put together
	   when it is taken, without reading more */
	bool		 later;
	struct filelist	 rec; /* owned; finished record of the thread */
	atomic_bool	 ended;	/* the thread has ended, and "watcher" has
				   reaped it */
};

TAILQ_HEAD(lthreads, lthread);
RB_HEAD(tids, lthread);

struct rootid {			/* identity of the root directory of a
				   process */
	uint64_t	 ino;	/* inode of the directory; 0: unknown */
	uint64_t	 mount;	/* mount ID of the mount that the directory
				   is on */
	uint64_t	 dev;	/* device number of the directory, since a btrfs
				   mount has several */
};

struct common {			/* sizes of private memory without a file, in
				   kilobytes, as smaps gave them before the
				   stop */
	uint64_t	 kb;	/* kilobytes that other processes map as well */
	uint64_t	 own;	/* kilobytes that no other process maps */
	uint64_t	 start;	/* start of the mapping with the most shared
				   memory */
	uint64_t	 end;
	uint64_t	 most;	/* kilobytes of shared memory in the mapping
				   from start to end */
};

struct dumpthread {		/* a thread, as the notes of a core describe
				   it */
	struct bytes	 general; /* borrowed; general registers */
	int		 signal; /* pr_cursig, the last signal that the thread
				    received; 0: none */
	uint64_t	 blocked; /* signal mask; a 32-bit core has only
				     signals 1 to 32 */
	size_t		 at;	/* offset of the thread's next note */
};

struct dumpnote {
	uint32_t	 type;	/* NT_ constant of <elf.h> */
	uint8_t		*data;	/* borrowed; NULL: no more notes */
	size_t		 len;
};

/*
 * When the mappings in the task of a process were read: before the stop or
 * during it.
 */
enum mapstate {
	MAPS_BEFORE,	/* maps, smaps and vma were read before the stop */
	MAPS_REFIT,	/* only smaps was read before the stop:
			   mappings_smaps() corrects it */
	MAPS_STOP	/* maps, smaps and vma show the mappings during the
			   stop */
};

struct lproc {
	TAILQ_ENTRY(lproc) entry;
	RB_ENTRY(lproc)	 bypid;
	pid_t		 pid;
	uint64_t	 start;	/* start time in ticks after boot; 0: unknown */
	long		 tracer; /* process ID of another tracer of the first
				    thread; 0: none */
	pid_t		 sharer; /* ID of a running process outside the set that
				    shares memory with this process; 0: none */
	bool		 alone;	/* before the stop, no other process of the set
				   shared its memory */
	pid_t		 mmtid;	/* ID of the thread by which the process's
				   memory is read: a live thread of its own, or
				   its clone; 0: it has no memory */
	struct lthreads	 threads;
	struct tids	 tids; /* tree of the process's threads, by thread ID */
	bool		 found;	/* the process was found by name, cgroup or -r,
				   not given by process ID */
	bool		 kernel; /* a kernel thread */
	struct coredump	*core;	/* owned; registers of the process, if it is
				   dumping core; else NULL */
	bool		 skip;	/* the process is left out of the snapshot */
	bool		 inert;	/* system calls cannot be injected; the user
				   was warned */
	uint64_t	 when; /* time at which the record was read, in ms, as
				  returned by now_ms() */
	struct filelist	 files;	/* owned; files of the record that must not be
				   read from the clone */
	struct filelist	 links;	/* owned; links of the record, such as cwd and
				   ns/mnt, read while the process was stopped */
	struct filelist	 fds;	/* owned; descriptor files of the record (fd/N,
				   fdinfo/N) */
	char		*unopened; /* owned; error that cut the list of
				      descriptors short, or NULL */
	struct rootid	 root;	/* root directory of the process while it was
				   stopped */
	const struct bytes *mounts; /* borrowed; mountinfo of the process while
				       it was stopped, or NULL */
	unsigned int	 dumped; /* bits of the process's coredump_filter; see
				    core(5) */
	uint64_t	 since;	/* time at which the process was stopped, in ns
				   of CLOCK_MONOTONIC; 0: it is not stopped */
	uint64_t	 held;	/* how long the process was stopped, in
				   microseconds */
	struct task	 task; /* facts about the first thread of the process */
	enum mapstate	 maps;
	pid_t		 clone;	/* process ID of the clone that is read instead
				   of the process; 0: none */
	pid_t		 origin; /* ID of one of the process's own threads, by
				    which its memory can be read */
	bool		 whole;	/* the clone has all mappings of the process */
	bool		 shares; /* the clone shares the descriptor table of
				    the process */
	struct common	 common; /* memory that the process shares with
				    others */
	struct lproc	*head;	/* borrowed; process whose clone is read for
				   this one as well, or NULL; see
				   clone/family.c */
	struct source	*memory; /* borrowed; source of the process's memory, or
				    NULL */
	struct inject	*calls;	/* owned; state of calls injected into the
				   clone, or NULL */
	struct bytes	 cgroup; /* owned; text of /proc/PID/cgroup, to compare
				    threads with; empty if the process is in no
				    cgroup */
	char		*limit;	/* owned; sentence about the tightest memory
				   limit that the clone is under, or NULL */
	atomic_bool	 ended;	/* the clone has ended, and we have waited for
				   it */
	bool		 orphan; /* the processes of the clone have ended; only
				    for orphans_kill() */
	atomic_bool	 lost;	/* the clone was killed before it was read
				   completely */
	struct pagerun	*huge;	/* owned; runs of huge pages that the process
				   and its clone share */
	size_t		 nhuge;
	struct gap	*gap;	/* owned; pages that the clone lacks, in
				   ascending order */
	size_t		 ngaps;
};

/*
 * Return true if process p is taken with memory and registers: it is not left
 * out and not a kernel thread.
 */
static inline bool
lproc_istaken(const struct lproc *p)
{
	return !p->skip && !p->kernel;
}

TAILQ_HEAD(lprocs, lproc);
RB_HEAD(pids, lproc);

enum step {			/* phases of the stop whose time is measured */
	STEP_NONE,	/* no process is stopped */
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
	uint64_t	 since; /* time at which the current step began, in ns,
				   as returned by now_ns() */
	uint64_t	 spent[NSTEP];	/* time spent in each step, in ns */
};

struct sched_boost {		/* real-time scheduling during the stop; see
				   linux/priority.c */
	pid_t		 tid;	/* thread with real-time priority; 0: none */
	int		 policy; /* scheduling policy to be restored; see
				    sched(7) */
	bool		 yields; /* the nice value was raised */
	int		 nice;	/* nice value to be restored */
};

struct setfile {		/* a file that processes map; see setfile.c */
	RB_ENTRY(setfile) entry;
	uint64_t	 dev;
	uint64_t	 ino;
	uint64_t	 bytes;	/* for a file in memory: maximum number of its
				   bytes that are resident in any one process */
	struct shmcopy	*shmcopy; /* owned by file/shared.c; copy of the file's
				     shared memory */
	struct carry	*carry;	/* owned by file/carry.c; file embedded in
				   the snapshot */
};

RB_HEAD(setfiles, setfile);

struct live {
	struct lprocs	 procs;
	struct pids	 pids;	/* tree of the processes, by process ID */

	/* Each of these belongs to the source file named beside it, and is
	   NULL until that file makes it. */
	struct carries	*carries;	/* file/carry.c */
	struct prepared	*prepared;	/* file/prepared.c */
	struct cgroups	*cgroups;	/* choose/cgroup.c */
	struct pipeline	*pipeline;	/* stop/pipeline.c */
	struct files	*files;		/* restore/open/openfile.c */
	struct hardlinks *links;	/* restore/open/hardlink.c */
	struct guard	*guard;		/* clone/guard.c */
	struct headroom	*headroom;	/* clone/headroom.c */
	struct taker	*taker;		/* take/take.c */

	struct pool	 pool;	/* owned; memory that is freed with the set */
	void		*cells;	/* owned; tree of tsearch(3); see remember.c */
	struct bytes	*filter; /* owned; programs of seccomp(2) found so far;
				    see take/seccomp.c */
	size_t		 nfilter;
	struct setfiles	 byfile; /* files that the processes map; see
				    setfile.c */
	size_t		 nshm; /* number of copies of shared memory; see
				  file/shared.c */
	uint64_t	 shmem;	/* estimated number of bytes to copy while
				   processes are stopped */
	struct source	*vdso;		/* borrowed; copy of our own [vdso] */
	uint64_t	 vdsolen;	/* length of our [vdso] in bytes; 0: not
					   looked for yet */
	struct liveopts	 opts;
	struct lproc	*init;	/* borrowed; first process that is the init of a
				   pid namespace other than ours, or NULL; see
				   restore/namespace/mntspace.c */
	bool		 initsought; /* init_find() has set "init" */
	struct sched_boost sched_boost;
	pthread_t	 watcher; /* thread that waits for clones; see
				     clone/clone.c */
	atomic_bool	 watched; /* the thread "watcher" is running */
	atomic_bool	 kept;	/* live_keep() was called */
	bool		 incomplete;
	bool		 parted; /* like "incomplete", but not set for
				    zombies */
	bool		 tcpcloses; /* TCP connections could not be locked */
	bool		 lost;	/* copies made while processes were stopped
				   could not be written */
	bool		 monitor; /* a process has a userfaultfd(2) descriptor
				     open */
	bool		 stopped;	/* processes may be stopped: ask no
					   name service */
	bool		 parked; /* the processes remain stopped, by SIGSTOP,
				    after their release */
	struct steps	 steps; /* time spent in each step of the stop */
	uint64_t	 copied;	/* number of bytes that the kernel
					   copied because processes that had
					   clones wrote to them */
	size_t		 nmissed;	/* number of unanswered proxy requests
					   that the user was already warned
					   of */
};

struct turns {			/* a queue of processes for several threads */
	pthread_mutex_t	 lock;	/* protects next */
	struct lproc	*next;	/* borrowed; first process that no thread has
				   taken yet, or NULL */
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

/* coredump.c: registers in a core that the kernel writes */
struct coredump	*coredump_read(int fd);
void		 coredump_free(struct coredump *c);
bool		 coredump_find(const struct coredump *c, pid_t inner,
		    struct dumpthread *d);
bool		 coredump_note(const struct coredump *c, struct dumpthread *d,
		    struct dumpnote *n);
void		 coredump_regs(const struct coredump *c,
		    void (*fn)(void *, uint64_t, bool), void *arg);

/* mappings.c: mappings before the stop and in it */
bool		 lproc_shares(const struct lproc *a, const struct lproc *b);
void		 mappings_free(struct lproc *p);
void		 mappings_look(struct live *l, struct lproc *p);
void		 mappings_peek(struct lproc *p);
int		 mappings_read(struct lproc *p);
void		 mappings_relook(struct live *l, struct lproc *p);
int		 mappings_smaps(const struct lproc *p, const struct bytes *maps,
		    struct bytes *smaps);

/* setfile.c: mapped files, and how much will be copied in the stop */
struct setfile	*setfile_find(struct live *l, uint64_t dev, uint64_t ino);
struct setfile	*setfile_get(struct live *l, uint64_t dev, uint64_t ino);
struct setfile	*setfile_next(struct live *l, struct setfile *f);
void		 shmems_note(struct live *l, const struct smap *m);

/* remember.c: the table of a set */
void		**live_cell(struct live *l, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
bool		 cell_once(void **place);
void		 live_forget(struct live *l);

/* steps.c */
enum step	 step_begin(struct steps *s, enum step next);
const char	*steps_longest(const struct steps *s, uint64_t *us);
void		 steps_text(const struct steps *s, char *text, size_t size);

/* user.c: names of users */
void		 live_user(struct live *l, uid_t uid, char *name, size_t size);
void		 user_name(uid_t uid, char *name, size_t size);

#endif
