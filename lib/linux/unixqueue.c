/*
 * What waits to be read at a UNIX socket, looked at with MSG_PEEK so that it
 * stays there.
 *
 * Of a stream one look shows all.  Of packets it shows the first; to see the
 * others one must set SO_PEEK_OFF (socket(7)), which is the socket's and not
 * ours.  That is done, only where there are packets, by a process of its own,
 * which goes through with it whatever happens to us and sets back what it
 * found.  An empty packet that was looked at like this once, by whomever, the
 * kernel does not show again.
 */
#include "openfile.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <linux/sockios.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	QUEUE_MOST = 16 * 1024 * 1024,	/* bytes of packets */
	PEEK = MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL
};

/*
 * Look at what comes first, from where the socket looks: its length, which
 * may be more than len; -1 with errno.  *more tells that it has descriptors
 * or credentials with it, none of which come to us.
 */
static ssize_t
packet_peek(int fd, void *buf, size_t len, int flags, bool *more)
{
	struct iovec v = { buf, len };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t n;

	n = recvmsg(fd, &m, PEEK | flags);
	*more = n != -1 && m.msg_flags & MSG_CTRUNC;
	return n;
}

static int
carries_more(void)
{
	return errstr_set("descriptors or credentials are with it");
}

static int
stream_read(int fd, struct buf *b)
{
	uint8_t *to;
	size_t start;
	ssize_t n;
	bool more;
	int len;

	if (ioctl(fd, SIOCINQ, &len) == -1)
		return errstr_sys("SIOCINQ");
	if (len == 0)
		return 0;
	start = b->len;
	buf_printf(b, "%d\n", len);
	if ((to = buf_room(b, (size_t)len)) == NULL)
		return -1;
	n = packet_peek(fd, to, (size_t)len, 0, &more);
	if (n == len && !more) {
		b->len += (size_t)len;
		return 0;
	}
	b->len = start;
	return n == -1 ? errstr_sys("recv") : more ? carries_more() :
	    errstr_set("%zd of %d bytes", n, len);
}

struct queue {			/* in memory shared with the looker */
	int	 done;		/* 1: all is here; else errno, or 0 */
	bool	 more;
	size_t	 n;		/* bytes of packets, a length before each */
	uint8_t	 data[QUEUE_MOST];
};

/*
 * In the process of its own: look at one packet after another.
 */
static int
packets_look(int fd, struct queue *q)
{
	uint64_t len;
	ssize_t n;
	bool more;

	for (;;) {
		if (QUEUE_MOST - q->n < sizeof len)
			return EMSGSIZE;
		n = packet_peek(fd, q->data + q->n + sizeof len,
		    QUEUE_MOST - q->n - sizeof len, MSG_TRUNC, &more);
		if (n == -1)
			return errno == EAGAIN ? 1 : errno;
		q->more |= more;
		len = (uint64_t)n;
		if (len > QUEUE_MOST - q->n - sizeof len)
			return EMSGSIZE;
		memcpy(q->data + q->n, &len, sizeof len);
		q->n += sizeof len + len;
	}
}

static void
looker(int fd, struct queue *q, int offset)
{
	const int zero = 0;
	int done;

	(void)setsid();
	if (setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &zero,
	    sizeof zero) == -1)
		done = errno;
	else {
		done = packets_look(fd, q);
		(void)setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset,
		    sizeof offset);
	}
	q->done = done;
	_exit(0);
}

/*
 * Have a process look; signals do not reach it.
 */
static int
looker_run(int fd, struct queue *q, int offset)
{
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((pid = fork()) == 0)
		looker(fd, q, offset);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid == -1)
		return errstr_sys("fork");
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		continue;
	if (q->done == 1)
		return 0;
	errno = q->done == 0 ? EIO : q->done;
	return errstr_sys("SO_PEEK_OFF");
}

static int
packets_read(int fd, struct buf *b)
{
	struct queue *q;
	socklen_t size;
	uint64_t len;
	size_t at;
	bool more;
	int offset, rc;

	if (packet_peek(fd, NULL, 0, MSG_TRUNC, &more) == -1)
		return errno == EAGAIN ? 0 : errstr_sys("recv");
	size = sizeof offset;
	if (getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, &size) == -1)
		return errstr_sys("SO_PEEK_OFF");
	q = mmap(NULL, sizeof *q, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (q == MAP_FAILED)
		return errstr_sys("mmap");
	rc = looker_run(fd, q, offset);
	if (rc == 0 && q->more)
		rc = carries_more();
	for (at = 0; rc == 0 && at < q->n; at += len) {
		memcpy(&len, q->data + at, sizeof len);
		at += sizeof len;
		buf_printf(b, "%ju\n", (uintmax_t)len);
		buf_add(b, q->data + at, len);
	}
	munmap(q, sizeof *q);
	return rc;
}

/*
 * What waits at a UNIX socket of a type: for each packet, or for all of a
 * stream, a line with the number of bytes, and the bytes.  fd is a duplicate
 * of the socket.
 */
int
unixqueue_read(int fd, unsigned int type, struct buf *b)
{
	socklen_t size;
	int offset;

	size = sizeof offset;
	if (type != SOCK_STREAM)
		return packets_read(fd, b);
	if (getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, &size) == 0 &&
	    offset >= 0)
		return errstr_set("SO_PEEK_OFF is set");
	return stream_read(fd, b);
}
