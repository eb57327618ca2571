/*
 * Connections of TCP that go along with processes that are moved: what
 * tcphold.c, tcpkeep.c and tcpstate.c share.
 */
#ifndef TCPHOLD_H
#define TCPHOLD_H

#include "sockets.h"

struct held {			/* a connection */
	int		 fd;	/* owned; a duplicate of its socket */
	uint64_t	 ino;
	int		 reuse;	/* SO_REUSEADDR, which TCP_REPAIR resets */
};

struct tcphold {
	struct held	*v;	/* owned */
	size_t		 n;
	char		 name[32]; /* of the table of nft(8) that locks them */
	pid_t		 pid;	/* the keeper, or 0 */
	int		 sock;	/* owned; to it */
	int		 ns;	/* owned; their network namespace, or -1 */
};

/* tcpkeep.c: a process that undoes it all when we are gone */
int		 tcpkeep_begin(struct tcphold *h, struct buf *script);
void		 tcpkeep_end(struct tcphold *h, bool undo);

/* tcpstate.c */
bool		 repair_on(const struct held *v);
void		 repair_off(const struct held *v);

#endif
