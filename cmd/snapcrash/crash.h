/*
 * Declarations shared by the files of snapcrash.
 */
#ifndef CRASH_H
#define CRASH_H

#include "common/common.h"

#include <time.h>

#define CONFIG "/etc/snapcrash.conf"
#define DROPPED ".dropped"	/* file in the directory of snapshots with one
				   byte per dropped crash */
#define READER "snapcrash"	/* user that runs programs which read
				   untrusted data */

/* bytes of a program's name that the name of a snapshot may contain */
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyz" \
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+"

enum companions {		/* processes captured with the one that
				   crashed */
	WITH_NONE,
	WITH_CHILDREN,		/* descendants of the crashed process */
	WITH_PARENT,		/* parent of the crashed process, and all
				   descendants of the parent */
	WITH_CGROUP
};

struct room {			/* space on a disk */
	uint64_t	 bytes;
	unsigned int	 percent; /* percentage of the disk; 0: "bytes" is
				     used */
};

struct config {			/* settings of /etc/snapcrash.conf, explained
				   in snapcrash.conf(5) */
	char		 directory[PATH_MAX];
	unsigned int	 companions;	/* a value of enum companions */
	uint64_t	 atonce; /* maximum number of crashes captured at a
				    time */
	uint64_t	 waiting; /* maximum number of waiting crashes; any
				     further ones are counted and dropped */
	uint64_t	 count;	/* maximum number of snapshots kept */
	uint64_t	 bytes;	/* maximum size of all snapshots together */
	uint64_t	 age;	/* maximum age of a snapshot in seconds; 0:
				   unlimited */
	struct room	 free;	/* space to leave free on the disk */
	unsigned int	 owner;	/* bool: the user whose process crashed may
				   read the snapshot */
	unsigned int	 dontdump; /* bool: include memory marked
				      MADV_DONTDUMP */
	unsigned int	 corelimit; /* bool: drop processes whose RLIMIT_CORE
				       is too small */
	char		 hook[PATH_MAX]; /* program run after each crash; "":
					    none */
	char		 socket[108];	/* path of the socket to which the
					   kernel sends cores */
};

struct crash {			/* a snapshot in the snapshot directory */
	char		*file;	/* owned; path of the snapshot */
	const char	*id;	/* borrowed from file: its last component */
	uint64_t	 pid;	/* ID of the process, from the file name */
	uint64_t	 charged; /* ID of the user charged for the crash, from
				     the file name; UINT64_MAX: none */
	time_t		 when;	/* time of the crash, from the file name */
	struct timespec	 written; /* modification time of the file */
	uint64_t	 size;	/* disk space used by the file, in bytes */
	bool		 gone;	/* the snapshot was removed */
	struct crashed	*facts;	/* owned; NULL: not read, or not readable */
};

struct crashed {		/* facts read from a snapshot; control
				   characters in strings are replaced */
	uint64_t	 pid;
	unsigned int	 signal; /* 0: unknown */
	size_t		 threads;
	size_t		 others; /* number of other processes in the snapshot */
	char		 name[64];
	char		 user[28];
	char		 place[256];	/* unit or container of the process;
					   "-": none */
	char		 exe[1024];
	char		 reason[128];	/* name of the signal, from
					   signal_text() */
	uint64_t	 missing; /* number of bytes left out for lack of space;
				     see "excluded" in snap(6) */
};

struct crashes {
	struct crash	*v;	/* owned; oldest first */
	size_t		 n;
};

struct crashing {		/* a process that is dumping core */
	pid_t		 pid;
	pid_t		 tid;	/* ID of the thread that crashed; 0: not known
				   yet */
	int		 signal; /* signal that kills the process; 0: not known
				    yet */
	int		 dumpable; /* value of %d in core_pattern; see
				      core(5) */
	uid_t		 uid;
	uid_t		 charged; /* user charged for the disk space */
	bool		 plain;	/* the process has only the rights of its
				   user */
	char		 name[17];
	char		 id[64]; /* name of the snapshot: NAME.PID.TIME.UID */
	int		 pidfd;
	bool		 given;	/* the kernel supplied "pidfd", so it certainly
				   refers to this process */
};

struct claim { /* lock files held by a running snapcrash; see claim.c */
	int		 fd;	/* descriptor of the locked file .place.N;
				   negative: none */
	int		 taking; /* descriptor of the file .taking.N, locked
				    during a capture; negative: none */
	int		 spool;	/* borrowed; descriptor of the spool while it
				   grows, or -1 */
};

