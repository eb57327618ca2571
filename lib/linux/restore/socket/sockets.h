/*
 * Sockets: what the files of this room share.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "socket.h"

#include <sys/socket.h>

#include <netinet/in.h>

enum tcplocker { LOCK_NFT, LOCK_IPTABLES, LOCKERS };

enum { LOCK_NAME = 32 };	/* room for the name of a table of nft(8) */

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

struct netspace {		/* what is known of a network namespace */
	struct netspace	*next;	/* owned */
	uint64_t	 ino;
	pid_t		 first;	/* the first process that is in it */
	int		 diag;	/* owned; a socket there: sock_diag(7); or -1 */
	struct unixsock	*v;	/* owned; its UNIX sockets, by inode, */
	size_t		 n;
	bool		 unixed; /* if they were asked for, */
	char		*why;	/* owned; not NULL: they cannot be told */
	struct group	*group;	/* owned; multicast groups: inetgroup.c, */
	size_t		 ngroup;
	bool		 grouped; /* if they were read */
	uint64_t	*held;	/* owned; inodes of what goes along: TCP, */
	size_t		 nheld;
	bool		 locked; /* which are locked, */
	enum tcplocker	 by;	/* by this, */
	char		 table[LOCK_NAME]; /* and by the one of nft(8) */
};

struct sockkind {		/* which a socket with such options is */
	int		 family; /* AF_INET, AF_INET6 ... */
	int		 type;
	int		 protocol;
};

struct freshsock {		/* a new one of ours, to compare with */
	struct sockkind	 what;
	int		 fd;	/* owned; -1: it cannot be made */
	int		*option; /* owned; as inetopt.c lists them */
};

/* sockopt.c: options that sockets of all families have */
int		 sock_get(int fd, int level, int name, void *v, socklen_t len);
void		 sockopt_record(struct filerec *);

/* diag.c: network namespaces of processes, and sock_diag(7) there */
struct diagreply {
	uint8_t		 data[4096]; /* of the first message */
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
void		 inetopt_record(struct filerec *, const struct sockkind *);
void		 inetgroup_record(struct filerec *);

/* netlink.c, packetsock.c */
void		 netlink_record(struct filerec *);
void		 packetsock_record(struct filerec *);

/* unixsock.c, unixdiag.c, unixqueue.c */
void		 unixsock_record(struct filerec *);
const struct unixsock *unixdiag_find(struct filerec *);
int		 unixqueue_read(struct filerec *, unsigned int, struct buf *);

/* peek.c: what waits in a UNIX socket, which unixqueue.c has the looker see */
struct packet {			/* its bytes follow, then its descriptors */
	uint64_t	 len;
	size_t		 nright; /* so many ints: of the looker's own */
	struct ucred	 from;	/* who sent it; pid -1: not told */
};

struct queue {
	int	 done;		/* 1: all is here; else errno */
	bool	 more;		/* some packet has what cannot be had */
	uint64_t cost;		/* in bytes */
	size_t	 npacket;
	size_t	 nbyte;		/* of all packets */
	size_t	 n;		/* of data */
	uint8_t	 data[MAX_QUEUE];
};

struct peek_request {
	bool		 stream;
	uint64_t	 most;	/* what it may cost */
};

int		 queue_serve(struct serving *s);

/* passed.c: descriptors that wait in sockets */
int		 passed_add(struct filerec *, int, uint64_t *);
void		 passed_free(struct files *);

/* tcphold.c: connections that go along with processes that are moved */
bool		 tcphold_has(const struct files *f, uint64_t ino);

/* tcplock.c: what locks connections, and unlocks them */
struct heldconn {			/* a connection, as the keeper has it */
	int		 fd;	/* owned; a duplicate of its socket */
	int		 reuse;	/* SO_REUSEADDR, which TCP_REPAIR resets */
	struct sockaddr_in6 end[2]; /* of IPv4, too: its own, the other one */
};

struct heldset {		/* those of a network namespace, as well */
	uint64_t	 ns;	/* its inode */
	struct heldconn	*v;	/* owned */
	size_t		 n;
};

struct tcplock {
	const char	*program; /* NULL: nothing does */
	struct buf	 script[2]; /* owned; to lock, to undo that */
};

enum { TCPLOCKS = 2 };		/* programs that it takes */

int		 tcplock_make(struct tcplock lock[TCPLOCKS],
		    const struct heldset *h, enum tcplocker by,
		    char name[LOCK_NAME]);
void		 tcplock_free(struct tcplock lock[TCPLOCKS]);

/* tcpunlock.c: a proxy that undoes it all when we are gone */
int		 tcpunlock_add(const struct netspace *ns, int fd);
int		 tcpunlock_lock(struct netspace *ns, enum tcplocker by);
void		 tcpunlock_end(bool undo);

/* tcpstate.c */
bool		 repair_on(const struct heldconn *v);
void		 repair_off(const struct heldconn *v);
void		 tcpstate_record(struct filerec *);

#endif
