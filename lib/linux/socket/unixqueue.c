/*
 * What waits to be read at a UNIX socket, looked at with MSG_PEEK so that it
 * stays there.
 *
 * Of a stream one look shows all, if it is nothing but bytes.  Packets, and
 * what is sent with bytes, are seen by a process of its own, the looker.
 *
 * Where an error waits to be told by a socket, nothing looks at it: the first
 * call that does is the one that is told.
 */
#include "io/io.h"
#include "looker.h"

#include <sys/ioctl.h>

#include <linux/sockios.h>

#include <poll.h>
#include <string.h>

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

/*
 * Tell a packet, the nth of a queue, with its bytes at data and its descriptors
 * behind them.  *from is who sent the one before.
 */
static int
packet_tell(struct telling *t, size_t nth, const struct packet *p,
    const uint8_t *data, struct ucred *from, struct buf *b)
{
	uint64_t id;
	size_t i;
	int fd;

	buf_printf(b, "%ju\n", (uintmax_t)p->len);
	buf_add(b, data, (size_t)p->len);
	if (memcmp(&p->from, from, sizeof *from) != 0) {
		*from = p->from;
		buf_printf(&t->out, "sender %zu %u %u %d\n", nth, from->uid,
		    from->gid, from->pid);
	}
	for (i = 0; i < p->nright; i++) {
		memcpy(&fd, data + p->len + i * sizeof fd, sizeof fd);
		if (passed_add(t, fd, &id) == -1)
			return -1;
		buf_printf(&t->out, "passed %zu %ju\n", nth, (uintmax_t)id);
	}
	return 0;
}

/*
 * Tell what the looker saw.
 */
static int
queue_tell(struct telling *t, const struct queue *q, struct buf *b)
{
	struct ucred from = { .pid = -1 };
	struct packet p;
	size_t at, i;
	int rc;

	if (q->more)
		return errstr_set("more is with it than bytes, descriptors "
		    "and credentials, or more than can be had");
	for (rc = 0, at = 0, i = 0; rc == 0 && at < q->n; i++) {
		memcpy(&p, q->data + at, sizeof p);
		at += sizeof p;
		rc = packet_tell(t, i, &p, q->data + at, &from, b);
		at += (size_t)(p.len + p.nright * sizeof(int));
	}
	return rc;
}

/*
 * Have the looker look at a socket, and tell what it saw.
 */
static int
queue_read(struct telling *t, bool stream, int offset, struct buf *b)
{
	struct files *f = t->live->files;
	struct order o = { .stream = stream, .offset = offset };
	const struct queue *q;
	int rc;

	if (f->looker == NULL && (f->looker = looker_begin()) == NULL)
		return -1;
	o.most = f->budget < QUEUE_MOST ? f->budget : QUEUE_MOST;
	rc = looker_ask(f->looker, t->dup, &o);
	q = looker_queue(f->looker);
	f->budget -= q->cost < f->budget ? q->cost : f->budget;
	return rc == -1 ? -1 : queue_tell(t, q, b);
}

/*
 * Look at a stream as a whole.  Return 1; 0, if there is more to it than bytes;
 * or -1 with errstr.
 */
static int
stream_read(struct telling *t, struct buf *b)
{
	struct iovec v;
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	size_t start;
	ssize_t n;
	int len;

	if (ioctl(t->dup, SIOCINQ, &len) == -1)
		return errstr_sys("SIOCINQ");
	if (len == 0)
		return 1;
	if (queue_spend(&t->live->files->budget, (uint64_t)len) == -1)
		return -1;
	start = b->len;
	buf_printf(b, "%d\n", len);
	v.iov_len = (size_t)len;
	if ((v.iov_base = buf_room(b, v.iov_len)) == NULL)
		return -1;
	n = recvmsg(t->dup, &m, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n == len && !(m.msg_flags & MSG_CTRUNC)) {
		b->len += v.iov_len;
		return 1;
	}
	b->len = start;
	return n == -1 ? errstr_sys("recv") : m.msg_flags & MSG_CTRUNC ? 0 :
	    errstr_set("%zd of %d bytes", n, len);
}

/*
 * Read what waits at t, a UNIX socket of that type, of which there is a
 * duplicate: for each packet, or for all of a stream, or a piece of it, add a
 * line with the number of bytes, and the bytes, to b; and what is with these,
 * to the lines of the file.  The budget of bytes that may be looked at in all
 * queues becomes less by what this one costs.  Return 0, or -1 with errstr.
 */
int
unixqueue_read(struct telling *t, unsigned int type, struct buf *b)
{
	struct pollfd p = { .fd = t->dup, .events = POLLIN | POLLRDHUP };
	socklen_t size;
	int offset, rc;

	if (poll(&p, 1, 0) == -1)
		return errstr_sys("poll");
	if (p.revents & POLLERR)
		return errstr_set("an error comes first, which is told but "
		    "once");
	if (!(p.revents & POLLIN))
		return 0;
	size = sizeof offset;
	if (getsockopt(t->dup, SOL_SOCKET, SO_PEEK_OFF, &offset, &size) == -1)
		return errstr_sys("SO_PEEK_OFF");
	if (type != SOCK_STREAM)
		return queue_read(t, false, offset, b);
	if (offset >= 0)
		return errstr_set("SO_PEEK_OFF is set");
	rc = stream_read(t, b);
	return rc == 0 ? queue_read(t, true, offset, b) : rc == 1 ? 0 : -1;
}
