/*
 * What the namespaces of processes have that are not ours: mounts, networks,
 * names, and what System V left in them.
 */
#ifndef NAMESPACE_H
#define NAMESPACE_H

#include "linux/set/set.h"

/* namespaces.c: in which namespaces a process is and we are not */
void		 namespaces_record(struct live *l, struct filelist *rec,
		    const struct lproc *p);
void		 spaces_free(struct live *l);

/* cgroups.c: what the cgroups are that processes and threads are in */
void		 cgroups_record(struct live *l, struct filelist *rec,
		    struct bytes *own);
void		 cgroups_thread(struct live *l, struct filelist *rec,
		    const struct bytes *own, pid_t pid, pid_t tid);

/* mounted.c: what processes have mounted */
void		 mounted_see(struct live *l, struct lproc *p);
void		 mounted_free(struct live *l);

/* mntspace.c: mount namespaces that processes have for themselves */
void		 mntspace_record(struct live *l, const struct lproc *p,
		    struct filelist *to);

/* sysv.c: memory of System V */
void		 sysv_record(struct live *l, const struct lproc *p,
		    const struct task *t, struct filelist *to);
void		 sysv_free(struct live *l);

#endif
