/*
 * Connections of TCP that go along with processes that are moved: what
 * tcphold.c, tcplock.c, tcpkeep.c and tcpstate.c share.
 */
#ifndef TCPHOLD_H
#define TCPHOLD_H

#include "linux/proxy/proxy.h"
#include "sockets.h"

#include <netinet/in.h>

struct held {			/* a connection, as the keeper has it */
	int		 fd;	/* owned; a duplicate of its socket */
	int		 reuse;	/* SO_REUSEADDR, which TCP_REPAIR resets */
	struct sockaddr_in6 end[2]; /* of IPv4, too: its own, the other one */
};

struct heldset {		/* those of a network namespace, as well */
	uint64_t	 ns;	/* its inode */
	struct held	*v;	/* owned */
	size_t		 n;
};

enum tcplocker { LOCK_NFT, LOCK_IPTABLES, LOCKERS };

enum { LOCK_NAME = 32 };	/* room for the name of a table of nft(8) */

struct tcphold {		/* connections of a network namespace */
	struct tcphold	*next;	/* owned */
	uint64_t	 ns;	/* its inode */
	pid_t		 first;	/* the first process that is in it */
	int		 fd;	/* owned; the namespace */
	uint64_t	*ino;	/* owned; inodes of their sockets */
	size_t		 n;
	bool		 locked;
	enum tcplocker	 by;	/* what locks them */
	char		 name[LOCK_NAME];
};

struct tcplock {		/* what locks connections, and unlocks them */
	const char	*program; /* NULL: nothing does */
	struct buf	 script[2]; /* owned; to lock, to undo that */
};

enum { TCPLOCKS = 2 };		/* programs that it takes */

/* tcplock.c */
int		 tcplock_make(struct tcplock lock[TCPLOCKS],
		    const struct heldset *h, enum tcplocker by,
		    char name[LOCK_NAME]);
void		 tcplock_free(struct tcplock lock[TCPLOCKS]);

/* tcpkeep.c: a proxy that undoes it all when we are gone */
int		 tcpkeep_look(const struct tcphold *h, int fd);
int		 tcpkeep_lock(struct tcphold *h, enum tcplocker by);
void		 tcpkeep_repair(void);
void		 tcpkeep_end(bool undo);

/* tcpstate.c */
bool		 repair_on(const struct held *v);
void		 repair_off(const struct held *v);

#endif
