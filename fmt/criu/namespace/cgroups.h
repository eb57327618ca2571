/*
 * The cgroups of processes in CRIU images: what cgroups.c, cgroupread.c,
 * cgroupset.c and cgrouptree.c share.
 */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "namespace.h"

enum {
	CGROUP_CRIUS = CRIUS_IDS, /* number of the set that criu itself is in */
	CGROUP_PATH = 2048	/* bytes: criu has room for twice that */
};

struct cgprop {			/* a property */
	const char	*name;	/* borrowed, as the next */
	char		*value;
	uint64_t	 perm[3]; /* of its file: mode, user and group */
};

struct cgdir {			/* a cgroup */
	const char	*list;	/* borrowed; its hierarchy: "" version 2 */
	const char	*path;	/* borrowed */
	bool		 told;	/* a record tells of it: of these */
	uint64_t	 perm[3]; /* of its directory: mode, user and group */
	struct cgprop	*prop;	/* owned */
	size_t		 nprop;
};

struct cgdirs {			/* what records tell of cgroups */
	struct cgdir	*v;	/* owned */
	size_t		 n;
	struct words	*file;	/* owned; what they borrow from */
	size_t		 nfile;
};

struct cgmember {		/* where processes are in a hierarchy */
	const char	*list;	/* borrowed, as the next */
	const char	*path;
	size_t		 prefix; /* bytes of it that are the root of their
				   namespace */
};

struct cgset {			/* the cgroups of processes that share all */
	struct recfile	 from;	/* borrowed, as a record tells them */
	const struct maketask *first; /* borrowed; the first that is in it */
	char		*text;	/* owned; what the members borrow from */
	struct cgmember	*v;	/* owned; ascending */
	size_t		 n;
};

struct makecgroups {
	struct cgset	*set;	/* owned; the first has the number behind
				   CGROUP_CRIUS */
	size_t		 nset;
	struct cgdirs	 dirs;
	bool		 space;	/* a cgroup namespace is made */
};

/* cgroupread.c */
int		 cgdirs_read(struct cgdirs *d, const struct criumake *m);
void		 cgdirs_free(struct cgdirs *d);
bool		 cgpath_sound(const char *path);

/* cgroupset.c */
int		 cgsets_read(struct criumake *m);
void		 cgsets_free(struct makecgroups *c);

/* cgrouptree.c */
int		 cgtrees_make(struct criumake *m, Criu__Cgroup *e);

#endif
