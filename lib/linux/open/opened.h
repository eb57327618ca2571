/*
 * What processes have open: what the files of this room share.
 */
#ifndef OPENED_H
#define OPENED_H

#include "open.h"

#include <linux/kcmp.h>

/*
 * A resource of the kernel that descriptors or processes have in common, as
 * kcmp(2) calls it: an open file description, a table of descriptors ...
 */
enum { RESOURCE_INODE = 1000 };	/* kinds are these and those of kcmp(2) */

struct resource {
	RB_ENTRY(resource)	 entry;
	int		 kind;
	uint64_t	 dev;	/* of a file or an inode; else 0 */
	uint64_t	 ino;
	pid_t		 pid;	/* a thread of whom has it, */
	unsigned long	 fd;	/* and as which descriptor */
	const struct kcmp_epoll_slot *slot; /* of a key: it is what this
					   epoll set of pid has; borrowed */
	uint64_t	 id;	/* in the record */
	bool		 unsure; /* it may be one with others */
	bool		 told;	/* in the record of a process */
};

RB_HEAD(resources, resource);

struct fdref {			/* a descriptor */
	int		 fd;
	unsigned int	 mode;	/* of stat(2) */
	struct resource	*file;	/* borrowed */
};

struct fdset {			/* those of a process, ascending */
	pid_t		 pid;	/* a thread of it */
	struct fdref	*v;	/* owned */
	size_t		 n;
};

struct unixsock {		/* what sock_diag(7) tells of one */
	uint64_t	 ino;
	uint64_t	 peer;	/* its inode; 0: none */
	unsigned int	 type;
	unsigned int	 state;
	unsigned int	 shutdown;
	unsigned int	 waiting; /* connections, of one that listens */
	unsigned int	 backlog;
	uint32_t	 *caller; /* owned; inodes of who waits so; 0: it has
				     closed its end */
	size_t		 ncaller;
};

struct unixsocks {		/* those of a network namespace */
	uint64_t	 ns;	/* its inode */
	struct unixsock	*v;	/* owned; by inode */
	size_t		 n;
	char		*why;	/* owned; not NULL: it cannot be told */
};

/*
 * How much is looked at of what waits in one pipe or socket, and in all of a
 * snapshot, in bytes: all are stopped meanwhile.  It takes some 10 ms, and
 * 100.
 */
enum {
	QUEUE_MOST = 32 * 1024 * 1024,
	QUEUES_MOST = 8 * QUEUE_MOST
};

struct looker;			/* a process: looker.c */

struct inetwhat {		/* which a socket with such options is */
	int		 family; /* AF_INET, AF_INET6 ... */
	int		 type;
	int		 protocol;
};

struct twin {			/* a new one of ours, to compare with */
	struct inetwhat	 what;
	int		 fd;	/* owned; -1: it cannot be made */
	int		*option; /* owned; as inetopt.c lists them */
};

struct files {
	struct resources	 resources;
	uint64_t	 budget; /* of QUEUES_MOST, what is left */
	uint64_t	 nfile;	/* open file descriptions */
	struct fdset	*set;	/* owned */
	size_t		 nset;
	struct unixsocks *net;	/* owned */
	size_t		 nnet;
	struct looker	*looker; /* owned; NULL: not needed yet */
	struct fdref	*passed; /* owned; of the looker, those that no process
				    has; modes, and files, borrowed */
	size_t		 npassed;
	size_t		 ntold;	/* of them */
	struct tcphold	*hold;	/* owned; connections that go along, or NULL */
	struct groups	*groups; /* owned; or NULL: inetgroup.c */
	struct twin	*twin;	/* owned */
	size_t		 ntwin;
	uint64_t	 diagns; /* inode of a network namespace; */
	int		 diag;	/* owned; a socket there: sock_diag(7), or 0 */
};

/* resource.c */
struct resource	*resource_get(struct files *, const struct resource *);
struct resource	*resource_find(struct files *, struct resource *);
bool		 resource_same(struct resource *, struct resource *);
void		 resources_free(struct files *);

/*
 * An open file description that is being told of.
 */
