/*
 * Sockets of processes, and what waits in them.
 */
#ifndef SOCKET_H
#define SOCKET_H

#include "linux/restore/filerec/filerec.h"

/* socket.c */
bool		 sockets_tagged(const struct lproc *, const struct fdset *);
void		 socket_record(struct filerec *);
void		 sockets_free(struct files *);

/*
 * How much is looked at of what waits in one pipe or socket, and in all of a
 * snapshot, in bytes: all are stopped meanwhile.  It takes some 10 ms, and
 * 100.
 */
enum {
	MAX_QUEUE = 32 * 1024 * 1024,
	MAX_QUEUES = 8 * MAX_QUEUE
};

/* unixqueue.c */
int		 queue_spend(uint64_t *, uint64_t);

/* passed.c: descriptors that wait in sockets */
bool		 passed_next(struct filerec *, struct fdref *);
void		 passed_close(struct live *l);

/* tcphold.c: connections that go along with processes that are moved */
void		 tcphold_begin(struct live *);
void		 tcphold_record(const struct files *, pid_t,
		    struct filelist *);
void		 tcphold_end(struct live *l, bool moved);

/* tcpunlock.c */
void		 tcpunlock_repair(void);

#endif
