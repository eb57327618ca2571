/*
 * Write namespaces and their contents as CRIU images.
 *
 * Each file needs only those above it:
 *
 *	sysvspace.c	System V semaphores and message queues
 *	sysv.c		System V shared memory
 *	rtnetlink.c	parsing of rtnetlink(7) messages
 *	netconf.c	settings of a network namespace
 *	netlinks.c	links of a network namespace
 *	netlost.c	notes on what a network namespace loses
 *	netspace.c	network namespaces
 *	mounts.c	mounts
 *	cgroupread.c	cgroups in records
 *	cgroupset.c	sets of cgroups that processes are in
 *	cgrouptree.c	cgroups and their properties
 *	cgroups.c	cgroup.img
 *	spaces.c	which namespaces criu creates
 */
#ifndef CRIUNAMESPACE_H
#define CRIUNAMESPACE_H

#include "criu/open/open.h"

/* sysvspace.c */
int		 makespace_read(struct criumake *);
int		 makespace_write(struct criumake *);
void		 makespace_desc(const struct criumake *, Criu__IpcDesc *,
		    const uint64_t *, const uint64_t *);

/* sysv.c */
bool		 makesysv_is(const struct vma *);
int		 makesysv_read(struct criumake *);
int		 makesysv_mapped(struct criumake *, struct maketask *,
		    const struct vma *, Criu__Vma *);
bool		 makesysv_space(const struct criumake *);
int		 makesysv_write(struct criumake *);

/* netspace.c */
int		 makenet_check(struct criumake *);
int		 makenet_write(struct criumake *);

/* mounts.c */
int		 makemount_write(struct criumake *);

/* cgroups.c */
int		 makecgroup_read(struct criumake *);
int		 makecgroup_write(struct criumake *);

/* spaces.c */
enum { CRIUS_IDS = 1 }; /* ID of the namespaces and cgroups of criu itself */

int		 makespaces_check(struct criumake *);
void		 makespaces_ids(const struct criumake *, Criu__Ids *,
		    const struct maketask *);
void		 makespaces_made(struct criumake *);
int		 makespaces_write(struct criumake *);

#endif
