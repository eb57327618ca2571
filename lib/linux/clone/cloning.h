/*
 * Functions and structures with which the files of this room make and reap
 * clones.
 */
#ifndef CLONING_H
#define CLONING_H

#include "clone.h"
#include "state/state.h"

/* clone.c */
void		 clones_kill(struct live *l);

/* cloning.c: make a process clone itself, step by step */
struct inject;

struct cloning {
	struct lproc	*proc;	/* borrowed */
	struct inject	*in;	/* owned */
	bool		 failed;
};

typedef int	(*clonestep_fn)(const struct live *, struct cloning *);

extern const clonestep_fn clone_steps[];

/* family.c: processes that share one clone */
enum { HEADS = 8 }; /* maximum number of heads that a process is compared
		       with */

struct family {
	struct lproc	*head[HEADS];	/* borrowed; ring buffer of the heads
					   found last */
	size_t		 nhead;
	struct member	*v;	/* owned; sorted by head */
	size_t		 n;
};

bool		 family_defers(struct family *f, struct lproc *p);
void		 family_keep(struct live *l, struct snap *s, struct family *f);
struct lproc	*family_next(const struct family *f, size_t *i);
void		 family_free(struct family *f);

/* guard.c */
int		 guard_end(struct guard *g);
bool		 program_same(pid_t a, pid_t b);

/* cgroup.c: memory and processes that the limits of cgroups still allow */
enum cgkind {			/* resource that a cgroup limits */
	CGROUP_MEMORY,		/* memory, in bytes */
	CGROUP_TASKS,		/* number of processes and threads */
	CGROUP_KINDS
};

struct cglevel {		/* a cgroup that may limit a process */
	enum cgkind	 kind;
	bool		 v1;
	const char	*dir;	/* borrowed; directory of the cgroup */
};

typedef int	(*cglevel_fn)(void *, const struct cglevel *);

int		 cgroup_levels(enum cgkind kind, struct scan membership,
		    struct scan mounts, cglevel_fn fn, void *arg);
uint64_t	 cgroup_left(const struct cglevel *c, uint64_t *limit);

/*
 * headroom.c: check that there is enough memory, and room for processes, for
 * clones
 */
int		 headroom_claim(struct live *l, struct lproc *p, size_t nvma);

/* huge.c */
void		 huge_join(const struct live *l);

/* gaps.c */
struct likeness;

struct lacking {		/* the clone from which a process will be
				   read */
	pid_t		 clone;
	bool		 whole;	/* the clone has all mappings of the process */
	const struct likeness *alike; /* borrowed; differences in private
					 memory, if the clone is of another
					 process; else NULL */
};

void		 gaps_drop(struct live *l);
int		 gaps_keep(struct live *l, struct snap *s, struct lproc *p,
		    const struct vmas *vma, const struct lacking *lack);

/* reaper.c: how the guard reaps clones */
struct clonepair {		/* a process and its clone */
	pid_t		 target;
	pid_t		 clone;	/* process ID of the clone; 0: about to be made;
				   -1: not made, or reaped */
	uint64_t	 since;	/* when this entry was made, in ticks after
				   boot */
	uint64_t	 start;	/* start time of the clone, in ticks after
				   boot */
	uint16_t	 tries;	/* number of failed attempts to reap or find
				   the clone */
	bool		 past;	/* the process has returned from the call
				   that makes the clone */
	bool		 seen;	/* the last search saw the clone, or a
				   candidate for it */
};

enum { MAX_PAIRS = 1 << 16 };	/* maximum number of processes that can have
				   a clone */

struct guard {			/* state of the guard, in memory shared with
				   it */
	pid_t		 pid;
	int		 fd; /* owned by us; socket to tell the guard to end */
	size_t		 at;	/* index of the pair to be tried next */
	size_t		 n;
	struct clonepair v[MAX_PAIRS];
};

bool		 pair_isdone(const struct clonepair *w);
bool		 pair_try(struct clonepair *w);

/* clonepair.c: which clones must be reaped */
int		 guard_send(struct guard *g, pid_t target, pid_t clone);
int		 pair_owns(const struct clonepair *w, struct procstat *c);
void		 pairs_find(struct guard *g);

/* ptraceonly.c: memory that only a tracer can read */
int		 ptraceonly_show(struct inject *calls, const struct vmas *vma,
		    const bool *has);

#endif
