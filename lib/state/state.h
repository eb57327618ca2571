/*
 * Parsers of /proc files (proc(5)) and the state of a process that they
 * contain. A text may come from a stranger: it may contain any bytes, end
 * anywhere, and has no NUL at its end. Parsers do not fail unless their
 * comment says so; values missing from a text stay unchanged, or are 0.
 */
#ifndef STATE_H
#define STATE_H

#include "machine.h"
#include "space.h"

/* link ns/ipc of the initial namespace: PROC_IPC_INIT_INO of linux/proc_ns.h */
#define IPC_FIRST "ipc:[4026531839]"

struct bulk;

/*
 * Scan a text piece by piece: scan.c. Each function advances s past the piece
 * that it parsed.
 */
struct scan {
	const char	*s;	/* borrowed; start of the unparsed rest */
	const char	*end;
};

struct scan	 scan_begin(const void *text, size_t len);
bool		 scan_line(struct scan *text, struct scan *line);
bool		 scan_key(struct scan *text, const char *key,
		    struct scan *value);
size_t		 scan_len(const struct scan *t);
bool		 scan_begins(struct scan *t, const char *s);
bool		 scan_ends(struct scan *t, const char *s);
bool		 scan_until(struct scan *t, char c, struct scan *part);
void		 scan_blanks(struct scan *t);
bool		 scan_byte(struct scan *t, char c);
bool		 scan_number(struct scan *t, unsigned int base, uint64_t *v);
size_t		 scan_word(struct scan *t, char *word, size_t size);
bool		 scan_is(const struct scan *t, const char *s);

/*
 * stat: stat.c. Fields are numbered as in proc_pid_stat(5).
 */
enum {
	STAT_PID = 1, STAT_PPID = 4, STAT_PGRP = 5, STAT_SESSION = 6,
	STAT_TTY = 7, STAT_TPGID = 8, STAT_FLAGS = 9, STAT_CMINFLT = 11,
	/* UTIME to CSTIME in clock ticks */
	STAT_UTIME = 14, STAT_STIME, STAT_CUTIME, STAT_CSTIME,
	STAT_PRIORITY = 18, STAT_NICE, STAT_THREADS, STAT_START = 22,
	STAT_VSIZE, STAT_RSS, STAT_RSSLIM, STAT_STARTCODE, STAT_ENDCODE,
	STAT_STARTSTACK, STAT_SP, STAT_PC, STAT_PENDING, STAT_BLOCKED,
	STAT_EXITSIGNAL = 38, STAT_STARTDATA = 45, STAT_ENDDATA, STAT_BRK,
	STAT_ARGSTART, STAT_ARGEND, STAT_ENVSTART, STAT_ENVEND, STAT_EXITCODE,
	STAT_FIELDS
};

enum {				/* bits of STAT_FLAGS: linux/sched.h */
	PF_EXITING = 0x4,
	PF_IO_WORKER = 0x10,
	PF_DUMPCORE = 0x200,
	PF_USER_WORKER = 0x4000,
	PF_KTHREAD = 0x200000
};

struct procstat {
	char		 comm[64];
	char		 state;	/* state letter; '\0': unknown */
	uint64_t	 v[STAT_FIELDS]; /* negative values are sign-extended */
};

int		 stat_parse(struct procstat *st, const void *text, size_t len);
void		 stat_print(struct buf *b, const struct procstat *st);

/*
 * status: status.c. Keys are as in proc_pid_status(5), without the colon.
 */
size_t		 status_list(const void *text, size_t len, const char *key,
		    unsigned int base, uint64_t *v, size_t max);
char		 status_state(const void *text, size_t len);
uint64_t	 status_first(const void *text, size_t len, const char *key,
		    unsigned int base);
size_t		 status_inner(const void *text, size_t len, const char *key,
		    uint64_t *v);
bool		 status_begins(const void *text, size_t len, const char *key,
		    const char *value);

/*
 * maps and smaps: smaps.c
 */
struct smap {			/* a mapping, from maps or smaps */
	struct vma	 vma;	/* the name is not set */
	struct scan	 name;	/* borrowed */
	uint64_t	 page;	/* page size in bytes, from KernelPageSize;
				   0: unknown */
	struct mapping	 mapping;
};

int		 smap_next(struct scan *text, struct smap *m);
bool		 vma_stayed(const struct vma *was, const struct vma *now);
int		 vmas_addsmap(struct vmas *l, const struct smap *m);
bool		 vma_became(const struct vma *was, const struct vma *now);
int		 smaps_refit(struct bulk *to, struct scan maps,
		    struct scan smaps);

/*
 * fdinfo: fdinfo.c, proc_pid_fdinfo(5)
 */
struct fdinfo {
	bool		 has_flags;
	bool		 lock;	/* the process holds locks on the file */
	unsigned int	 flags;	/* flags of open(2) */
	int64_t		 pos;
	uint64_t	 mount;	/* ID of the mount in mountinfo; 0: unknown */
};

void		 fdinfo_parse(struct fdinfo *f, const void *text, size_t len);

