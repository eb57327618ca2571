/*
 * Namespaces: what the files of this room share.
 */
#ifndef SPACES_H
#define SPACES_H

#include "namespace.h"

/* told.c: of which of them a record tells */
bool		 space_told(struct live *l, const char *ns);

/* cgroupdir.c: the directories of cgroups */
struct cgtelling {
	struct live	*l;	/* borrowed, as the next */
	const struct cgroupline *line; /* the hierarchy */
	struct bytes	 mounts; /* owned; mountinfo; no data: not read yet */
	struct buf	 text;	/* owned */
	size_t		 left;	/* directories that may be told of */
};

bool		 cgroupdir_tell(struct cgtelling *g, int point,
		    const char *path, const char *below);

/* cgroups.c: where a cgroup namespace begins */
void		 cgroups_roots(struct live *l, struct filelist *rec,
		    pid_t pid);

/* netspace.c: what a network namespace has */
void		 netspace_record(struct live *l, pid_t pid,
		    struct filelist *to);

/* netconf.c: settings of a network namespace */
void		 netconf_record(struct filelist *to);

/* netfilter.c: its tables of packet filters */
int		 netfilter_record(struct filelist *to);

/* netpeer.c: where its links lead */
void		 netpeers_record(struct filelist *to, int there);

/* sysvspace.c: semaphores and queues */
void		 sysvspace_read(struct filelist *l, const char *shm,
		    const char *sem, const char *msg);

/* mqueues.c: queues of POSIX */
void		 mqueues_read(struct filelist *l);

#endif
