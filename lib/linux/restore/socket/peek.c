/*
 * Read what waits in a UNIX socket with MSG_PEEK, which leaves it there. A
 * proxy does this, the socket peeker (proxy.h): while a thread of a target
 * reads from the socket into memory whose pages never arrive, it holds the lock
 * of the queue (iolock of net/unix/af_unix.c), and MSG_DONTWAIT waits for that
 * lock.
 *
 * A stream that holds nothing but bytes is read in one call. Otherwise packets
 * are read one after another at the offset SO_PEEK_OFF (socket(7)), which is
 * restored afterwards. Descriptors sent with a packet become descriptors of the
 * socket peeker, so that they can be recorded. The socket peeker, not this
 * process, closes them, when it ends: closing a file may wait for a file server
 * that we have stopped.
 *
 * To peek at a packet the kernel walks all packets before it
 * (__skb_try_recv_from_queue of net/core/datagram.c). A queue therefore costs
 * the square of its length, and a budget limits it.
 *
 * An empty packet that is not the first is shown only once: the kernel skips it
 * after anyone has peeked at it. At the end of a SOCK_SEQPACKET connection
 * each read returns 0 bytes, as for an empty packet. Empty packets just before
 * the end are taken for the end; a reader cannot tell them apart either.
 *
 * A stream is read in pieces. A piece ends with bytes that descriptors were
 * sent with and, if SO_PASSCRED is set, where the sender changes
 * (unix_stream_read_generic of net/unix/af_unix.c). Bytes sent before the
 * descriptors are in the same piece; rights_place() finds where they end.
 */
#include "sockets.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/sockios.h>

#include <poll.h>
#include <unistd.h>

enum {
	PASS = 64,	/* cost of skipping a packet, in bytes */
	RIGHTS = 253,	/* SCM_MAX_FD of linux/include/net/scm.h */
	PEEK = MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC
};

struct seen {			/* control messages of a packet */
	bool		 more;	/* some control messages are of other types, or
				   were truncated */
	struct ucred	 from;	/* sender's credentials; pid -1: unknown */
	size_t		 nright;
	int		 right[RIGHTS];
};

union control {			/* buffer for control messages; see cmsg(3) */
	char		 buf[CMSG_SPACE(RIGHTS * sizeof(int)) + 512];
	struct cmsghdr	 align;
};

/*
 * Return the control message of m that follows c, or NULL. This replaces
 * CMSG_NXTHDR of cmsg(3), which in some C libraries compares signed with
 * unsigned.
 */
static struct cmsghdr *
control_next(const struct msghdr *m, struct cmsghdr *c)
{
	const char *end = (const char *)m->msg_control + m->msg_controllen;
	char *next = (char *)c + CMSG_ALIGN((size_t)c->cmsg_len);

	return next > end || (size_t)(end - next) < sizeof *c ? NULL :
	    (struct cmsghdr *)(void *)next;
}

static void
control_read(struct msghdr *m, struct seen *s)
{
	struct cmsghdr *c;
	size_t len;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = control_next(m, c)) {
		len = c->cmsg_len - CMSG_LEN(0);
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type ==
		    SCM_RIGHTS && len <= sizeof s->right && s->nright == 0) {
			s->nright = len / sizeof *s->right;
			memcpy(s->right, CMSG_DATA(c), len);
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type ==
		    SCM_CREDENTIALS && len == sizeof s->from)
			memcpy(&s->from, CMSG_DATA(c), len);
		else
			s->more = true;
	}
	s->more |= (m->msg_flags & MSG_CTRUNC) != 0;
}

/*
 * Peek at the next packet of socket fd, at the socket's offset. Store at most
 * len of its bytes in buf. flags are additional flags of recvmsg(2). Set *s to
 * those control messages of the packet that fit into room bytes. Return the
 * length of the packet, or -1 with errno set. With MSG_TRUNC the length may
 * exceed len.
 */
static ssize_t
packet_peek(int fd, void *buf, size_t len, int flags, size_t room,
    struct seen *s)
{
	union control control;
	struct iovec v = { buf, len };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
	    .msg_control = control.buf,
	    .msg_controllen = (socklen_t)room };
	ssize_t n;

	s->more = false;
	s->nright = 0;
	s->from = (struct ucred){ .pid = -1 };
	if ((n = recvmsg(fd, &m, PEEK | flags)) != -1)
		control_read(&m, s);
	return n;
}

