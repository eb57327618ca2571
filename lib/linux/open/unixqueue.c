/*
 * What waits to be read at a UNIX socket, looked at with MSG_PEEK so that it
 * stays there.
 *
 * Of a stream one look shows all.  Of packets it shows the first; to see the
 * others one must set SO_PEEK_OFF (socket(7)), which is the socket's and not
 * ours.  That is done, only where there are packets, by a process of its own,
 * the looker, which goes through with it whatever happens to us and sets back
 * what it found.  It is begun for the first socket, is sent one after another,
 * and ends when we close the other end of its own.
 *
 * To look at a packet the kernel passes over all that come before it
 * (__skb_try_recv_from_queue of net/core/datagram.c), so that a queue takes
 * the square of its length, and a budget is kept.
 *
 * An empty packet that is not the first, and was looked at like this once, by
 * whomever, the kernel does not show again.  At the end of a SOCK_SEQPACKET
 * connection one reads 0 bytes forever, and 0 bytes is also what an empty
 * packet is: those before the end are no more than the end to who reads them.
 *
 * Where an error waits to be told by a socket, nothing looks at it: the first
 * call that does is the one that is told.
 */
#include "calls.h"
#include "io/io.h"
#include "opened.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <linux/sockios.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PASS = 64,	/* passing over a packet costs as much as these bytes */
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

/*
 * Take n bytes, those of a queue that is looked at as a whole, from the
 * budget.  Return 0, or -1 with errstr if they are too many.
 */
int
queue_spend(uint64_t *budget, uint64_t n)
{
	if (n > QUEUE_MOST || n > *budget)
		return errstr_set("%ju bytes are too many to be looked at",
		    (uintmax_t)n);
	*budget -= n;
	return 0;
}

static int
stream_read(int fd, uint64_t *budget, struct buf *b)
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
	if (queue_spend(budget, (uint64_t)len) == -1)
		return -1;
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
	uint64_t cost;		/* in bytes */
	size_t	 npacket;
	size_t	 n;		/* bytes of packets, a length before each */
	uint8_t	 data[QUEUE_MOST];
};

static void
packet_add(struct queue *q, size_t len)
{
	memcpy(q->data + q->n, &len, sizeof len);
	q->n += sizeof len + len;
	q->npacket++;
}

/*
 * Return true if the other end of a connection has been closed or shut down,
 * and nothing is left of what it sent but what was seen: then one is told so
 * by 0 bytes.
 */
static bool
packets_ended(int fd, const struct queue *q)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	size_t seen;
	int type, len;
	socklen_t size;

	size = sizeof type;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == -1 ||
	    type != SOCK_SEQPACKET)
		return false;
	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLRDHUP))
		return false;
	seen = q->n - q->npacket * sizeof(uint64_t);
	return ioctl(fd, SIOCINQ, &len) == -1 || (size_t)len <= seen;
}

/*
 * In the process of its own: look at one packet after another.
 */
static int
packets_look(int fd, struct queue *q, uint64_t most)
{
	size_t room;
	ssize_t n;
	bool more;

	for (;;) {
		q->cost += q->npacket * PASS;
		if (QUEUE_MOST - q->n < sizeof(uint64_t) || q->cost > most)
			return EMSGSIZE;
		room = QUEUE_MOST - q->n - sizeof(uint64_t);
		n = packet_peek(fd, q->data + q->n + sizeof(uint64_t), room,
		    MSG_TRUNC, &more);
		if (n == -1)
			return errno == EAGAIN ? 1 : errno;
		if (n == 0 && packets_ended(fd, q))
			return 1;
		q->more |= more;
		q->cost += (uint64_t)n;
		if ((size_t)n > room || q->cost > most)
			return EMSGSIZE;
		packet_add(q, (size_t)n);
	}
}

/*
 * The first packet, if it is empty: who looks from offset 0 does not see it
 * when it was looked at before.
 */
static int
packets_first(int fd, struct queue *q)
{
	const int none = -1;
	ssize_t n;
	bool more;

	if (setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &none, sizeof none) == -1)
		return errno;
	n = packet_peek(fd, NULL, 0, MSG_TRUNC, &more);
	if (n == -1)
		return errno == EAGAIN ? 1 : errno;
	if (n == 0 && !packets_ended(fd, q)) {
		q->more = more;
		packet_add(q, 0);
	}
	return 0;
}

struct order {			/* to the looker, with a socket */
	int		 offset; /* SO_PEEK_OFF, to be set back */
	uint64_t	 most;	/* what it may cost */
};

struct looker {			/* on our side */
	pid_t		 pid;
	int		 fd;	/* owned */
	struct queue	*q;	/* owned */
};

/*
 * Look at a socket, and set back its offset.
 */
