/*
 * Messages that carry at most one file descriptor: SCM_RIGHTS of unix(7).
 */
#include "io.h"

#include <sys/socket.h>

union room {			/* space for one descriptor: see cmsg(3) */
	char		 buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr	 align;
};

/*
 * Send the n parts at v as one message through socket sock. Pass descriptor fd
 * with it, unless fd is -1. This never raises SIGPIPE. Return the result of
 * sendmsg(2).
 */
ssize_t
passfd_send(int sock, const struct iovec *v, unsigned short n, int fd)
{
	union room room = { .buf = { 0 } };
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)v,
	    .msg_iovlen = n };
	struct cmsghdr *c;

	if (fd != -1) {
		m.msg_control = room.buf;
		m.msg_controllen = sizeof room.buf;
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL);
}

/*
 * Receive one message from socket sock into the n parts at v. Set *fd to the
 * descriptor in the message, or to -1 if there is none. The caller owns the
 * descriptor, which is close-on-exec. Return the result of recvmsg(2), which is
 * repeated if a signal interrupts it.
 */
ssize_t
passfd_receive(int sock, const struct iovec *v, unsigned short n, int *fd)
{
	union room room;
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)v,
	    .msg_iovlen = n, .msg_control = room.buf,
	    .msg_controllen = sizeof room.buf };
	struct cmsghdr *c;
	ssize_t got;

	*fd = -1;
	do
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (got == -1 && errno == EINTR);
	if (got != -1 && (c = CMSG_FIRSTHDR(&m)) != NULL &&
	    c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return got;
}
