/*
 * Declarations that the files of this room share.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "socket.h"

#include <sys/socket.h>

#include <netinet/in.h>

enum tcplocker { LOCK_NFT, LOCK_IPTABLES, LOCKERS };

enum { LOCK_NAME = 32 };	/* size of an nft(8) table name */

struct unixsock { /* a UNIX socket, as sock_diag(7) describes it */
	uint64_t	 ino;
	uint64_t	 peer;	/* inode of the peer socket; 0: none */
	unsigned int	 type;
	unsigned int	 state;
	unsigned int	 shutdown;
	unsigned int	 waiting; /* number of connections not yet accepted, if
				     the socket is listening */
	unsigned int	 backlog;
	uint32_t	 *caller; /* owned; inodes of the sockets waiting to be
				     accepted; 0 for a socket that was closed */
	size_t		 ncaller;
};

struct netspace {		/* a network namespace */
	struct netspace	*next;	/* owned */
	uint64_t	 ino;
	pid_t		 first;	/* first process found in the namespace */
	int		 diag;	/* owned; a sock_diag(7) socket in the
				   namespace, or -1 */
	struct unixsock	*v;	/* owned; UNIX sockets of the namespace, sorted
				   by inode */
	size_t		 n;
	bool		 have_unix; /* the UNIX sockets were read, or reading
				       them failed */
	char		*why;	/* owned; why the UNIX sockets could not be
				   read, or NULL */
	struct group	*group;	/* owned; multicast groups of the namespace; see
				   inetgroup.c */
	size_t		 ngroup;
	bool		 have_groups; /* the multicast groups were read */
	uint64_t	*held;	/* owned; inodes of TCP connections that move
				   with their processes */
	size_t		 nheld;
	bool		 locked; /* the connections in "held" are locked */
	enum tcplocker	 by;	/* program that locked the connections */
	char		 table[LOCK_NAME]; /* nft(8) table that locks the
					      connections */
};

struct sockkind {		/* a kind of socket */
	int		 family; /* AF_INET, AF_INET6 etc. */
	int		 type;
	int		 protocol;
};

struct freshsock {		/* a new socket, to compare options with */
	struct sockkind	 what;
	int		 fd;	/* owned; -1: it could not be created */
	int		*option; /* owned; values of the options in the table
				    of inetopt.c */
};

/* sockopt.c: options that sockets of all families have */
int		 sock_get(int fd, int level, int name, void *v, socklen_t len);
void		 sockopt_record(struct filerec *);

/* diag.c: sock_diag(7) in network namespaces of processes */
struct diagreply {
	uint8_t		 data[4096]; /* body of the message, which may be
					truncated */
	size_t		 len;
};

struct netspace	*net_get(struct files *f, pid_t pid);
int		 diag_socket(pid_t pid);
bool		 diag_ask(struct filerec *t, const void *request, size_t n,
		    size_t place, struct diagreply *r);
struct attributes diag_attributes(const struct diagreply *r, size_t skip);

/* inetsock.c, inetopt.c, inetgroup.c */
int		 sockkind_get(int fd, struct sockkind *w);
void		 freshsocks_free(struct files *);
void		 inetsock_record(struct filerec *t);
bool		 inetsock_unread(struct filerec *t, uint32_t *n);
void		 inetopt_record(struct filerec *, const struct sockkind *);
void		 inetgroup_record(struct filerec *);

/* netlink.c, packetsock.c */
void		 netlink_record(struct filerec *);
void		 packetsock_record(struct filerec *);

/* unixsock.c, unixdiag.c, unixqueue.c */
void		 unixsock_record(struct filerec *);
const struct unixsock *unixdiag_find(struct filerec *);
int		 unixqueue_read(struct filerec *, unsigned int, struct buf *);

/* peek.c: reading a UNIX socket's queue in the socket peeker */
struct packet {			/* header of a packet; its bytes follow, then
				   its descriptors */
	uint64_t	 len;
	size_t		 nright; /* number of descriptors (int) that follow */
	struct ucred	 from;	/* sender's credentials; pid -1: unknown */
};

struct queue {
	int	 done; /* 1 if the whole queue was read, else an errno */
	bool	 more;		/* some control messages of a packet are missing
				   from "data" */
	uint64_t cost;		/* cost taken from the budget, in bytes */
	size_t	 npacket;
	size_t	 nbyte;		/* total length of all packets, in bytes */
	size_t	 n;		/* number of bytes used in "data" */
	uint8_t	 data[MAX_QUEUE];
};

struct peek_request {
	bool		 stream;
	uint64_t	 most; /* maximum cost of reading the queue, in bytes */
};

int		 queue_serve(struct serving *s);

/* passed.c: descriptors that wait in sockets */
int		 passed_add(struct filerec *, int, uint64_t *);
void		 passed_free(struct files *);

/* tcphold.c: TCP connections that move with their processes */
bool		 tcphold_has(const struct files *f, uint64_t ino);

/* tcplock.c: scripts that lock and unlock connections */
struct heldconn {		/* a TCP connection that the unlocker keeps */
	int		 fd; /* owned; a duplicate of the connection's socket */
	int		 reuse;	/* original value of SO_REUSEADDR, which
				   TCP_REPAIR clears */
	struct sockaddr_in6 end[2]; /* addresses of the socket and its peer; for
				       IPv4, each is a struct sockaddr_in */
};

struct heldset {		/* connections of a network namespace */
	uint64_t	 ns;	/* inode of the namespace */
	struct heldconn	*v;	/* owned */
	size_t		 n;
};

struct tcplock {
	const char	*program; /* program that runs the scripts; NULL:
				     none */
	struct buf	 script[2]; /* owned; [0] locks the connections, [1]
				       unlocks them */
};

enum { TCPLOCKS = 2 };		/* maximum number of programs: nft, or iptables
				   and ip6tables */

int		 tcplock_make(struct tcplock lock[TCPLOCKS],
		    const struct heldset *h, enum tcplocker program,
		    char name[LOCK_NAME]);
void		 tcplock_free(struct tcplock lock[TCPLOCKS]);

/* tcpunlock.c: a proxy that unlocks connections if we die */
int		 tcpunlock_add(const struct netspace *ns, int fd);
int		 tcpunlock_lock(struct netspace *ns, enum tcplocker program);
int		 tcpunlock_end(bool undo);

/* tcpstate.c */
bool		 repair_on(const struct heldconn *v);
void		 repair_off(const struct heldconn *v);
void		 tcpstate_record(struct filerec *);

#endif
