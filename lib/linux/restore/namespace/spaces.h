/*
 * Namespaces: what the files of this room share.
 */
#ifndef SPACES_H
#define SPACES_H

#include "linux/proxy/proxy.h"
#include "namespace.h"

/* recorded.c: of which of them a record tells */
bool		 space_recorded(struct live *l, const char *ns);

/* namespaces.c */
bool		 space_isnew(struct live *l, const struct filelist *rec,
		    const char *name);
int		 space_ask(const struct lproc *p, proxy_fn fn, const char *what,
		    const char *why, struct filelist *rec);

/* cgroupdir.c: the directories of cgroups */
struct cgrec {
	struct live	*l;	/* borrowed, as the next */
	const struct cgroupline *line; /* the hierarchy */
	struct bytes	 mounts; /* owned; mountinfo; no data: not read yet */
	struct buf	 text;	/* owned */
	size_t		 left;	/* directories that may be told of */
};

bool		 cgroupdir_record(struct cgrec *g, int point,
		    const char *path, const char *below);

/* cgroups.c: where a cgroup namespace begins */
void		 cgroups_roots(struct live *l, struct filelist *rec,
		    pid_t pid);

/* netspace.c: what a network namespace has */
int		 netspace_serve(struct serving *s);

/* netconf.c: settings, of a network namespace */
void		 setting_add(struct buf *b, const char *dir, const char *name);
void		 netconf_record(struct filelist *to);

/* netfilter.c: its tables of packet filters */
int		 netfilter_record(struct filelist *to);

/* netpeer.c: where its links lead */
void		 netpeers_record(struct filelist *to, int there);

/* sysvspace.c: semaphores and queues */
struct owned {			/* what all of them have: struct ipc_perm */
	int		 key;
	int		 id;
	unsigned int	 mode;
	unsigned int	 uid;
	unsigned int	 gid;
	unsigned int	 cuid;	/* of who created it */
	unsigned int	 cgid;
};

struct ipcsegment {		/* a line of /proc/sysvipc/shm */
	struct owned	 o;
	uintmax_t	 size;	/* bytes */
	uintmax_t	 attached; /* mappings of it, of all processes */
};

bool		 segment_parse(const char *line, struct ipcsegment *g);
void		 sysvspace_read(struct filelist *l, const char *shm,
		    const char *sem, const char *msg);

/* mqueues.c: queues of POSIX */
void		 mqueues_read(struct filelist *l);

#endif
