/*
 * What waits at a UNIX socket, looked at with MSG_PEEK, which leaves it there.
 * A proxy does that, the looker (proxy.h): while a thread of a target reads
 * from the socket into memory that nobody serves, it has the lock of the queue
 * (iolock of net/unix/af_unix.c), which MSG_DONTWAIT waits for.
 *
 * Of a stream one look shows all, if it is nothing but bytes.  Else one packet
 * after another is looked at, from the offset that is set with SO_PEEK_OFF
 * (socket(7)) and set back afterwards, whatever happens to us.  Descriptors
 * that are with a packet become the looker's own, so that they can be told of,
 * and stay so until it ends.  It closes them, not we: to close a file may be to
 * wait for who serves it, and is stopped by us.
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
 * A stream is looked at in pieces.  One ends with the bytes that descriptors
 * were sent with, and where SO_PASSCRED is set with those of a sender
 * (unix_stream_read_generic of net/unix/af_unix.c); but bytes that were sent
 * before the descriptors are in the same piece, and are told from those here.
 */
#include "sockets.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/sockios.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
	PASS = 64,	/* passing over a packet costs as much as these bytes */
	RIGHTS = 253,	/* SCM_MAX_FD of linux/include/net/scm.h */
	PEEK = MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC
};

struct seen {			/* what is with a packet */
	bool		 more;	/* and cannot be had */
	struct ucred	 from;	/* pid -1: not told */
	size_t		 nright;
	int		 right[RIGHTS];
};

union control {			/* room for it: cmsg(3) */
	char		 buf[CMSG_SPACE(RIGHTS * sizeof(int)) + 512];
	struct cmsghdr	 align;
};

/*
 * Return the control message behind c, or NULL: CMSG_NXTHDR of cmsg(3), which
 * mixes signs with some C libraries.
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
 * Look at what comes first, from where the socket looks: its length, which
 * may be more than len; -1 with errno.  What is with it is put to *s, as far
 * as room bytes for control messages take it.
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
 * Return how many bytes a packet can have for which there is room, and for
 * what may be with it.
 */
static size_t
queue_room(const struct queue *q)
{
	const size_t beside = 2 * sizeof(struct packet) + RIGHTS * sizeof(int);

	return MAX_QUEUE - q->n < beside ? 0 : MAX_QUEUE - q->n - beside;
}

/*
 * Return where the bytes of the next packet are to be.
 */
static uint8_t *
queue_next(struct queue *q)
{
	return q->data + q->n + sizeof(struct packet);
}

/*
 * Add a packet of len bytes, which are where they are to be.
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
 * Return true if the other end of a connection has been closed or shut down,
 * and nothing is left of what it sent but what was seen: then one is told so
 * by 0 bytes.
 */
static bool
packets_ended(int fd, const struct queue *q)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	int type, len;

	if (sock_get(fd, SOL_SOCKET, SO_TYPE, &type, sizeof type) == -1 ||
	    type != SOCK_SEQPACKET)
		return false;
	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLRDHUP))
		return false;
	return ioctl(fd, SIOCINQ, &len) == -1 || (size_t)len <= q->nbyte;
}

/*
 * Look at one packet after another.  Return as struct queue has it.
 */
static int
packets_look(int fd, struct queue *q, uint64_t most)
{
	struct seen s;
	size_t room;
	ssize_t n;

	for (;;) {
		q->cost += q->npacket * PASS;
		room = queue_room(q);
		if (room == 0 || q->cost > most)
			return EMSGSIZE;
		n = packet_peek(fd, queue_next(q), room, MSG_TRUNC,
		    sizeof(union control), &s);
		if (n == -1)
			return errno == EAGAIN ? 1 : errno;
		if (n == 0 && s.nright == 0 && packets_ended(fd, q))
			return 1;
		q->cost += (uint64_t)n;
		if ((size_t)n > room || q->cost > most)
			return EMSGSIZE;
		packet_add(q, (size_t)n, &s);
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
	struct seen s;
	ssize_t n;

	if (setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &none, sizeof none) == -1)
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

static int
offset_set(int fd, size_t at)
{
	const int offset = (int)at;

	return setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset);
}

/*
 * Of n bytes of a stream, from byte at on, with whose end there are
 * descriptors: return how many were sent before these.  The kernel copies
 * what was sent at once whole, or not at all: there is room for one byte less,
 * and a page that nobody may write behind that.
 */
static size_t
rights_place(int fd, size_t at, size_t n)
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
	    offset_set(fd, at) == 0)
		before = packet_peek(fd, p + room - (n - 1), n, 0, 0, &s);
	munmap(p, room + page);
	return before < 0 ? 0 : (size_t)before;
}

/*
 * Add a piece of a stream, n bytes from byte at on, which are where they are
 * to be.
 */
static void
piece_add(int fd, struct queue *q, size_t at, size_t n, const struct seen *s)
{
	const struct seen none = { .from = s->from };
	uint8_t *from = queue_next(q);
	size_t before;

	before = s->nright == 0 || s->more ? 0 : rights_place(fd, at, n);
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
		if (offset_set(fd, at) == -1)
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
 * Look at a stream as a whole.  Return as struct queue has it; 0, if there is
 * more to it than bytes.
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
 * Look at a socket, and set back its offset.  Return as struct queue has it.
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
	(void)setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset);
	return done;
}

/*
 * Look at a socket for the looker: the answer is a struct queue, as far as it
 * has data.
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
		return errstr_sys("a process that looks at packets");
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
