/*
 * What clones are made with, and reaped: what the files of this room share.
 */
#ifndef CLONING_H
#define CLONING_H

#include "clone.h"
#include "state/state.h"

/* clone.c */
void		 clones_kill(struct live *l);

/* cloning.c: a process that clones itself, step by step */
struct inject;

struct cloning {
	struct lproc	*proc;	/* borrowed */
	struct inject	*in;	/* owned */
	bool		 failed;
};

enum clonestep {
	CLONE_START, CLONE_MAKE, CLONE_ENTRUST, CLONE_SHED, CLONE_END,
	CLONE_SETTLE, CLONE_STEPS
};

int		 clone_step(const struct live *l, struct cloning *c,
		    enum clonestep step);

/* family.c: processes that have one clone together */
struct family;

struct family	*family_new(void);
bool		 family_defers(struct family *f, struct lproc *p);
void		 family_keep(struct live *l, struct snap *s, struct family *f);
struct lproc	*family_next(const struct family *f, size_t *i);
void		 family_free(struct family *f);

/* guard.c */
int		 guard_end(struct guard *g);
bool		 program_same(pid_t a, pid_t b);

/* cgroup.c: the memory, and the room for processes, that cgroups have left */
enum cgkind {			/* what a cgroup has a limit of */
	CGROUP_MEMORY,		/* bytes */
	CGROUP_TASKS,		/* processes and threads */
	CGROUP_KINDS
};

struct cglevel {		/* a cgroup, or one that it is in */
	enum cgkind	 kind;
	bool		 v1;
	const char	*dir;	/* borrowed; its directory */
};

typedef int	(*cglevel_fn)(void *, const struct cglevel *);

int		 cgroup_levels(enum cgkind kind, struct scan membership,
		    struct scan mounts, cglevel_fn fn, void *arg);
uint64_t	 cgroup_left(const struct cglevel *c, uint64_t *limit);

/* headroom.c: the memory and the places that there are for clones */
int		 headroom_claim(struct live *l, struct lproc *p, size_t nvma);

/* huge.c */
void		 huge_join(const struct live *l);

/* lacks.c */
struct likeness;

struct lacking {		/* the clone that lacks something */
	pid_t		 clone;
	bool		 whole;	/* it has all that is mapped */
	const struct likeness *alike; /* borrowed; of another process: what it
				      has of private memory; else NULL */
};

void		 gaps_drop(struct live *l);
int		 gaps_keep(struct live *l, struct snap *s, struct lproc *p,
		    const struct vmas *vma, const struct lacking *of);

/* plain.c: files of which nothing is to be kept */
void		 skippable_add(struct live *l, const struct lproc *p,
		    const struct vma *v);
bool		 skippable_has(struct live *l, const struct lproc *p,
		    const struct vma *v);

/* reaper.c: the reaping of clones, by the guard */
struct clonepair {		/* a process and its clone */
	pid_t		 target;
	pid_t		 clone;	/* 0: will be made now; -1: was not, or is no
				   more */
	uint64_t	 since;	/* ticks since this system was started */
	uint64_t	 start;	/* of the clone, likewise */
	uint16_t	 tries;	/* that failed, or to find it */
	bool		 past;	/* the process is, the call that makes it */
	bool		 seen;	/* it, or what may be it */
};

enum { MAX_PAIRS = 1 << 16 };	/* processes that can have a clone */

struct guard {			/* in memory that we and it share */
	pid_t		 pid;
	int		 fd;	/* ours, owned; to tell it to end */
	size_t		 at;	/* the ward to be tried next */
	size_t		 n;
	struct clonepair v[MAX_PAIRS];
};

bool		 pair_isdone(const struct clonepair *w);
bool		 pair_try(struct clonepair *w);

/* wards.c: which clones are to be reaped */
int		 guard_send(struct guard *g, pid_t target, pid_t clone);
int		 pair_owns(const struct clonepair *w, struct procstat *c);
void		 pairs_find(struct guard *g);

/* veiled.c: memory that a process may not read itself */
int		 ptraceonly_show(struct inject *calls, const struct vmas *vma,
		    const bool *has);

#endif
