/*
 * Record sockets and the data that waits in them.
 */
#ifndef SOCKET_H
#define SOCKET_H

#include "linux/restore/filerec/filerec.h"

/* socket.c */
bool		 sockets_tagged(const struct lproc *, const struct fdset *);
void		 socket_record(struct filerec *);
void		 sockets_free(struct files *);

/*
 * Limits on the bytes read that wait in one pipe or socket, and in all of a
 * snapshot. Processes are stopped while they are read, which takes about 10 ms
 * and 100 ms.
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

/* tcphold.c: TCP connections that move with their processes */
void		 tcphold_begin(struct live *);
void		 tcphold_record(const struct files *, pid_t,
		    struct filelist *);
bool		 tcphold_end(struct live *l, bool moved);
void		 tcphold_wait(const struct live *l);

/* tcpunlock.c */
int		 tcpunlock_leave(bool leave);
int		 tcpunlock_repair(void);

#endif
