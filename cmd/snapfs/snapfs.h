/*
 * What snapfs.c and serve.c share.
 */
#ifndef SNAPFS_H
#define SNAPFS_H

#include "common/common.h"

#include <time.h>

struct origin {			/* of a snapshot, or of the root */
	struct snap	*snap;
	uid_t		 uid;
	gid_t		 gid;
	mode_t		 mode;	/* of directories */
	time_t		 time;
	uint64_t	 size;	/* of its file, bytes */
};

struct served {
	struct fstree	*tree;
	struct origin	 root;	/* what all have in common */
	unsigned int	 max_read; /* bytes; 0: as many as the kernel likes */
};

struct options {
	bool		 over;	/* -a: what is there may be covered */
	bool		 debug;
	bool		 foreground;
	char		*opts;	/* of -o, owned; NULL: none */
};

struct mount {
	const char	*name;	/* of what is mounted */
	const char	*mtpt;
	struct options	*opts;	/* all borrowed */
	const bool	*told;	/* libfuse has said what is wrong */
	struct fuse_session *session; /* outside; NULL elsewhere */
	bool		 mounted;
};

/*
 * mount.c
 */
char		*mount_point(const char *, bool);
bool		 others_allowed(void);
void		 threads_prepare(void);
int		 mount_make(void *);
void		 mount_end(void *);
int		 mount_serve(const struct mount *, struct served *);

/*
 * daemon.c
 */
void		 daemon_begin(void);
void		 daemon_leave(int);
void		 daemon_ready(void);

/*
 * serve.c
 */
struct fuse_session;
struct fuse_args;

struct fuse_session *serve_new(struct fuse_args *, struct served *);
int		 serve_loop(struct fuse_session *);

/*
 * Reading ahead: stream.c
 */
struct stream;
struct slot;

struct reading {		/* a read of an open file */
	uint64_t	 off;
	size_t		 len;
	bool		 inorder; /* it begins where the last one ended */
	struct slot	*slot;	/* borrowed; NULL: nothing was read ahead */
	const uint8_t	*buf;	/* what was */
};

struct stream	*stream_new(struct fstree *, uint64_t);
size_t		 stream_begin(struct stream *, uint64_t, size_t,
		    struct reading *);
void		 stream_end(struct stream *, const struct reading *);
void		 stream_close(struct stream *);
void		 streams_end(void);

#endif