/*
 * Return the maximum length in bytes of a packet that, with its control
 * messages, still fits into q.
 */
static size_t
queue_room(const struct queue *q)
{
	const size_t beside = 2 * sizeof(struct packet) + RIGHTS * sizeof(int);

	return MAX_QUEUE - q->n < beside ? 0 : MAX_QUEUE - q->n - beside;
}

/*
 * Return the address in q for the bytes of the next packet.
 */
static uint8_t *
queue_next(struct queue *q)
{
	return q->data + q->n + sizeof(struct packet);
}

/*
 * Append to q a packet with control messages s. Its len bytes are already
 * stored at queue_next(q).
 */
static void
packet_add(struct queue *q, size_t len, const struct seen *s)
{
	const struct packet p = { .len = len, .nright = s->nright,
	    .from = s->from };
	const size_t rights = s->nright * sizeof *s->right;

	memcpy(q->data + q->n, &p, sizeof p);
	q->n += sizeof p + len;
	memcpy(q->data + q->n, s->right, rights);
	q->n += rights;
	q->npacket++;
	q->nbyte += len;
	q->more |= s->more;
}

/*
 * Return true if a read of 0 bytes from fd means the end, and not an empty
 * packet. This is so if fd is a SOCK_SEQPACKET socket whose peer has closed or
 * shut down, and q already has all bytes that wait in the socket.
 */
static bool
packets_ended(int fd, const struct queue *q)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	int type, len;

	return sock_get(fd, SOL_SOCKET, SO_TYPE, &type, sizeof type) != -1 &&
	    type == SOCK_SEQPACKET &&
	    poll(&p, 1, 0) == 1 && p.revents & POLLRDHUP &&
	    (ioctl(fd, SIOCINQ, &len) == -1 || (size_t)len <= q->nbyte);
}

/*
 * Read the packets of socket fd into q, one after another. Return 1 if all were
 * read, otherwise an errno, which is EMSGSIZE if q is full or the cost exceeds
 * max.
 */
static int
packets_look(int fd, struct queue *q, uint64_t max)
{
	struct seen s;
	size_t room;
	ssize_t n;

	for (;;) {
		q->cost += q->npacket * PASS;
		room = queue_room(q);
		if (room == 0 || q->cost > max)
			return EMSGSIZE;
		n = packet_peek(fd, queue_next(q), room, MSG_TRUNC,
		    sizeof(union control), &s);
		if (n == -1)
			return errno == EAGAIN ? 1 : errno;
		if (n == 0 && s.nright == 0 && packets_ended(fd, q))
			return 1;
		q->cost += (uint64_t)n;
		if ((size_t)n > room || q->cost > max)
			return EMSGSIZE;
		packet_add(q, (size_t)n, &s);
	}
}

static int
offset_set(int fd, int at)
{
	return setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &at, sizeof at);
}

/*
 * If the first packet of socket fd is empty, add it to q. This is done with
 * SO_PEEK_OFF turned off, because a peek at offset 0 skips an empty packet that
 * anyone has already peeked at. Return 0 if there may be more to read, 1 if
 * nothing is waiting, or an errno.
 */
static int
packets_first(int fd, struct queue *q)
{
	struct seen s;
	ssize_t n;

	if (offset_set(fd, -1) == -1)
		return errno;
	n = packet_peek(fd, NULL, 0, MSG_TRUNC, 0, &s);
	if (n == 0)
		n = packet_peek(fd, NULL, 0, MSG_TRUNC, sizeof(union control),
		    &s);
	if (n == -1)
		return errno == EAGAIN ? 1 : errno;
	if (n == 0 && (s.nright > 0 || !packets_ended(fd, q)))
		packet_add(q, 0, &s);
	return 0;
}

/*
 * The n bytes at offset off of stream fd end with bytes that were sent with
 * descriptors. Return how many of the n bytes precede these, or 0 on failure.
 * To find out, peek into a buffer of n - 1 bytes that ends at an inaccessible
 * page. The kernel copies each sent buffer whole or not at all, so only the
 * earlier buffers are copied.
 */
