/*
 * Record the contents of namespaces that are not ours: mounts, networks, host
 * names, and System V IPC.
 */
#ifndef NAMESPACE_H
#define NAMESPACE_H

#include "linux/set/set.h"

/* namespaces.c: namespaces of a process that are not ours */
bool		 space_isother(const struct filelist *rec, const char *name);
void		 namespaces_record(struct live *l, struct filelist *rec,
		    const struct lproc *p);

/* cgroups.c: the cgroups of processes and threads */
void		 cgroups_record(struct live *l, struct filelist *rec,
		    struct bytes *own);
void		 cgroups_thread(struct live *l, struct filelist *rec,
		    const struct bytes *own, pid_t pid, pid_t tid);

/* mounted.c: mountinfo of processes */
void		 mounted_read(struct live *l, struct lproc *p);

/* mntspace.c: mount namespaces that are not ours */
void		 mntspace_record(struct live *l, const struct lproc *p,
		    struct filelist *rec);

/* sysv.c: System V shared memory */
void		 sysv_record(struct live *l, const struct lproc *p,
		    const struct task *t, struct filelist *rec);

#endif
