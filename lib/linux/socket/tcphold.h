/*
 * Connections of TCP that go along with processes that are moved: what
 * tcphold.c, tcplock.c, tcpkeep.c and tcpstate.c share.
 */
#ifndef TCPHOLD_H
#define TCPHOLD_H

#include "sockets.h"

#include <netinet/in.h>

struct held {			/* a connection */
	int		 fd;	/* owned; a duplicate of its socket */
	uint64_t	 ino;
	int		 reuse;	/* SO_REUSEADDR, which TCP_REPAIR resets */
	struct sockaddr_in6 end[2]; /* of IPv4, too: its own, the other one */
};

enum tcplocker { LOCK_NFT, LOCK_IPTABLES, LOCKERS };

struct tcphold {		/* those of a network namespace */
	struct tcphold	*next;	/* owned */
	uint64_t	 ino;	/* of the namespace */
	pid_t		 first;	/* the first process that is in it */
	struct held	*v;	/* owned */
	size_t		 n;
	enum tcplocker	 by;	/* what locks them */
	char		 name[32]; /* of the table of nft(8) that does */
	pid_t		 pid;	/* the keeper, or 0 */
	int		 sock;	/* owned; to it */
	int		 ns;	/* owned; the namespace */
};

struct tcplock {		/* what locks connections, and unlocks them */
	const char	*program; /* NULL: nothing does */
	struct buf	 script[2]; /* owned; to lock, to undo that */
};

enum { TCPLOCKS = 2 };		/* programs that it takes */

/* tcplock.c */
int		 tcplock_make(struct tcplock lock[TCPLOCKS],
		    struct tcphold *h, enum tcplocker by);
void		 tcplock_free(struct tcplock lock[TCPLOCKS]);

/* tcpkeep.c: a process that undoes it all when we are gone */
int		 tcpkeep_begin(struct tcphold *h,
		    struct tcplock lock[TCPLOCKS]);
void		 tcpkeep_end(struct tcphold *h, bool undo);

/* tcpstate.c */
bool		 repair_on(const struct held *v);
void		 repair_off(const struct held *v);

#endif
