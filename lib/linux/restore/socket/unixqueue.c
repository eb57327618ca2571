/*
 * What waits to be read at a UNIX socket: the looker (peek.c) looks at it, and
 * it stays there.  Whether anything waits is told by poll(2), which takes no
 * lock.
 *
 * Where an error waits to be told by a socket, nothing looks at it: the first
 * call that does is the one that is told.
 */
#include "sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * Take n bytes, those of a queue that is looked at as a whole, from the
 * budget.  Return 0, or -1 with errstr if they are too many.
 */
int
queue_spend(uint64_t *budget, uint64_t n)
{
	if (n > MAX_QUEUE || n > *budget)
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
packet_record(struct filerec *t, size_t nth, const struct packet *p,
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
queue_record(struct filerec *t, const struct queue *q, struct buf *b)
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
		rc = packet_record(t, i, &p, q->data + at, &from, b);
		at += (size_t)(p.len + p.nright * sizeof(int));
	}
	return rc;
}

/*
 * Say in errstr why the looker has not seen all.  Return -1.
 */
static int
queue_failed(const struct queue *q)
{
	if (q->done == EFBIG)
		return errstr_set("%zu bytes are too many to be looked at",
		    q->nbyte);
	if (q->done == EMSGSIZE)
		return errstr_set("more than %zu packets, %zu bytes",
		    q->npacket, q->nbyte);
	errno = q->done;
	return errstr_sys("recv");
}

/*
 * Read what waits at t, a UNIX socket of that type, of which there is a
 * duplicate: for each packet, or for all of a stream, or a piece of it, add a
 * line with the number of bytes, and the bytes, to b; and what is with these,
 * to the lines of the file.  The budget of bytes that may be looked at in all
 * queues becomes less by what this one costs.  Return 0, or -1 with errstr.
 */
int
unixqueue_read(struct filerec *t, unsigned int type, struct buf *b)
{
	uint64_t *budget = &t->live->files->budget;
	const struct peek_request o = { .stream = type == SOCK_STREAM,
	    .most = *budget < MAX_QUEUE ? *budget : MAX_QUEUE };
	struct pollfd p = { .fd = t->dup, .events = POLLIN | POLLRDHUP };
	const struct queue *q;
	struct bytes answer;
	int rc;

	if (poll(&p, 1, 0) == -1)
		return errstr_sys("poll");
	if (p.revents & POLLERR)
		return errstr_set("an error comes first, which is told but "
		    "once");
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
