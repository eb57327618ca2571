/*
 * What is known of a process: the texts of /proc taken apart (proc(5)).  A
 * text may come from a stranger: it has any bytes, ends anywhere, and has no
 * NUL behind it.  No parser here fails but where it says so; what a text does
 * not tell stays as it was, or is 0.
 */
#ifndef STATE_H
#define STATE_H

#include "machine.h"
#include "space.h"

/* the link ns/ipc of the machine's own: PROC_IPC_INIT_INO of linux/proc_ns.h */
#define IPC_FIRST "ipc:[4026531839]"

struct bulk;

/*
 * A text, piece by piece: scan.c.  Each function moves s behind what it took.
 */
struct scan {
	const char	*s;	/* borrowed; what is not taken yet */
	const char	*end;
};

struct scan	 scan_begin(const void *text, size_t len);
bool		 scan_line(struct scan *text, struct scan *line);
bool		 scan_key(struct scan *text, const char *key,
		    struct scan *value);
void		 scan_blanks(struct scan *t);
bool		 scan_byte(struct scan *t, char c);
bool		 scan_number(struct scan *t, unsigned int base, uint64_t *v);
size_t		 scan_word(struct scan *t, char *word, size_t size);
bool		 scan_is(const struct scan *t, const char *s);

/*
 * stat: stat.c.  Fields by their numbers in proc_pid_stat(5).
 */
enum {
	STAT_PID = 1, STAT_PPID = 4, STAT_PGRP = 5, STAT_SESSION = 6,
	STAT_TTY = 7, STAT_TPGID = 8, STAT_FLAGS = 9, STAT_CMINFLT = 11,
	STAT_UTIME = 14, STAT_STIME, STAT_CUTIME, STAT_CSTIME, /* in ticks */
	STAT_PRIORITY = 18, STAT_NICE, STAT_THREADS, STAT_START = 22,
	STAT_VSIZE, STAT_RSS, STAT_RSSLIM, STAT_STARTCODE, STAT_ENDCODE,
	STAT_STARTSTACK, STAT_SP, STAT_PC, STAT_PENDING, STAT_BLOCKED,
	STAT_EXITSIGNAL = 38, STAT_STARTDATA = 45, STAT_ENDDATA, STAT_BRK,
	STAT_ARGSTART, STAT_ARGEND, STAT_ENVSTART, STAT_ENVEND, STAT_EXITCODE,
	STAT_FIELDS
};

enum {				/* of STAT_FLAGS: linux/sched.h */
	PF_EXITING = 0x4,
	PF_IO_WORKER = 0x10,
	PF_DUMPCORE = 0x200,
	PF_USER_WORKER = 0x4000,
	PF_KTHREAD = 0x200000
};

struct procstat {
	char		 comm[64];
	char		 state;	/* '\0': not told */
	uint64_t	 v[STAT_FIELDS]; /* negative ones as in 64 bits */
};

int		 stat_parse(struct procstat *st, const void *text, size_t len);
void		 stat_print(struct buf *b, const struct procstat *st);

/*
 * status: status.c.  Keys are those of proc_pid_status(5), without the colon.
 */
size_t		 status_list(const void *text, size_t len, const char *key,
		    unsigned int base, uint64_t *v, size_t max);
uint64_t	 status_first(const void *text, size_t len, const char *key,
		    unsigned int base);
size_t		 status_inner(const void *text, size_t len, const char *key,
		    uint64_t *v);
bool		 status_begins(const void *text, size_t len, const char *key,
		    const char *value);

/*
 * maps and smaps: smaps.c
 */
struct smap {			/* a mapping as the text has it */
	struct vma	 vma;	/* without its name */
	struct scan	 name;	/* borrowed */
	uint64_t	 page;	/* bytes of one: KernelPageSize; 0: not told */
	struct mapping	 told;
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
	bool		 told;	/* flags are */
	bool		 lock;	/* there are locks on the file */
	unsigned int	 flags;	/* of open(2) */
	int64_t		 pos;
	uint64_t	 mount;	/* its number in mountinfo; 0: not told */
};

void		 fdinfo_parse(struct fdinfo *f, const void *text, size_t len);

enum filelock_kind {		/* who has it */
	LOCK_OTHER,		/* none of these */
	LOCK_POSIX,		/* a process: fcntl(2), F_SETLK */
	LOCK_FLOCK,		/* an open file description: flock(2) */
	LOCK_OFD,		/* the same: fcntl(2), F_OFD_SETLK */
	LOCK_LEASE		/* the same: fcntl(2), F_SETLEASE */
};

struct filelock {
	enum filelock_kind kind;
	enum { LOCKED_READ, LOCKED_WRITE, LOCKED_NOT } type; /* of a lease that
				   is being broken, what it is to become */
	bool		 breaking; /* of a lease */
	uint64_t	 start;	/* bytes, as the next */
	uint64_t	 len;	/* 0: to the end, wherever that will be */
};

bool		 filelock_next(struct scan *text, struct filelock *l);

/*
 * limits: limits.c.  Lines in the order of RLIMIT_* of getrlimit(2).
 */
struct limit {
	char		 name[26];
	uint64_t	 cur;	/* UINT64_MAX: unlimited; or not told */
	uint64_t	 max;
	bool		 told;
};

bool		 limits_next(struct scan *text, struct limit *l);

/*
 * cgroup, cgroups(7), and what it tells of where a process belongs: cgroup.c,
 * place.c
 */
struct cgroupline {		/* where it is in a hierarchy; it borrows */
	struct scan	 list;	/* of its controllers; empty: version 2 */
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
struct mountinfo {		/* a mount; texts are borrowed and escaped */
	uint64_t	 id;
	uint64_t	 dev;
	struct scan	 root;	/* what of its file system is there */
	struct scan	 point;	/* where it is */
	struct scan	 flags;	/* its options */
	struct scan	 type;
	struct scan	 source;
	struct scan	 opts;	/* of its file system */
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
 * What is known of a process or thread, typed.  Readers of formats set it as
 * they go; where a snapshot has it as a Linux record, or as the small files of
 * Plan 9, it is made of these when it is first asked for: record/state.c.
 */
struct taskstate {
	struct procstat	 stat;	/* numbers of processes as we see them */
	char		 name[28]; /* of the program */
	char		 cputype[32]; /* in Plan 9's words; "": not told */
	uint64_t	 page;	/* bytes of one; 0: not told */
	uint64_t	 tgid;	/* these as we see them */
	uint64_t	 tracer;
	uint64_t	 pid;	/* these as the process sees them itself */
	uint64_t	 ppid;
	uint64_t	 pgrp;
	uint64_t	 session;
	uint64_t	 uid[4]; /* real, effective, saved, file system */
	uint64_t	 gid[4];
	bool		 has_umask;
	unsigned int	 umask;
	uint64_t	 pending; /* sets of signals */
	uint64_t	 blocked;
	bool		 has_cursig;
	unsigned int	 cursig; /* of the core that it was read from */
	struct recfile	 siginfo; /* these borrow from the record; data NULL:
				   not told */
	struct recfile	 cmdline;
	struct recfile	 auxv;
	struct recfile	 reg[REGSET_MAX];
};

/*
 * Mappings, pages and address spaces (space.h): maps.c, pages.c, space.c
 */
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
