/*
 * Record the data that waits in a UNIX socket. The socket peeker (peek.c)
 * reads it and leaves it there. Whether anything waits is found out by
 * poll(2), which takes no lock.
 *
 * A socket with a pending error is not read: the error is returned to the first
 * call, and the process should get it.
 */
#include "sockets.h"

#include <poll.h>

/*
 * Subtract n, the length of a queue that is read whole, from *budget. Return 0,
 * or -1 with errstr set if n is more than *budget or MAX_QUEUE.
 */
int
queue_spend(uint64_t *budget, uint64_t n)
{
	if (n > MAX_QUEUE || n > *budget)
		return errstr_set("too many bytes are waiting: %ju",
		    (uintmax_t)n);
	*budget -= n;
	return 0;
}

/*
 * Append packet p to b; nth is its index in the queue. Append its sender and
 * descriptors to the record of t. data has the bytes of the packet, followed by
 * its descriptors. *sender is the sender of the previous packet; set it to the
 * sender of p.
 */
static int
packet_record(struct filerec *t, size_t nth, const struct packet *p,
    const uint8_t *data, struct ucred *sender, struct buf *b)
{
	uint64_t id;
	size_t i;
	int fd;

	buf_printf(b, "%ju\n", (uintmax_t)p->len);
	buf_add(b, data, (size_t)p->len);
	if (memcmp(&p->from, sender, sizeof *sender) != 0) {
		*sender = p->from;
		buf_printf(&t->out, "sender %zu %u %u %d\n", nth, sender->uid,
		    sender->gid, sender->pid);
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
 * Append the packets of q to b. Append their senders and descriptors to the
 * record of t.
 */
static int
queue_record(struct filerec *t, const struct queue *q, struct buf *b)
{
	struct ucred from = { .pid = -1 };
	struct packet p;
	size_t at, i;
	int rc;

	if (q->more)
		return errstr_set("a packet has control messages other than "
		    "descriptors and credentials, or was truncated");
	for (rc = 0, at = 0, i = 0; rc == 0 && at < q->n; i++) {
		memcpy(&p, q->data + at, sizeof p);
		at += sizeof p;
		rc = packet_record(t, i, &p, q->data + at, &from, b);
		at += (size_t)(p.len + p.nright * sizeof(int));
	}
	return rc;
}

/*
 * Set errstr to the reason why the socket peeker did not read all of queue q,
 * and return -1.
 */
static int
queue_failed(const struct queue *q)
{
	if (q->done == EFBIG)
		return errstr_set("too many bytes are waiting: %zu",
		    q->nbyte);
	if (q->done == EMSGSIZE)
		return errstr_set("limit reached after %zu packets with %zu "
		    "bytes",
		    q->npacket, q->nbyte);
	errno = q->done;
	return errstr_sys("recv");
}

/*
 * Read what is waiting in t, a UNIX socket of this type that is duplicated in
 * t->dup. For each packet, or piece of a stream, append to b a line with its
 * length, followed by its bytes. Append senders and descriptors to the record
 * of t. Subtract the cost from the budget for all queues. Return 0, or -1 with
 * errstr set.
 */
int
unixqueue_read(struct filerec *t, unsigned int type, struct buf *b)
{
	uint64_t *budget = &t->live->files->budget;
	const struct peek_request o = { .stream = type == SOCK_STREAM,
	    .most = *budget < MAX_QUEUE ? *budget : MAX_QUEUE };
	struct pollfd p = { .fd = t->dup, .events = POLLIN | POLLPRI |
	    POLLRDHUP };
	const struct queue *q;
	struct bytes answer;
	int rc;

	if (poll(&p, 1, 0) == -1)
		return errstr_sys("poll");
	if (p.revents & POLLERR)
		return errstr_set("an error is pending, and reading would "
		    "clear it");
	if (p.revents & POLLPRI)
		return errstr_set("it has urgent data");
	if (!(p.revents & POLLIN))
		return 0;
	if (filerec_ask(t, PROXY_PEEKER, queue_serve, &o, sizeof o, t->dup,
	    &answer) == -1)
		return -1;
	q = (const struct queue *)(const void *)answer.data;
	*budget -= q->cost < *budget ? q->cost : *budget;
	rc = q->done == 1 ? queue_record(t, q, b) : queue_failed(q);
	free(answer.data);
	return rc;
}