static void
packets_all(int fd, struct queue *q, const struct order *o)
{
	const int zero = 0;
	int done;

	if ((done = packets_first(fd, q)) == 0)
		done = setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &zero,
		    sizeof zero) == -1 ? errno : packets_look(fd, q, o->most);
	(void)setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &o->offset,
	    sizeof o->offset);
	q->done = done;
}

/*
 * The life of the looker, which has no descriptor but the one through which it
 * hears; signals do not reach it.
 */
static void __attribute__((noreturn))
looker_main(const int sock[2], struct queue *q)
{
	struct order o;
	const struct iovec v = { &o, sizeof o };
	int fd;

	(void)setpgid(0, 0);
	/* it ends when nobody has that one, which Linux before 5.9 leaves */
	close(sock[0]);
	(void)dup2(sock[1], 0);
	(void)call_closefrom(1);
	while (passfd_receive(0, &v, 1, &fd) == sizeof o) {
		packets_all(fd, q, &o);
		close(fd);
		if (send(0, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

/*
 * Start the looker.  Return NULL with errstr if that fails.
 */
static struct looker *
looker_begin(void)
{
	struct looker *k;
	sigset_t all, old;
	int sock[2];

	if ((k = calloc(1, sizeof *k)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	k->q = mmap(NULL, sizeof *k->q, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k->q == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET |
	    SOCK_CLOEXEC, 0, sock) == -1) {
		errstr_sys("a process that looks at packets");
		goto fail;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((k->pid = fork()) == 0)
		looker_main(sock, k->q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(sock[1]);
	k->fd = sock[0];
	if (k->pid != -1)
		return k;
	errstr_sys("fork");
	close(k->fd);
fail:
	if (k->q != MAP_FAILED)
		munmap(k->q, sizeof *k->q);
	free(k);
	return NULL;
}

/*
 * End the looker; there may be none.
 */
void
looker_end(struct looker *k)
{
	if (k == NULL)
		return;
	close(k->fd);
	while (waitpid(k->pid, NULL, 0) == -1 && errno == EINTR)
		continue;
	munmap(k->q, sizeof *k->q);
	free(k);
}

/*
 * Have the looker look at a socket.
 */
static int
looker_ask(struct looker *k, int fd, struct order *o)
{
	const struct iovec v = { o, sizeof *o };
	struct queue *q = k->q;
	ssize_t n;
	char c;

	memset(q, 0, offsetof(struct queue, data));
	if (passfd_send(k->fd, &v, 1, fd) == -1)
		return errstr_sys("a process that looks at packets");
	do
		n = recv(k->fd, &c, 1, 0);
	while (n == -1 && errno == EINTR);
	if (n == 1 && q->done == 1)
		return 0;
	if (n == 1 && q->done == EMSGSIZE)
		return errstr_set("more than %zu packets, %zu bytes",
		    q->npacket, q->n - q->npacket * sizeof(size_t));
	errno = n != 1 || q->done == 0 ? EIO : q->done;
	return errstr_sys("SO_PEEK_OFF");
}

static int
packets_read(int fd, struct files *f, struct buf *b)
{
	struct order o = { 0 };
	struct queue *q;
	socklen_t size;
	size_t at, len;
	int rc;

	size = sizeof o.offset;
	if (getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &o.offset, &size) == -1)
		return errstr_sys("SO_PEEK_OFF");
	if (f->looker == NULL && (f->looker = looker_begin()) == NULL)
		return -1;
	o.most = f->budget < QUEUE_MOST ? f->budget : QUEUE_MOST;
	rc = looker_ask(f->looker, fd, &o);
	q = f->looker->q;
	f->budget -= q->cost < f->budget ? q->cost : f->budget;
	if (rc == 0 && q->more)
		rc = carries_more();
	for (at = 0; rc == 0 && at < q->n; at += len) {
		memcpy(&len, q->data + at, sizeof len);
		at += sizeof len;
		buf_printf(b, "%zu\n", len);
		buf_add(b, q->data + at, len);
	}
	return rc;
}

/*
 * What waits at a UNIX socket of a type: for each packet, or for all of a
 * stream, a line with the number of bytes, and the bytes.  fd is a duplicate
 * of the socket.  The budget of f, of bytes that may be looked at in all
 * queues, becomes less by what this one costs.
 */
int
unixqueue_read(struct files *f, int fd, unsigned int type, struct buf *b)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };
	socklen_t size;
	int offset;

	if (poll(&p, 1, 0) == -1)
		return errstr_sys("poll");
	if (p.revents & POLLERR)
		return errstr_set("an error comes first, which is told but "
		    "once");
	if (!(p.revents & POLLIN))
		return 0;
	if (type != SOCK_STREAM)
		return packets_read(fd, f, b);
	size = sizeof offset;
	if (getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, &size) == 0 &&
	    offset >= 0)
		return errstr_set("SO_PEEK_OFF is set");
	return stream_read(fd, &f->budget, b);
}