enum filelock_kind {		/* kind of lock, by the call that sets it */
	LOCK_OTHER,		/* unknown kind */
	LOCK_POSIX, /* set by F_SETLK of fcntl(2); owned by a process */
	LOCK_FLOCK,		/* set by flock(2) */
	LOCK_OFD, /* set by F_OFD_SETLK of fcntl(2) */
	LOCK_LEASE /* set by F_SETLEASE of fcntl(2) */
};

struct filelock {
	enum filelock_kind kind;
	/* for a lease being broken, the type that it is to become */
	enum { LOCKED_READ, LOCKED_WRITE, LOCKED_NOT } type;
	bool		 breaking; /* the lease is being broken */
	uint64_t	 start;	/* byte offset of the locked range */
	uint64_t	 len;	/* length of the locked range, in bytes; 0: up
				   to the end of the file */
};

bool		 filelock_next(struct scan *text, struct filelock *l);

/*
 * limits: limits.c. Lines are in the order of RLIMIT_* of getrlimit(2).
 */
struct limit {
	char		 name[26];
	uint64_t	 cur; /* soft limit; UINT64_MAX: unlimited or unknown */
	uint64_t	 max;
	bool		 valid;
};

bool		 limits_next(struct scan *text, struct limit *l);
bool		 limits_find(struct scan text, const char *name,
		    uint64_t *soft);

/*
 * cgroup files, cgroups(7), and the unit, container and pod that they name:
 * cgroup.c, place.c
 */
struct cgroupline {		/* line of a cgroup file; borrowed */
	struct scan	 list;	/* list of controllers; empty: version 2 */
	struct scan	 path;
};

enum { CGROUP_RANKS = 5 };

bool		 cgroup_next(struct scan *text, struct cgroupline *l);
bool		 cgroup_lists(struct scan list, const char *s);
unsigned int	 cgroup_rank(const struct cgroupline *l);
int		 cgroup_locate(struct scan *text, const char *controller,
		    struct scan path, char **dir, size_t *top);
bool		 place_next(struct scan *path, struct scan *part);
bool		 place_part(struct place *pl, struct scan part,
		    struct scan parent);
void		 place_cgroup(struct place *pl, const void *text, size_t len);

/*
 * mountinfo: mountinfo.c
 */
struct mountinfo {		/* a mount; texts are borrowed, with octal
				   escapes */
	uint64_t	 id;
	uint64_t	 parent; /* ID of the mount that this one is on */
	uint64_t	 dev;
	struct scan	 root;	/* directory in the file system that is mounted
				   here */
	struct scan	 point;	/* mount point */
	struct scan	 flags;	/* mount options */
	struct scan	 type;
	struct scan	 source;
	struct scan	 opts;	/* options of the file system */
};

bool		 mountinfo_next(struct scan *text, struct mountinfo *m);
bool		 mountinfo_find(const void *text, size_t len, uint64_t id,
		    struct mountinfo *m);

/*
 * auxv: auxv.c, getauxval(3)
 */
uint64_t	 auxv_page(const struct machine *m, const void *auxv,
		    size_t len);

/*
 * State of a process or thread, typed. Readers of some formats set it; in a
 * snapshot with a Linux record or Plan 9's small files, record/state.c makes it
 * from these when it is first used.
 */
struct taskstate {
	struct procstat	 stat;	/* IDs are those in our pid namespace */
	char		 name[28]; /* name of the program */
	char		 cputype[32]; /* Plan 9's name of the machine; "":
					 unknown */
	uint64_t	 page;	/* page size in bytes; 0: unknown */
	uint64_t	 tgid;	/* "tgid" and "tracer" are IDs in our pid
				   namespace */
	uint64_t	 tracer;
	uint64_t	 pid;	/* "pid" to "session" are IDs in the process's
				   own pid namespace */
	uint64_t	 ppid;
	uint64_t	 pgrp;
	uint64_t	 session;
	uint64_t	 uid[4]; /* IDs: real, effective, saved and file
				    system */
	uint64_t	 gid[4];
	bool		 has_umask;
	unsigned int	 umask;
	uint64_t	 pending; /* bit set of pending signals */
	uint64_t	 blocked;
	bool		 has_cursig;
	unsigned int	 cursig; /* signal in the core that the state was read
				    from */
	struct recfile	 siginfo; /* borrowed; data is NULL if unknown */
	struct recfile	 cmdline;
	struct recfile	 auxv;
	struct recfile	 reg[REGSET_MAX];
};

/*
 * Mappings, pages and address spaces (space.h): maps.c, pages.c, space.c
 */
enum { MAX_MAPPINGS = 1 << 21 }; /* maximum number of mappings of a process */

int		 vmas_parse(struct vmas *l, const void *text, size_t len);
int		 vmas_add(struct vmas *, const struct vma *);
bool		 vmas_match(const struct bytes *maps, const struct vmas *l);
int		 vmas_refit(struct vmas *now, const struct vmas *was);
int		 vmas_sort(struct vmas *);
uint64_t	 pagespan_kb(const struct pagespan *);
int		 space_smaps(struct space *, const void *, size_t);
int		 space_vmas(struct space *);
void		 space_status(struct space *, const void *, size_t);
void		 space_stat(struct space *, const void *, size_t);
void		 space_limits(struct space *, const void *, size_t);

#endif
