/*
 * What the files of snapcrash share.
 */
#ifndef CRASH_H
#define CRASH_H

#include "common/common.h"

#include <limits.h>
#include <time.h>

#define CONFIG "/etc/snapcrash.conf"
#define READER "snapcrash"	/* the user who reads what strangers made */

enum companions {		/* who is taken beside what crashed */
	WITH_NONE,
	WITH_CHILDREN,		/* and theirs */
	WITH_PARENT,		/* and all that come from it */
	WITH_CGROUP
};

struct room {			/* of a disk */
	uint64_t	 bytes;
	unsigned int	 percent; /* if it is not 0, in place of bytes */
};

struct config {			/* snapcrash.conf(5), in snapcrash(1) */
	char		 directory[PATH_MAX];
	unsigned int	 companions;	/* enum companions */
	uint64_t	 atonce; /* crashes, */
	uint64_t	 waiting; /* and so many more wait for them; others are
				   counted and let go */
	uint64_t	 count;	/* of snapshots that are kept, at most */
	uint64_t	 bytes;	/* of all of them together */
	uint64_t	 age;	/* of one, in seconds; 0: any */
	struct room	 free;	/* of the disk, which stays free */
	unsigned int	 owner;	/* bool: who crashed may read it */
	unsigned int	 dontdump; /* bool: also what a program wants to be in
				      no core */
	unsigned int	 corelimit; /* bool: nothing is kept of who may dump
				       none */
	char		 hook[PATH_MAX]; /* run after each; "": nothing */
	char		 socket[108];	/* where the kernel sends cores to, if
					   it is to do that */
};

struct crash {			/* a snapshot that was taken */
	char		*file;	/* owned, as all here; its path */
	const char	*id;	/* borrowed from file: its name */
	struct timespec	 when;	/* it crashed, as its name tells */
	struct timespec	 written; /* its file */
	uint64_t	 size;	/* bytes that it takes on the disk */
	bool		 gone;	/* it was removed */
	struct crashed	*facts;	/* NULL: not read yet, or not to be read */
};

struct crashed {		/* what it tells; all words are harmless */
	uint64_t	 pid;
	unsigned int	 signal; /* 0: not told */
	size_t		 threads;
	size_t		 others;	/* processes beside it */
	char		 name[64];
	char		 user[28];
	char		 place[256];	/* unit or container; "-": none */
	char		 exe[1024];
	char		 reason[128];	/* of the signal: signal_text */
	uint64_t	 missing; /* bytes of its memory that were left out for
				     want of room: "excluded" */
};

struct crashes {
	struct crash	*v;	/* owned; the oldest first */
	size_t		 n;
};

struct crashing {		/* a process that dumps core */
	pid_t		 pid;
	pid_t		 tid;	/* the thread that fell; 0: not known yet */
	int		 signal; /* 0: not known yet */
	int		 dumpable; /* core(5), %d */
	uid_t		 uid;
	uid_t		 whose;	/* the user that it counts for */
	bool		 plain;	/* it has no other's rights */
	char		 name[17];
	char		 id[64];	/* NAME.PID.TIME.WHOSE */
	int		 pidfd;
	bool		 given;	/* by the kernel: it is that process */
};

struct claim {			/* of one who is at work; claim.c */
	int		 fd;	/* less than 0: he has none */
	int		 taking; /* as long as he holds a process; else so */
};

struct reserved {		/* bytes that may still be written: */
	uint64_t	 kept;	/* of snapshots, */
	uint64_t	 disk;	/* and of all files, */
	uint64_t	 n;	/* of so many snapshots */
};

/* after.c: when it was taken */
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

/* handler.c: who handles cores */
int		 handler_install(const struct config *c, const char *path,
		    bool by_socket);
int		 handler_remove(const struct config *c);
int		 handler_status(const struct config *c);

/* claim.c: who is at work */
int		 claim_take(struct claim *p, const struct config *c);
int		 claim_lock(const struct claim *p, struct reserved *others);
void		 claim_unlock(const struct claim *p, int lock, uint64_t kept,
		    uint64_t disk);
void		 claim_let(struct claim *p);
void		 claim_end(struct claim *p);
int		 claim_hook(const struct config *c);
uint64_t	 claim_hooks(const struct config *c);
uint64_t	 claim_most(const struct config *c);
uint64_t	 claim_dropped(const struct config *c);
void		 claim_forget(void);

/* match.c: which crashes are meant */
struct crash	*crash_find(struct crashes *l, const char *word);
bool		 crash_isone(const struct crash *k, char *const words[]);
void		 crashes_between(struct crashes *l, time_t since,
		    time_t until);
bool		 time_parse(const char *s, time_t *t);

/* program.c: other programs of ours */
pid_t		 program_start(char *const argv[], const int fd[3]);
pid_t		 program_read(char *const argv[], const int fd[3]);
int		 program_wait(pid_t pid, unsigned int seconds);
void		 files_limit(uint64_t bytes);

/* receive.c: the kernel's connection */
int		 crashing_receive(struct crashing *f, int fd);

/* serve.c */
int		 crash_serve(const struct config *c, const char *path);

/* show.c */
struct listing {		/* how crashes are listed */
	char		*const *words; /* only those that they mean; of none,
				   all */
	uint64_t	 most;	/* the last ones; 0: all */
	bool		 reverse; /* the newest first */
	struct tableopts table;
};

int		 show_list(const struct crashes *l, const struct listing *how);
int		 show_info(const struct crash *c, bool json);
int		 show_stack(const struct crash *c, char *const argv[]);
int		 show_debug(const struct crash *c, char *const argv[]);
int		 show_dump(const struct crash *c, const char *path);

/* store.c: the directory */
int		 store_open(const struct config *c);
int		 store_read(const struct config *c, struct crashes *l);
void		 store_free(struct crashes *l);
uint64_t	 crash_pid(const struct crash *c);
uint64_t	 crash_whose(const struct crash *c);
uint64_t	 store_room(const struct config *c, struct crashes *l,
		    uint64_t whose, uint64_t need,
		    const struct reserved *others, uint64_t *disk);

/* take.c */
int		 crash_take(const struct config *c, char *const words[]);

/* unit.c: systemd */
bool		 units_install(const struct config *c, const char *path);
void		 units_remove(void);

#endif
