/*
 * Choose processes by a name, a user or a cgroup.
 */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "linux/set/set.h"

/* name.c */
struct whose {			/* users whose processes are chosen */
	bool		 all;	/* processes of all users are chosen */
	bool		 asked;	/* the user was given explicitly */
	uid_t		 uid;	/* effective user ID of the processes, unless
				   "all" is true */
};

struct whose	 whose_begin(const uid_t *user);
int		 whose_has(const struct whose *w, pid_t pid);

struct chosen {			/* callback for chosen processes, and
				   counters */
	struct whose	 whose;
	choose_fn	 fn;
	void		*arg;	/* first argument of fn() */
	size_t		 found;
	size_t		 foreign; /* number of skipped processes of other
				     users */
};

int		 chosen_found(void *chosen, pid_t pid);
int		 chosen_none(const struct chosen *c, const char *verb,
		    const char *object);

/* cgroup.c */
struct group {			/* directory of a cgroup */
	char		*dir;	/* owned */
	dev_t		 dev;	/* device number of the directory */
	ino_t		 ino;
};

struct cgroups {
	struct group	*v;	/* owned */
	size_t		 n;
	size_t		 last;	/* index of the first group added by the last
				   cgroups_add() */
};

int		 cgroups_add(struct cgroups **c, const char *wanted);
void		 cgroups_drop(struct cgroups *c);
void		 cgroups_free(struct cgroups *c);

/* members.c */
int		 cgroups_list(const struct cgroups *c, size_t from,
		    choose_fn fn, void *arg);
int		 cgroups_choose(const struct cgroups *c, const char *name,
		    const uid_t *user, choose_fn fn, void *arg);

#endif
