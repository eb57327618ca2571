/*
 * Cgroups of processes in CRIU images: declarations shared by cgroups.c,
 * cgroupread.c, cgroupset.c, cgrouptree.c and spaces.c.
 */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "namespace.h"

enum {
	CGROUP_CRIUS = CRIUS_IDS, /* ID of the cgroup set of criu itself */
	CGROUP_PATH = 2048	/* maximum size of a path in bytes; criu's
				   buffers are twice as large */
};

struct cgprop {			/* a property of a cgroup */
	const char	*name;	/* name and value are borrowed */
	char		*value;
	uint64_t	 perm[3]; /* mode, user and group of the property's
				     file */
};

struct cgdir {			/* a cgroup */
	const char	*list;	/* borrowed; comma-separated controllers of the
				   cgroup's hierarchy; "": version 2 */
	const char	*path;	/* borrowed */
	bool		 recorded; /* perm and prop are from a record */
	uint64_t	 perm[3]; /* mode, user and group of the cgroup's
				     directory */
	struct cgprop	*prop;	/* owned */
	size_t		 nprop;
};

struct cgdirs {			/* the cgroups in records */
	struct cgdir	*v;	/* owned */
	size_t		 n;
};

struct cgmember {		/* the cgroup of a set in one hierarchy */
	const char	*list;	/* list and path are borrowed */
	const char	*path;
	size_t		 prefix; /* length of the cgroup namespace's root, if
				    path begins with that root; otherwise 0 */
};

struct cgset {			/* a combination of cgroups that processes
				   share */
	struct recfile	 from;	/* borrowed; the file "cgroup" in a record */
	const struct maketask *first; /* borrowed; first process in the set */
	struct cgmember	*v;	/* owned; sorted by list */
	size_t		 n;
};

struct makecgroups {
	struct cgset	*set; /* owned; the first set has ID CGROUP_CRIUS + 1 */
	size_t		 nset;
	struct cgdirs	 dirs;
	bool		 space;	/* criu creates a cgroup namespace */
};

/* cgroupread.c */
int		 cgdirs_read(struct cgdirs *d, struct criumake *m);
bool		 cgpath_sound(const char *path);

/* cgroupset.c */
int		 cgsets_read(struct criumake *m);

/* cgrouptree.c */
int		 cgtrees_make(struct criumake *m, Criu__Cgroup *e);

#endif