struct reserved { /* disk space that other handlers may still use */
	uint64_t	 kept;	/* bytes for final snapshots */
	uint64_t	 disk;	/* bytes for final snapshots and spools */
	uint64_t	 n;	/* number of snapshots that these handlers may
				   still write */
};

/* after.c: log a snapshot, let its user read it, run the hook */
void		 take_begin(void);
void		 frames_text(struct crashing *f, const char *name, char *s,
		    size_t size);
void		 owner_allow(const char *name, uid_t uid);
void		 hook_run(const struct config *c, const char *name);

/* config.c */
int		 config_read(struct config *c, const char *path);

/* facts.c */
void		 crashes_confine(const struct crash *c, size_t n);
int		 crash_facts(struct crash *c);
void		 signal_text(unsigned int sig, char *s, size_t size);

/* crashing.c */
int		 crashing_allowed(const struct crashing *f);
int		 crashing_check(struct crashing *f);
bool		 crashing_descends(const struct crashing *f, pid_t ancestor);
int		 crashing_learn(struct crashing *f, char *const words[]);
long		 crashing_parent(const struct crashing *f);
bool		 crashing_same(const struct crashing *f);

/* file.c */
bool		 file_line(const char *path, const char *key, char *value,
		    size_t size);
int		 file_write(const char *path, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
int		 line_read(const char *path, char *s, size_t size);

/* handler.c: install and remove snapcrash as the core handler */
int		 handler_install(const struct config *c, const char *path,
		    bool by_socket);
int		 handler_remove(const struct config *c);
int		 handler_status(const struct config *c,
		    const struct crashes *l);

/* claim.c: limit how many crashes are captured at once */
int		 claim_take(struct claim *p, const struct config *c);
int		 claim_lock(const struct claim *p, struct reserved *others);
void		 claim_unlock(const struct claim *p, int lock, uint64_t kept,
		    uint64_t disk);
void		 claim_let(struct claim *p);
void		 claim_end(struct claim *p);
int		 claim_turn(const struct config *c, const char *kind,
		    const char *queue, time_t timeout);
uint64_t	 claim_most(const struct config *c);
uint64_t	 claim_accepts(const struct config *c);
uint64_t	 claim_dropped(const struct config *c);

/* match.c: find crashes by number, name, program or time */
struct crash	*crash_find(struct crashes *l, const char *word);
bool		 crash_isone(const struct crash *k, char *const words[]);
bool		 crashes_have(const struct crashes *l, const char *word);
void		 crashes_between(struct crashes *l, time_t since,
		    time_t until);
bool		 time_parse(const char *s, time_t *t);

/* program.c: start other programs */
pid_t		 program_start(char *const argv[], const int fd[3],
		    bool reader);
int		 program_wait(pid_t pid, unsigned int timeout);
void		 files_limit(uint64_t bytes);

/* receive.c: receive a core on the kernel's socket connection */
int		 crashing_receive(struct crashing *f, int fd);

/* serve.c */
int		 crash_serve(const struct config *c, const char *path);

/* show.c */
struct listing {		/* options of "snapcrash list" */
	char		*const *words; /* list only crashes that match one of
					  these words; empty: all */
	uint64_t	 most;	/* list at most this many of the last crashes;
				   0: all */
	bool		 reverse; /* list the newest crash first */
	struct tableopts table;
};

int		 show_list(const struct crashes *l, const struct listing *ls);
int		 show_info(const struct crash *c, bool json);
int		 show_stack(const struct crash *c, char *const argv[]);
int		 show_debug(const struct crash *c, char *const argv[]);
int		 show_dump(const struct crash *c, const char *path);

/* store.c: the directory of snapshots */
int		 store_open(const struct config *c);
int		 store_read(const struct config *c, struct crashes *l);
void		 store_free(struct crashes *l);
uint64_t	 store_room(const struct config *c, struct crashes *l,
		    uint64_t uid, uint64_t need,
		    const struct reserved *others, uint64_t *disk);

/* take.c */
int		 crash_take(const struct config *c, char *const words[]);

/* unit.c: systemd units */
void		 units_install(const struct config *c, const char *path);
void		 units_remove(void);

#endif
