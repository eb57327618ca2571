/*
 * Live processes: what the files of lib/linux share.
 */
#ifndef LIVE_H
#define LIVE_H

#include "clock.h"
#include "snap.h"
#include "linux/proc/steps.h"

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
	struct frozen	*frozen;	/* owned; by inode: linux/clone/shared.c */
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

/* linux/stop/pipeline.c */
bool		 reads_us(struct live *, pid_t);
void		 readers_free(struct live *);

/* take.c */
int		 proc_gather(struct live *, struct snap *, struct lproc *);
void		 take_finish(struct live *);

/* clone.c: frozen copies of address spaces */
int		 live_clone(struct live *, struct snap *);
bool		 clone_lost(struct lproc *);
void		 clones_end(struct live *);

/* headroom.c: the memory that cgroups have for clones */
int		 headroom_claim(struct live *, struct lproc *, size_t);
void		 headroom_free(struct live *);

/* guard.c: the process that reaps clones, whatever becomes of us */
struct guard	*guard_begin(void);
int		 guard_tell(struct guard *, pid_t, pid_t);
int		 guard_end(struct guard *);
pid_t		 guard_pid(const struct guard *);
bool		 guard_is(pid_t);

/* linux/clone/lacks.c: what a clone lacks */
int		 keep_lacking(struct live *, struct snap *, struct lproc *,
		    const struct vmas *);
const struct kept *kept_find(const struct lproc *, uint64_t, uint64_t);

/* linux/clone/shared.c: files as they were when all was stopped */
int		 frozen_copy(struct live *, int, const struct stat *);
bool		 frozen_has(const struct live *, const struct stat *);
int		 frozen_open(const struct live *, int, struct stat *);
void		 frozen_free(struct live *);

/* procfs.c: files below /proc */
int		 proc_open(pid_t, pid_t, const char *, int);
int		 proc_read(pid_t, pid_t, const char *, struct bytes *);
char		*proc_link(pid_t, pid_t, const char *);
int		 proc_list(pid_t, const char *, int (*)(void *, long), void *);
int		 proc_stat(pid_t, pid_t, struct task *);
char		 proc_state(pid_t, pid_t);
bool		 proc_died(pid_t, pid_t);
bool		 proc_islost(int);
long		 proc_status(pid_t, pid_t, const char *);
void		 filelist_add(struct filelist *, const char *, uint8_t *,
		    size_t);
