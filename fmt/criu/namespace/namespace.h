/*
 * Namespaces as CRIU images, and what is in them.
 *
 * The lowest first:
 *
 *	sysvspace.c	semaphores and queues of System V
 *	sysv.c		and its memory
 *	rtnetlink.c	messages of the kernel about networks
 *	netconf.c	settings of a network namespace
 *	netlinks.c	its links
 *	netspace.c	and all of it
 *	mounts.c	what is mounted
 *	cgroupread.c	what records tell of cgroups
 *	cgroupset.c	which of them processes are in
 *	cgrouptree.c	and what they are
 *	cgroups.c	and all of that
 *	spaces.c	namespaces: which of them are made
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
bool		 makecgroup_space(const struct criumake *);
int		 makecgroup_write(struct criumake *);
void		 makecgroup_free(struct criumake *);

/* spaces.c */
enum { CRIUS_IDS = 1 };		/* of criu itself */

int		 makespaces_check(struct criumake *);
void		 makespaces_ids(const struct criumake *, Criu__Ids *, bool);
void		 makespaces_made(struct criumake *);
int		 makespaces_write(struct criumake *);

#endif
