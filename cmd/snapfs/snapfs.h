/*
 * Declarations shared by the files of snapfs.
 */
#ifndef SNAPFS_H
#define SNAPFS_H

#include "common/common.h"

#include <time.h>

struct origin {			/* attributes of the files of a snapshot */
	uid_t		 uid;
	gid_t		 gid;
	mode_t		 mode;	/* mode of directories */
	time_t		 time;
	uint64_t	 size;	/* size of the snapshot file, in bytes */
};

struct served {
	struct fstree	*tree;
	struct origin	 root;	/* attributes of the root directory */
	unsigned int	 max_read; /* maximum number of bytes per read; 0: the
				      kernel's limit */
	char		 status; /* exit status if all goes well: 1 if the
				    snapshot is damaged */
};

struct options {
	bool		 over;	/* -a: mount even over a directory that is
				   not empty */
	bool		 debug;
	bool		 foreground;
	char		*address; /* -s: serve 9P2000 here, and mount nothing;
				     NULL: mount */
	char		*opts;	/* owned; arguments of -o; NULL: none */
};

struct mount {
	const char	*name;	/* borrowed; shown as the source of the mount */
	const char	*mtpt;
	struct options	*opts;	/* borrowed */
	const bool	*reported; /* borrowed; libfuse has printed an error */
	struct fuse_session *session; /* owned; NULL except in the helper
					 process */
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
void		 daemon_ready(char);

/*
 * serve.c
 */
struct fuse_session;
struct fuse_args;

struct fuse_session *serve_new(struct fuse_args *, struct served *);
int		 serve_loop(struct fuse_session *);
int		 serve_stat(const struct served *, uint64_t, struct stat *);

/*
 * listen.c, ninep.c
 */
struct listening {		/* where to serve 9P2000 */
	const struct options *opts; /* borrowed */
	char		*path;	/* owned; socket to remove at the end; NULL:
				   none */
	struct stat	 st;	/* that socket */
};

int		 listen_make(void *);
void		 listen_end(void *);
int		 listen_serve(const struct listening *, struct served *);
void		 ninep_serve(struct served *, int);

/*
 * stream.c: read ahead of sequential readers
 */
struct stream;
struct slot;

struct reading {		/* a read of an open file */
	uint64_t	 off;
	size_t		 len;
	bool		 inorder; /* the read begins where the previous one
				     ended */
	struct slot	*slot;	/* borrowed; NULL: nothing was read ahead */
	const uint8_t	*buf;	/* borrowed; data that was read ahead */
};

struct stream	*stream_new(struct fstree *, uint64_t);
size_t		 stream_begin(struct stream *, uint64_t, size_t,
		    struct reading *);
void		 stream_end(struct stream *, const struct reading *);
void		 stream_close(struct stream *);
void		 streams_end(void);

#endif
