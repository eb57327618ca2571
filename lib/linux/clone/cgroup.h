/*
 * The memory, and the room for processes, that cgroups have left: cgroup.c.
 */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cgkind {			/* what a cgroup has a limit of */
	CGROUP_MEMORY,		/* bytes */
	CGROUP_TASKS,		/* processes and threads */
	CGROUP_KINDS
};

struct cgroup {			/* that a process is in */
	char		*dir;	/* owned; its directory */
	size_t		 top;	/* bytes of that which are the mount point */
	enum cgkind	 kind;
	bool		 v1;
};

struct cglevel {		/* a cgroup, or one that it is in */
	const char	*dir;
	uint64_t	 limit;	/* UINT64_MAX: none */
	uint64_t	 left;	/* likewise */
};

typedef int	(*cglevel_fn)(void *, const struct cglevel *);

int		 cgroup_find(struct cgroup *c, enum cgkind kind,
		    const char *membership, const char *mountinfo);
int		 cgroup_levels(const struct cgroup *c, cglevel_fn fn,
		    void *arg);
void		 cgroup_free(struct cgroup *c);

#endif