struct telling {
	struct live	*live;	/* borrowed, as all here but where marked */
	struct snap	*snap;
	const struct lproc *proc;
	const struct fdset *set;
	const struct resource *file;
	pid_t		 pid;	/* a thread that has it open, */
	int		 pidfd;	/* and a pidfd of that, borrowed; -1: none */
	bool		 tagged; /* its sockets must not be duplicated */
	int		 fd;	/* as which descriptor */
	int		 dup;	/* owned; ours of the same, or -1 */
	char		*link;	/* owned; where /proc/PID/fd/N leads */
	char		*info;	/* owned; /proc/PID/fdinfo/N */
	struct fdinfo	 fdinfo; /* the same, what all kinds have */
	unsigned int	 flags;	/* of open(2) */
	unsigned int	 mode;	/* these of stat(2) */
	uint64_t	 dev;
	uint64_t	 ino;
	struct buf	 out;	/* owned; the lines so far */
	char		 why[160]; /* the first reason; "": none */
	struct filelist	*data;	/* pipe/INO and socket/INO */
};

/* kind.c: which kind, and files with names */
struct statx;
struct statx_timestamp;

bool		 file_tell(struct telling *);
intmax_t	 statx_ns(const struct statx_timestamp *);

/* tell.c: what all kinds have */
void		 tell_why(struct telling *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
void		 tell_type(struct telling *, const char *);
void		 tell_path(struct telling *, const char *);
void		 tell_number(struct telling *, const char *, unsigned long);
bool		 tell_dup(struct telling *);
const char	*info_find(const char *, const char *);

/* anoninode.c: files without names */
bool		 anoninode_tell(struct telling *);

/* socket.c */
bool		 sockets_tagged(const struct lproc *, const struct fdset *);
void		 socket_tell(struct telling *);

/* watch.c */
void		 inotify_tell(struct telling *);

/* tty.c */
void		 tty_tell(struct telling *, const struct statx *);

/* sockopt.c */
void		 tell_sockopts(struct telling *);

/* diag.c: sock_diag(7) in the network namespace of a process */
struct diagreply {
	uint8_t		 data[4096]; /* of the first message */
	size_t		 len;
};

int		 diag_socket(int);
bool		 diag_request(struct telling *, void *, struct diagreply *);
bool		 diag_search(struct telling *, void *, size_t,
		    struct diagreply *);
const uint8_t	*diag_find(const struct diagreply *, size_t, unsigned int,
		    size_t *);
bool		 diag_attribute(const struct diagreply *, size_t, unsigned int,
		    void *, size_t);
void		 diag_free(struct files *);

/* inetsock.c, inetopt.c, inetgroup.c */
void		 inetsock_tell(struct telling *, int);
void		 inetopt_tell(struct telling *, const struct inetwhat *);
void		 twins_free(struct files *);
void		 inetgroup_tell(struct telling *);
void		 groups_free(struct files *);

/* netlink.c, packetsock.c */
void		 netlink_tell(struct telling *);
void		 packetsock_tell(struct telling *);

/* tcphold.c, tcpstate.c: connections that go along */
void		 tcphold_begin(struct live *);
void		 tcphold_record(const struct files *, struct filelist *);
void		 tcpstate_tell(struct telling *);

/* pipe.c */
void		 pipe_tell(struct telling *);

/* unixsock.c, unixdiag.c, unixqueue.c */
void		 unixsock_tell(struct telling *);
const struct unixsock *unixdiag_find(struct telling *);
void		 unixdiag_free(struct files *);
int		 unixqueue_read(struct telling *, unsigned int, struct buf *);
int		 queue_spend(uint64_t *, uint64_t);

/* looker.c */
void		 looker_leave(struct looker *);
void		 looker_end(struct looker *);
pid_t		 looker_process(const struct looker *, int *);

/* passed.c: what waits in sockets */
int		 passed_add(struct telling *, int, uint64_t *);
bool		 passed_next(struct telling *, struct fdref *);

/* mqueue.c */
char		*mqueue_path(const struct telling *);

/* hardlink.c: other names of files whose names are deleted */
const char	*hardlink_find(const struct live *, uint64_t, uint64_t);

#endif
