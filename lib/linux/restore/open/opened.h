/*
 * What processes have open: what the files of this room share.
 */
#ifndef OPENED_H
#define OPENED_H

#include "linux/restore/socket/socket.h"
#include "open.h"

#include <fcntl.h>
#include <limits.h>

/* kind.c: which kind, and files with names */
struct statx;
struct statx_timestamp;

bool		 file_record(struct telling *);
void		 file_end(struct telling *);
intmax_t	 statx_ns(const struct statx_timestamp *);

/* nameless.c: files whose names are deleted, and their content */
bool		 file_islocal(struct telling *t);
void		 tell_content(struct telling *t);
void		 nameless_record(struct telling *t, const struct statx *sx);

/* anoninode.c: files without names */
bool		 anoninode_record(struct telling *);

/* watch.c: inotify; and what is watched */
enum { MAX_WATCHES = 1000 };	/* of one: all are stopped meanwhile */

struct watched {		/* a file */
	uint64_t	 dev;
	uint64_t	 ino;
	struct {		/* struct file_handle */
		unsigned int	 len;
		int		 type;
		uint8_t		 bytes[MAX_HANDLE_SZ];
	} handle;
};

void		 inotify_record(struct telling *);
bool		 watch_number(struct scan *, const char *, uint64_t *);
int		 watch_open(const struct telling *, const char *, int);
bool		 point_reach(const struct telling *t, const struct mountinfo *m,
		    char path[PATH_MAX]);
bool		 watched_device(struct scan *, struct watched *);
bool		 watched_handle(struct scan *, struct watched *);
void		 watched_record(struct telling *, const struct watched *);

/* fanotify.c */
void		 fanotify_record(struct telling *);

/* tty.c */
void		 tty_record(struct telling *);

/* pipe.c */
bool		 pipe_isread(struct telling *);
void		 pipe_record(struct telling *);

/* mqueue.c */
char		*mqueue_path(const struct telling *);

/* hardlink.c: other names of files whose names are deleted */
const char	*hardlink_find(const struct live *, uint64_t, uint64_t);

#endif
