/*
 * What is told of an open file description: what all kinds of them have.
 */
#ifndef FILEREC_H
#define FILEREC_H

#include "linux/proxy/proxy.h"
#include "linux/set/set.h"

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
	bool		 recorded;	/* in the record of a process */
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

struct files {
	struct resources	 resources;
	uint64_t	 budget; /* of MAX_QUEUES, what is left */
	uint64_t	 nfile;	/* open file descriptions */
	struct fdset	*set;	/* owned */
	size_t		 nset;
	struct netspace	*net;	/* owned; network namespaces */
	pid_t		 peeker; /* whose descriptors are told of; 0: none */
	int		 peekerfd; /* owned; a pidfd of it, or -1 */
	struct fdref	*passed; /* owned; of lookers, those that no process
				    has; modes, and files, borrowed */
	size_t		 npassed;
	size_t		 npassedrec;	/* of them */
	struct freshsock *freshsock;	/* owned */
	size_t		 nfreshsock;
};

/* resource.c */
struct resource	*resource_get(struct files *, const struct resource *);
int		 resource_fd(struct files *f, pid_t pid, int fd,
		    struct fdref *r);
struct resource	*resource_find(struct files *, struct resource *);
bool		 resource_same(struct resource *, struct resource *);
void		 resources_free(struct files *);

enum { FILEREC_BATCH = 32 };		/* of whom the proxy is asked at once */

struct filerec;
typedef void	(*filerec_fn)(struct filerec *t);

/*
 * An open file description that is being told of.
 */
struct filerec {
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
	unsigned int	 rmajor; /* of a device: which it is */
	unsigned int	 rminor;
	bool		 held;	/* a connection that goes along: tcphold.c */
	bool		 reads;	/* a pipe of which the content is told */
	filerec_fn	 proxyrec; /* what the proxy is to record, or NULL */
	struct buf	 out;	/* owned; the lines so far */
	char		 why[160]; /* the first reason; "": none */
	struct filelist	*data;	/* pipe/INO and socket/INO */
};

/* aside.c: what the proxy tells */
void		 filerec_viaproxy(struct filerec *v, size_t n);

/* tell.c: what all kinds have */
void		 tell_why(struct filerec *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
void		 filerec_type(struct filerec *, const char *);
void		 filerec_path(struct filerec *, const char *);
void		 filerec_ioctl(struct filerec *, const char *, unsigned long);
bool		 filerec_dup(struct filerec *);
struct proxy_key filerec_key(const struct filerec *t, size_t lane, char *what,
		    size_t size);
int		 filerec_ask(struct filerec *t, size_t lane, proxy_fn fn,
		    const void *arg, size_t len, int fd, struct bytes *answer);
const char	*info_find(const char *, const char *);

#endif
