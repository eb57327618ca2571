/*
 * Declarations that the files of this room share.
 */
#ifndef OPENED_H
#define OPENED_H

#include "linux/restore/socket/socket.h"
#include "open.h"

#include <fcntl.h>

/* kind.c: the kind of a file, and files with names */
struct statx;
struct statx_timestamp;

bool		 file_record(struct filerec *);
void		 file_end(struct filerec *);
intmax_t	 statx_ns(const struct statx_timestamp *);

/* nameless.c: files whose name was deleted, and their content */
bool		 file_islocal(struct filerec *t);
void		 content_record(struct filerec *t);
void		 nameless_record(struct filerec *t, const struct statx *sx);

/* anoninode.c: anonymous inodes */
bool		 anoninode_record(struct filerec *);

/* watch.c: inotify, and watched files */
enum { MAX_WATCHES = 1000 };	/* maximum number of watches in a set, because
				   processes are stopped */

struct watched {		/* a watched file */
	uint64_t	 dev;
	uint64_t	 ino;
	struct {		/* same layout as struct file_handle */
		unsigned int	 len;
		int		 type;
		uint8_t		 bytes[MAX_HANDLE_SZ];
	} handle;
};

void		 inotify_record(struct filerec *);
bool		 watch_number(struct scan *, const char *, uint64_t *);
bool		 point_reach(const struct filerec *t, const struct mountinfo *m,
		    char path[PATH_MAX]);
bool		 watched_device(struct scan *, struct watched *);
bool		 watched_handle(struct scan *, struct watched *);
void		 watched_record(struct filerec *, const struct watched *);

/* fanotify.c */
void		 fanotify_record(struct filerec *);

/* tty.c */
void		 tty_record(struct filerec *);

/* pipe.c */
bool		 pipe_isread(struct filerec *);
void		 pipe_record(struct filerec *);

/* mqueue.c */
char		*mqueue_path(struct filerec *);

/* hidden.c: files that their paths do not lead to */
struct filemount;
struct mountview;

struct viewer {			/* views in which the files of a process are
				   looked up; all pointers are borrowed */
	struct live	*live;
	const struct lproc *proc;
	const struct mountview *own; /* mounts of its mount namespace; NULL: not
				   known */
	const struct mountview *ours; /* mounts of our mount namespace */
};

void		 hidden_begin(struct viewer *w, struct live *l,
		    const struct lproc *p, const struct filelist *rec);
const char	*hidden_why(const struct viewer *w, const char *link,
		    const struct filemount *f);
bool		 hidden_ended(const struct viewer *w, const char *link,
		    const struct filemount *f);
void		 hidden_record(const struct viewer *w, struct filelist *rec);

/* hardlink.c: other names of files whose name was deleted */
const char	*hardlink_find(const struct live *, uint64_t, uint64_t);

#endif
