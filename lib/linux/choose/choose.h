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

struct chosen {			/* who is told of processes, and of how many */
	struct whose	 whose;
	choose_fn	 fn;
	void		*arg;	/* fn's first argument */
	size_t		 found;
	size_t		 foreign; /* of other users, which are not told */
};

int		 chosen_found(void *chosen, pid_t pid);
int		 chosen_none(const struct chosen *c, const char *does,
		    const char *what);

/* cgroup.c */
struct group {			/* a directory */
	char		*dir;	/* owned */
	dev_t		 dev;	/* of the hierarchy */
	ino_t		 ino;
};

struct cgroups {
	struct group	*v;	/* owned */
	size_t		 n;
	size_t		 last;	/* the first of what was added last */
};

int		 cgroups_add(struct cgroups **c, const char *what);
void		 cgroups_free(struct cgroups *c);

/* members.c */
int		 cgroups_list(const struct cgroups *c, choose_fn fn,
		    void *arg);
int		 cgroups_choose(const struct cgroups *c, const char *what,
		    const uid_t *user, choose_fn fn, void *arg);

#endif