void		 filelist_text(struct filelist *, const char *, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
void		 filelist_buf(struct filelist *, const char *, struct buf *);
void		 filelist_read(struct filelist *, pid_t, pid_t, const char *);
void		 filelist_lose(struct filelist *, const char *);
void		 filelist_link(struct filelist *, pid_t, pid_t, const char *);
void		 filelist_free(struct filelist *);

/* user.c */
void		 live_user(struct live *, uid_t, char *, size_t);

/* seize.c: one thread */
void		 thread_look(struct lproc *, struct lthread *);
int		 thread_judge(const struct lproc *, struct lthread *);
int		 thread_seize(struct lproc *, struct lthread *);
void		 thread_stop(struct lthread *);
void		 thread_poll(struct lthread *);
int		 thread_ptrace(enum __ptrace_request, pid_t, uintptr_t);
bool		 thread_haschild(pid_t, pid_t, pid_t);

/* threads.c: those of one process */
struct lthread	*threads_add(struct lproc *, pid_t);
int		 threads_list(struct lproc *, bool);
int		 threads_seize(struct lproc *);
void		 threads_await(struct lproc *);
void		 threads_release(struct lproc *);

/* regs.c: what ptrace(2) gives of a stopped thread */
struct rseqconf {		/* PTRACE_GET_RSEQ_CONFIGURATION */
	uint64_t	 area;	/* struct rseq in the process; 0: none */
	uint32_t	 len;
	uint32_t	 signature;
	uint32_t	 flags;
	uint32_t	 pad;
};

void		 regs_read(struct lthread *);
void		 regs_restart(pid_t);
void		 regs_abort(pid_t);

/* outside.c: what of a thread can be told from outside */
void		 thread_outside(const struct lproc *, struct lthread *);

/* sharers.c: who else has the memory of a process */
int		 sharers_tell(struct live *);

/* state.c: what only a process itself can tell */
void		 state_read(struct live *);

/* task.c: what /proc gives of a stopped thread */
int		 task_read(struct live *, struct lproc *, struct lthread *,
		    struct task *);
void		 task_record(struct live *, struct snap *, struct lproc *,
		    struct lthread *, struct task *, struct filelist *);
void		 task_free(struct task *);

/*
 * Bits of an entry of pagemap: Linux,
 * Documentation/admin-guide/mm/pagemap.rst.  What is no page but a guard, a
 * marker, or on its way elsewhere, is told as swapped, too.
 */
#define PME_PRESENT	((uint64_t)1 << 63)
#define PME_SWAPPED	((uint64_t)1 << 62)
#define PME_FILE	((uint64_t)1 << 61)
#define PME_GUARD	((uint64_t)1 << 58)
#define PME_UFFD	((uint64_t)1 << 57)
#define PME_EXCLUSIVE	((uint64_t)1 << 56)
#define PME_FRAME	(((uint64_t)1 << 55) - 1)

/* pagemap.c: which pages are there */
enum {
	PM_PRESENT = 1,
	PM_SWAPPED = 2,
	PM_FILE = 4,		/* of a file or shared memory, unmodified */
	PM_ZERO = 8,
	PM_GUARD = 16,
	PM_HUGE = 32		/* mapped with others by one entry */
};

struct pagerun {		/* a run of pages that are alike */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	unsigned int	 what;
};

typedef int	(*pagerun_fn)(void *, const struct pagerun *);

int		 space_pagemap(const struct space *);
int		 pagemap_fail(ssize_t);
int		 pagemap_walk(int, uint64_t, uint64_t, unsigned int,
		    pagerun_fn, void *);
int		 pagemap_first(int, uint64_t *, uint64_t);
uint64_t	 pagemap_huge(int, uint64_t, uint64_t);
int		 pagemap_any(int, uint64_t, uint64_t);
int		 pagemap_frames(int, uint64_t, size_t, uint64_t *);

/* entries.c: pagemap of all mappings */
struct entries {		/* that lie one after another in a mapping */
	size_t		 vma;	/* its place */
	uint64_t	 addr;	/* of the first */
	const uint64_t	*v;	/* borrowed */
	size_t		 n;
	size_t		 each;	/* pages of one: 1, or all of a huge page */
};

typedef int	(*entries_fn)(void *, const struct entries *);

int		 pagemap_entries(int, const struct vmas *,
		    const struct frames *, entries_fn, void *);

/* linux/take/source.c: the memory of a stopped process as a source */
struct source	*source_live(struct live *, struct snap *, struct lproc *);
struct source	*source_livefar(struct live *, struct snap *, struct lproc *);
int		 source_live_pagemap(const struct source *);

/* carry.c: which files are carried along */
int		 carry_note(struct live *, const struct vma *,
		    struct source *, const struct stat *, bool);
int		 carry_open(struct live *, struct snap *,
		    const struct lproc *, const struct vma *, const char *);
void		 carry_free(struct live *);
bool		 path_isdeleted(const char *);

/* linux/serve/target.c: files that a target chooses */
int		 file_open(struct live *, const struct lproc *, const char *,
		    struct targetfile *, bool *);
struct source	*file_source(struct snap *, struct targetfile *, const char *,
		    int *);
void		 file_close(struct targetfile *);
void		 file_lookelf(struct targetfile *, int);

/* linux/serve/far.c: those that are read through the proxy, as sources */
struct source	*source_far(struct snap *, const struct targetfile *,
		    const char *);

/* served.c: file systems that others serve, and may not answer */
bool		 served_not(pid_t, uint64_t);
bool		 served_notmount(pid_t, uint64_t);
bool		 served_nottype(uint64_t, long);
void		 served_forget(void);

/* otherlink.c: other names of files whose names are deleted */
void		 otherlinks_look(struct live *);
const char	*otherlink_find(const struct live *, uint64_t, uint64_t);
void		 otherlinks_free(struct live *);

/* mounts.c: what a process has mounted */
struct mountinfo {
	unsigned long	 id;
	dev_t		 dev;
	bool		 local;	/* this machine's kernel alone serves it */
	bool		 layered; /* if its layers are so: overlay */
};

typedef void	(*mount_fn)(const struct mountinfo *, void *);

bool		 mounts_have(const struct bytes *, unsigned long);
bool		 mounts_local(const struct bytes *, unsigned long);
bool		 mounts_localdev(dev_t);
bool		 mounts_layered(const struct bytes *, unsigned long);
bool		 mounts_waylocal(const struct bytes *, const char *);
void		 mounts_each(const struct bytes *, mount_fn, void *);

/* openfile.c: what a process has open, and shares with others */
void		 files_record(struct live *, struct snap *,
		    const struct lproc *, const struct task *,
		    struct filelist *);
void		 files_free(struct live *);

/* vdso.c: what a process has not touched of its [vdso] */
struct source	*vdso_source(struct live *, struct snap *, struct source *,
		    const struct vma *, bool);

/* treatment.c: how mappings of files are taken */
enum treatment {
	TAKE_MEMORY,	/* pages of the process, whatever they are */
	TAKE_FILE,	/* unmodified pages from the file, all of them */
	TAKE_DATA,	/* the same, but only where the file has data */
	TAKE_DUMPED,	/* the same, of a file that may change meanwhile */
	TAKE_PRESENT,	/* what is not present is missing: files that cannot
			   be had, and a [vdso] unlike ours */
	LEAVE_FILE,	/* unmodified pages are missing */
	LEAVE_KERNEL,	/* all is missing: the kernel's own pages */
	LEAVE_DEVICE,
	LEAVE_SECRET,
	TAKE_FAILED	/* an error */
};

enum treatment	 vma_file(struct live *, const struct lproc *,
		    const struct vma *, struct targetfile *);
bool		 file_isonly(const struct vma *, const struct stat *);

/* memory.c: text and memory of a process as images */
int		 memory_image(struct live *, struct lproc *, struct snap *,
		    struct proc *, const struct task *, struct buf *);
int		 text_image(struct live *, struct lproc *, struct snap *,
		    struct proc *);

#endif
