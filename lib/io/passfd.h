/*
 * Messages between processes of ours that carry a descriptor: passfd.c.
 */
#ifndef PASSFD_H
#define PASSFD_H

#include <sys/types.h>
#include <sys/uio.h>

ssize_t		 passfd_send(int, const struct iovec *, size_t, int);
ssize_t		 passfd_receive(int, const struct iovec *, size_t, int *);

#endif
