/*
 * A Linux record in the making, by readers of formats that have no /proc:
 * files as /proc would have them, from what the format tells.
 */
#ifndef RECORD_H
#define RECORD_H

#include "snap.h"
#include "space.h"

struct record {
	struct file	*file;	/* owned, with their names and bytes */
	size_t		 n;
	size_t		 cap;
	bool		 failed; /* out of memory */
};

struct procfacts {		/* what stat and status tell beside a task */
	int		 sid;
	unsigned int	 flags;	/* PF_* */
	size_t		 nthread;
	uint64_t	 vmbytes; /* of mappings */
	uint64_t	 membytes; /* resident */
	uint64_t	 startcode, endcode, startstack, sp, pc;
	uint64_t	 pending, blocked; /* sets of signals */
	uint64_t	 startdata, enddata, startbrk;
	uint64_t	 argstart, argend, envstart, envend;
	int		 exitcode;
	unsigned int	 uid[4]; /* real, effective, saved, file system */
	unsigned int	 gid[4];
	bool		 has_umask;
	unsigned int	 umask;
};

void		 record_take(struct record *, const char *, struct buf *);
void		 record_bytes(struct record *, const char *, const void *,
		    size_t);
void		 record_printf(struct record *, const char *, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
void		 record_stat(struct record *, const struct task *,
		    const struct procfacts *);
void		 record_status(struct record *, const struct task *,
		    const struct procfacts *);
void		 record_maps(struct record *, const struct vmas *);
int		 record_pack(struct record *, struct proc *, const char *,
		    struct task *);
void		 record_free(struct record *);

#endif
