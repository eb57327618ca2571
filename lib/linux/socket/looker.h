/*
 * The looker, a process that looks at what waits in UNIX sockets: looker.c, and
 * what it does, peek.c.
 */
#ifndef LOOKER_H
#define LOOKER_H

#include "sockets.h"

#include <sys/socket.h>

struct packet {			/* its bytes follow, then its descriptors */
	uint64_t	 len;
	size_t		 nright; /* so many ints: of the looker's own */
	struct ucred	 from;	/* who sent it; pid -1: not told */
};

struct queue {			/* in memory shared with the looker */
	int	 done;		/* 1: all is here; else errno, or 0 */
	bool	 more;		/* some packet has what cannot be had */
	uint64_t cost;		/* in bytes */
	size_t	 npacket;
	size_t	 nbyte;		/* of all packets */
	size_t	 n;		/* of data */
	uint8_t	 data[QUEUE_MOST];
};

struct order {			/* to the looker, with a socket */
	bool		 stream;
	int		 offset; /* SO_PEEK_OFF, to be set back */
	uint64_t	 most;	/* what it may cost */
};

/* peek.c */
void		 queue_look(int fd, const struct order *o, struct queue *q);

/* looker.c */
struct looker	*looker_begin(void);
int		 looker_ask(struct looker *k, int fd, const struct order *o);
const struct queue *looker_queue(const struct looker *k);

#endif
