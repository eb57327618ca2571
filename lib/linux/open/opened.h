/*
 * What processes have open: what the files of this room share.
 */
#ifndef OPENED_H
#define OPENED_H

#include "linux/socket/socket.h"
#include "open.h"

/* kind.c: which kind, and files with names */
struct statx;
struct statx_timestamp;

bool		 file_tell(struct telling *);
intmax_t	 statx_ns(const struct statx_timestamp *);

/* anoninode.c: files without names */
bool		 anoninode_tell(struct telling *);

/* watch.c */
void		 inotify_tell(struct telling *);

/* tty.c */
void		 tty_tell(struct telling *, const struct statx *);

/* pipe.c */
void		 pipe_tell(struct telling *);

/* mqueue.c */
char		*mqueue_path(const struct telling *);

/* hardlink.c: other names of files whose names are deleted */
const char	*hardlink_find(const struct live *, uint64_t, uint64_t);

#endif
