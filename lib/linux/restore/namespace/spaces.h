/*
 * Declarations that the files of this room share.
 */
#ifndef SPACES_H
#define SPACES_H

#include "linux/proxy/proxy.h"
#include "namespace.h"

/* namespaces.c */
bool		 space_isnew(struct live *l, const struct filelist *rec,
		    const char *name);
int		 space_ask(const struct lproc *p, proxy_fn fn, const char *desc,
		    const char *file, struct filelist *rec);

/* cgroupdir.c: cgroup directories */
struct cgrec {
	struct live	*l;	/* borrowed */
	struct filelist	*rec;	/* borrowed; the record of the process */
	const struct cgroupline *line; /* borrowed; the hierarchy and path */
	struct bytes	 mounts; /* owned; our mountinfo */
	struct buf	 text;	/* owned */
	size_t		 left;	/* number of directories that may still be
				   recorded */
};

void		 cgroups_lose(struct cgrec *g);
bool		 cgroupdir_record(struct cgrec *g, int point,
		    const char *path, const char *rest);

/* cgroups.c: roots of cgroup namespaces */
void		 cgroups_roots(struct live *l, struct filelist *rec,
		    pid_t pid);

/* netspace.c: network namespaces */
int		 netspace_serve(struct serving *s);

/* netconf.c: settings of a network namespace */
void		 setting_add(struct buf *b, const char *dir, const char *name);
void		 netconf_record(struct filelist *rec);

/* netfilter.c: packet filters of a network namespace */
int		 netfilter_record(struct filelist *rec);

/* netpeer.c: peers of veth links */
void		 netpeers_record(struct filelist *rec, int fd);

/* sysvspace.c: System V semaphores and message queues */
struct owned { /* members that all IPC objects have; see struct ipc_perm */
	int		 key;
	int		 id;
	unsigned int	 mode;
	unsigned int	 uid;
	unsigned int	 gid;
	unsigned int	 cuid;	/* user ID of the creator */
	unsigned int	 cgid;
};

struct ipcsegment {		/* a line of /proc/sysvipc/shm */
	struct owned	 o;
	uintmax_t	 size;	/* size in bytes */
	uintmax_t	 attached; /* number of times that processes have
				      attached the segment */
};

bool		 segment_parse(const char *line, struct ipcsegment *g);
void		 sysvspace_read(struct filelist *l, const char *shm,
		    const char *sem, const char *msg);

/* mounted.c: the mounts of mapped files */
void		 mapmounts_record(const struct lproc *p, struct filelist *rec);

/* mqueues.c: POSIX message queues */
void		 mqueues_read(struct filelist *l);

#endif
