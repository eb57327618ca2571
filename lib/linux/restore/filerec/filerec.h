/*
 * Records of open file descriptions: declarations for all kinds of files.
 */
#ifndef FILEREC_H
#define FILEREC_H

#include "linux/proxy/proxy.h"
#include "linux/set/set.h"

#include <linux/kcmp.h>

/*
 * A kernel resource that descriptors or processes can share: an open file
 * description, a descriptor table and other types of kcmp(2), or an inode.
 */
enum { RESOURCE_INODE = 1000 };	/* a kind of resource for which kcmp(2) has no
				   type */

struct resource {
	RB_ENTRY(resource)	 entry;
	int		 kind;
	uint64_t	 dev;	/* device number, if the resource is a file or
				   inode; else 0 */
	uint64_t	 ino;
	pid_t		 pid;	/* a thread that has the resource */
	unsigned long	 fd;	/* number of the descriptor in thread pid */
	const struct kcmp_epoll_slot *slot; /* borrowed; set only in a search
					       key, for a file that an epoll set
					       of pid watches */
	uint64_t	 id;	/* number of the resource in the record */
	bool		 unsure; /* kcmp(2) failed; the resource may be
				    identical to another */
	bool		 recorded; /* the resource is already in the record of a
				      process */
	bool		 held;	/* a socket that tcphold_begin() has seen */
};

RB_HEAD(resources, resource);

struct fdref {			/* a descriptor */
	int		 fd;
	unsigned int	 mode;	/* st_mode of stat(2) */
	struct resource	*file;	/* borrowed */
};

struct fdset {			/* descriptors of a process, in ascending
				   order */
	pid_t		 pid;	/* a thread of the process */
	struct fdref	*v;	/* owned */
	size_t		 n;
};

struct files {
	struct resources	 resources;
	uint64_t	 budget; /* number of bytes that may still be read from
				    pipes and sockets; initially MAX_QUEUES */
	unsigned int	 timereads; /* number of times that the fdinfo of timers
				       may still be read again; initially
				       MAX_TIMEREADS */
	uint64_t	 nfile;	/* number of open file descriptions */
	struct fdset	*set;	/* owned */
	size_t		 nset;
	struct netspace	*net;	/* owned; network namespaces */
	pid_t		 peeker; /* socket peeker whose descriptors are being
				    recorded; 0: none */
	int		 peekerfd; /* owned; pidfd of "peeker", or -1 */
	struct fdref	*passed; /* owned; open files that were received from
				    sockets and that no process has open; "fd"
				    of each is a descriptor in a socket
				    peeker */
	size_t		 npassed;
	size_t		 npassedrec; /* number of entries in "passed" that are
					already recorded */
	struct freshsock *freshsock; /* owned */
	size_t		 nfreshsock;
};

/* resource.c */
struct resource	*resource_get(struct files *, const struct resource *);
int		 resource_fd(struct files *f, pid_t pid, int fd,
		    struct fdref *r);
int		 resource_file(struct files *f, pid_t pid,
		    const struct openfile *o, struct fdref *r);
struct resource	*resource_find(struct files *, struct resource *,
		    struct resource *);
void		 resources_free(struct files *);

enum { FILEREC_BATCH = 32 };	/* maximum number of files sent to the proxy at
				   once */

struct filerec;
struct viewer;
typedef void	(*filerec_fn)(struct filerec *t);

/*
 * The record of an open file description while it is built.
 */
struct filerec {
	struct live	*live;	/* borrowed, as are all pointers here that are
				   not marked as owned */
	struct snap	*snap;
	const struct lproc *proc;
	const struct viewer *viewer;
	const struct fdset *set;
	const struct resource *file;
	pid_t		 pid;	/* a thread that has the file open */
	int		 pidfd;	/* borrowed; pidfd of thread pid; -1: none */
	bool		 tagged; /* sockets of the process must not be
				    duplicated */
	int		 fd;	/* number of the descriptor in thread pid */
	int		 dup;	/* owned; our duplicate of the descriptor;
				   -1: none */
	char		*link;	/* owned; target of /proc/PID/fd/N */
	char		*info;	/* owned; text of /proc/PID/fdinfo/N */
	struct fdinfo	 fdinfo; /* fields of the text in "info" that all files
				    have */
	unsigned int	 flags;	/* open(2) flags */
	unsigned int	 mode;	/* mode, dev and ino are as in stat(2) */
	uint64_t	 dev;
	uint64_t	 ino;
	unsigned int	 rmajor; /* major device number, if the file is a
				    device */
	unsigned int	 rminor;
	bool		 held;	/* the file is a TCP connection that moves with
				   the process */
	bool		 reads;	/* the file is a pipe whose content is
				   recorded */
	filerec_fn	 proxyrec; /* function that the proxy runs for the file,
				      or NULL */
	struct buf	 out;	/* owned; lines of the record so far */
	char		 why[160]; /* first reason why the record is
				      incomplete; "": none */
	struct filelist	*data;	/* collects the files pipe/INO, socket/INO and
				   stream/INO */
};

/* inproxy.c: records made in the proxy */
void		 filerec_viaproxy(struct filerec *v, size_t n);

/* filerec.c: lines that all kinds of files have */
void		 tell_why(struct filerec *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
void		 filerec_type(struct filerec *, const char *);
void		 filerec_path(struct filerec *, const char *);
void		 filerec_ioctl(struct filerec *, const char *, unsigned long);
bool		 filerec_dup(struct filerec *);
struct proxy_key filerec_key(const struct filerec *t, size_t lane, char *buf,
		    size_t size);
int		 filerec_ask(struct filerec *t, size_t lane, proxy_fn fn,
		    const void *arg, size_t len, int fd, struct bytes *answer);
bool		 info_read(struct filerec *t);
const char	*info_find(const char *, const char *);

#endif
