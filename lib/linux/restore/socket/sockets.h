/*
 * Sockets: what the files of this room share.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "socket.h"

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

/* sockopt.c */
void		 tell_sockopts(struct telling *);

/* diag.c: sock_diag(7) in the network namespace of a process */
struct diagreply {
	uint8_t		 data[4096]; /* of the first message */
	size_t		 len;
};

int		 diag_socket(int);
void		 diag_free(struct files *);
bool		 diag_ask(struct telling *t, const void *request, size_t n,
		    size_t place, struct diagreply *r);
struct attributes diag_attributes(const struct diagreply *r, size_t skip);

/* inetsock.c, inetopt.c, inetgroup.c */
void		 twins_free(struct files *);
void		 groups_free(struct files *);
void		 inetsock_tell(struct telling *t);
void		 inetopt_tell(struct telling *, const struct inetwhat *);
void		 inetgroup_tell(struct telling *);

/* netlink.c, packetsock.c */
void		 netlink_tell(struct telling *);
void		 packetsock_tell(struct telling *);

/* tcphold.c, tcpstate.c: connections that go along */
bool		 tcphold_has(const struct files *f, uint64_t ino);
void		 tcpstate_tell(struct telling *);

/* unixsock.c, unixdiag.c, unixqueue.c */
void		 unixsock_tell(struct telling *);
const struct unixsock *unixdiag_find(struct telling *);
void		 unixdiag_free(struct files *);
int		 unixqueue_read(struct telling *, unsigned int, struct buf *);

/* passed.c: what waits in sockets */
int		 passed_add(struct telling *, int, uint64_t *);
void		 passed_free(struct files *);

#endif
