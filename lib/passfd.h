/*
 * Messages on a socket that carry a file descriptor: io/passfd.c
 */
#ifndef PASSFD_H
#define PASSFD_H

#include <sys/uio.h>

ssize_t		 passfd_send(int sock, const struct iovec *v, unsigned short n,
		    int fd);
ssize_t		 passfd_receive(int sock, const struct iovec *v,
		    unsigned short n, int *fd);

#endif
