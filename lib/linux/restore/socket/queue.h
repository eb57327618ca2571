/*
 * What waits in UNIX sockets: unixqueue.c asks the looker for it, and that
 * does what peek.c says.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "linux/proxy/proxy.h"
#include "sockets.h"

#include <sys/socket.h>

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
	uint8_t	 data[QUEUE_MOST];
};

struct order {
	bool		 stream;
	uint64_t	 most;	/* what it may cost */
};

/* peek.c */
int		 queue_serve(struct serving *s);

#endif
