/*
 * Which processes are meant, by a name, a user or a cgroup.
 */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "linux/set/set.h"

/* name.c */
struct whose {			/* processes of whom */
	bool		 all;	/* of everybody */
	bool		 asked;	/* the user was told */
	uid_t		 uid;	/* else of this one */
};

struct whose	 whose_begin(const uid_t *user);
int		 whose_has(const struct whose *w, pid_t pid);
int		 whose_none(const struct whose *w, size_t foreign,
		    const char *does, const char *what);

/* cgroup.c */
struct cgroups;

int		 cgroups_add(struct cgroups **c, const char *what);
void		 cgroups_free(struct cgroups *c);

/* members.c */
int		 cgroups_list(const struct cgroups *c, choose_fn fn,
		    void *arg);
int		 cgroups_choose(const struct cgroups *c, const char *what,
		    const uid_t *user, choose_fn fn, void *arg);

#endif