static size_t
rights_place(int fd, size_t off, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t room = (n + page - 1) / page * page;
	struct seen s;
	uint8_t *p;
	ssize_t before;

	p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	before = -1;
	if (mprotect(p + room, page, PROT_NONE) == 0 &&
	    offset_set(fd, (int)off) == 0)
		before = packet_peek(fd, p + room - (n - 1), n, 0, 0, &s);
	munmap(p, room + page);
	return before < 0 ? 0 : (size_t)before;
}

/*
 * Append to q the n bytes at offset off of stream fd, which are already stored
 * at queue_next(q). They become one packet, or two if some of them were sent
 * before the descriptors in s.
 */
static void
piece_add(int fd, struct queue *q, size_t off, size_t n, const struct seen *s)
{
	const struct seen none = { .from = s->from };
	uint8_t *from = queue_next(q);
	size_t before;

	before = s->nright == 0 || s->more ? 0 : rights_place(fd, off, n);
	if (before > 0) {
		packet_add(q, before, &none);
		memmove(queue_next(q), from + before, n - before);
	}
	packet_add(q, n - before, s);
}

static int
stream_look(int fd, struct queue *q, uint64_t most)
{
	struct seen s;
	size_t at, room;
	ssize_t n;

	for (at = 0;; at += (size_t)n) {
		room = queue_room(q);
		if (offset_set(fd, (int)at) == -1)
			return errno;
		n = packet_peek(fd, queue_next(q), room, 0,
		    sizeof(union control), &s);
		if (n == -1)
			return errno == EAGAIN ? 1 : errno;
		q->cost += (uint64_t)n + PASS;
		if ((size_t)n == room || q->cost > most)
			return EMSGSIZE;
		if (n == 0)
			return 1;
		piece_add(fd, q, at, (size_t)n, &s);
	}
}

/*
 * Read all of stream fd into q with one call. Return 1 if all was read, or an
 * errno; it is EFBIG if the number of waiting bytes exceeds the limit most or
 * the room in q. Return 0 if the stream has control messages, and so must be
 * read in pieces.
 */
static int
stream_whole(int fd, struct queue *q, uint64_t most)
{
	struct seen s;
	ssize_t n;
	int len;

	if (ioctl(fd, SIOCINQ, &len) == -1)
		return errno;
	if (len == 0)
		return 1;
	if ((size_t)len > queue_room(q) || (uint64_t)len > most) {
		q->nbyte = (size_t)len;
		return EFBIG;
	}
	q->cost = (uint64_t)len;
	n = packet_peek(fd, queue_next(q), (size_t)len, 0, 0, &s);
	if (n == -1)
		return errno;
	if (n != len || s.more)
		return 0;
	packet_add(q, (size_t)n, &s);
	return 1;
}

/*
 * Read what is waiting in socket fd into q. o says whether fd is a stream, and
 * how much reading may cost at most. Restore SO_PEEK_OFF to offset afterwards.
 * Return 1 if all was read, otherwise an errno.
 */
static int
queue_look(int fd, const struct peek_request *o, int offset, struct queue *q)
{
	int done;

	done = o->stream ? stream_whole(fd, q, o->most) : packets_first(fd, q);
	if (done == 0 && o->stream)
		done = stream_look(fd, q, o->most);
	else if (done == 0)
		done = offset_set(fd, 0) == -1 ? errno :
		    packets_look(fd, q, o->most);
	(void)offset_set(fd, offset);
	return done;
}

/*
 * In the socket peeker, a proxy, read what is waiting in a UNIX socket. The
 * answer is a struct queue without the unused end of its data. Return 0, or -1
 * with errstr set.
 */
int
queue_serve(struct serving *s)
{
	static struct queue *q;
	struct peek_request o;
	int offset;

	memcpy(&o, s->arg, sizeof o);
	if (q == NULL)
		q = mmap(NULL, sizeof *q, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (q == MAP_FAILED)
		return errstr_sys("memory for waiting packets");
	memset(q, 0, offsetof(struct queue, data));
	if (sock_get(s->fd, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) ==
	    -1)
		return errstr_sys("SO_PEEK_OFF");
	if (o.stream && offset >= 0)
		return errstr_set("SO_PEEK_OFF is set");
	q->done = queue_look(s->fd, &o, offset, q);
	serve_put(s, q, offsetof(struct queue, data) + q->n);
	return 0;
}
