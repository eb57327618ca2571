/*
 * Record the state of a TCP connection, which a socket in TCP_REPAIR mode
 * returns. The mode is switched on in a duplicate, and off again afterwards.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#include <poll.h>

enum { REPAIR_OFF_NO_WP = -1 };	/* end repair mode without a window probe */

enum {				/* TCP states, from include/net/tcp_states.h */
	FIN_WAIT1 = 4, FIN_WAIT2 = 5, CLOSE = 7, CLOSE_WAIT = 8, LAST_ACK = 9,
	CLOSING = 11
};

struct stream {
	struct tcp_info	 info;
	struct tcp_repair_window window;
	uint32_t	 seq[2]; /* sequence numbers of the receive and send
				    queues */
	int		 len[2]; /* number of bytes in the receive queue, and in
				    the send queue */
	int		 unsent; /* number of bytes in the send queue that are
				    not yet sent */
	int		 mss;
	int		 timestamp;
	uint8_t		*data;	/* owned; bytes of the receive queue, then of
				   the send queue */
};

/*
 * Switch the socket of v to TCP_REPAIR mode. In that mode the socket sends
 * nothing, and its queues can be read. Return false if that fails or is not
 * permitted.
 */
bool
repair_on(const struct heldconn *v)
{
	const int on = 1;

	return setsockopt(v->fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof on) == 0;
}

/*
 * End TCP_REPAIR mode of the socket of v, if the mode is on. Also restore
 * SO_REUSEADDR, which is off after that mode.
 */
void
repair_off(const struct heldconn *v)
{
	const int off[2] = { REPAIR_OFF_NO_WP, 0 };

	/* Linux before 4.20 lacks REPAIR_OFF_NO_WP */
	if (setsockopt(v->fd, IPPROTO_TCP, TCP_REPAIR, &off[0],
	    sizeof *off) == -1)
		(void)setsockopt(v->fd, IPPROTO_TCP, TCP_REPAIR, &off[1],
		    sizeof *off);
	(void)setsockopt(v->fd, SOL_SOCKET, SO_REUSEADDR, &v->reuse,
	    sizeof v->reuse);
}

/*
 * Copy the len bytes in the given queue of the socket open as fd to buf. Set
 * *seq to the sequence number of the queue. Return 0, or -1.
 */
static int
queue_look(int fd, int queue, uint32_t *seq, uint8_t *buf, int len)
{
	const int none = TCP_NO_QUEUE;
	ssize_t n;
	int rc;

	rc = setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue,
	    sizeof queue);
	if (rc == 0)
		rc = sock_get(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, seq, sizeof *seq);
	if (rc == 0 && len > 0) {
		n = recv(fd, buf, (size_t)len, MSG_PEEK | MSG_DONTWAIT);
		rc = n == len ? 0 : -1;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &none,
	    sizeof none);
	return rc;
}

/*
 * Set s->len to the number of bytes in each queue of the socket open as fd, and
 * s->unsent to the number of unsent bytes. A queued FIN, which the kernel
 * counts as one byte, is left out. Return 0, or -1 with errno set.
 */
static int
lengths_get(int fd, struct stream *s)
{
	unsigned int state = s->info.tcpi_state;

	if (ioctl(fd, SIOCINQ, &s->len[0]) == -1 ||
	    ioctl(fd, SIOCOUTQ, &s->len[1]) == -1 ||
	    ioctl(fd, SIOCOUTQNSD, &s->unsent) == -1)
		return -1;
	if (state == CLOSE)	/* the bytes in the send queue will not be sent
				   any more */
		s->len[1] = s->unsent = 0;
	else if (state == FIN_WAIT1 || state == FIN_WAIT2 || state == CLOSING ||
	    state == LAST_ACK) {
		s->len[1] -= s->len[1] > 0;
		s->unsent -= s->unsent > 0;
	}
	return 0;
}

static int
stream_look(int fd, uint64_t *budget, struct stream *s)
{
	size_t n;

	if (sock_get(fd, IPPROTO_TCP, TCP_INFO, &s->info, sizeof s->info) ==
	    -1 ||
	    sock_get(fd, IPPROTO_TCP, TCP_MAXSEG, &s->mss, sizeof s->mss) ==
	    -1 ||
	    sock_get(fd, IPPROTO_TCP, TCP_TIMESTAMP, &s->timestamp,
	    sizeof s->timestamp) == -1 ||
	    sock_get(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &s->window,
	    sizeof s->window) == -1 || lengths_get(fd, s) == -1)
		return errstr_sys("TCP_REPAIR");
	n = (size_t)s->len[0] + (size_t)s->len[1];
	if (queue_spend(budget, n) == -1 || (s->data = mem_new(n, 1)) == NULL)
		return -1;
	if (queue_look(fd, TCP_RECV_QUEUE, &s->seq[0], s->data, s->len[0]) ==
	    -1 || queue_look(fd, TCP_SEND_QUEUE, &s->seq[1], s->data +
	    s->len[0], s->len[1]) == -1)
		return errstr_sys("cannot read its queues");
	return 0;
}

/*
 * Return whether the receive queue of t, whose stream is s, has urgent data or
 * its mark. SIOCINQ counts only the bytes before them, and MSG_PEEK reads no
 * others.
 */
static bool
is_urgent(struct filerec *t, const struct stream *s)
{
	const unsigned int state = s->info.tcpi_state;
	const uint32_t fin = state == CLOSE_WAIT || state == LAST_ACK ||
	    state == CLOSING || state == CLOSE;
	struct pollfd p = { .fd = t->dup, .events = POLLPRI };
	uint32_t unread;
	int mark;

	return (poll(&p, 1, 0) == 1 && (p.revents & POLLPRI) != 0) ||
	    (ioctl(t->dup, SIOCATMARK, &mark) == 0 && mark != 0) ||
	    (inetsock_unread(t, &unread) &&
	    unread > (uint32_t)s->len[0] + fin);
}

static void
stream_record(struct filerec *t, struct stream *s)
{
	const struct tcp_repair_window *w = &s->window;
	char name[48];

	buf_printf(&t->out, "stream %u %d %u %d %d\n", s->seq[0], s->len[0],
	    s->seq[1], s->len[1], s->unsent);
	buf_printf(&t->out, "agreed %x %u %u %d %u\n", s->info.tcpi_options,
	    s->info.tcpi_snd_wscale, s->info.tcpi_rcv_wscale, s->mss,
	    (unsigned int)s->timestamp);
	buf_printf(&t->out, "window %u %u %u %u %u\n", w->snd_wl1, w->snd_wnd,
	    w->max_window, w->rcv_wnd, w->rcv_wup);
	if (s->len[0] + s->len[1] == 0)
		return;
	snprintf(name, sizeof name, "stream/%ju", (uintmax_t)t->ino);
	filelist_add(t->data, name, s->data, (size_t)(s->len[0] + s->len[1]));
	s->data = NULL;
}

/*
 * Append the state of the connection of socket t to its record. Do nothing
 * unless the connection is locked, so that it can move with its process.
 */
void
tcpstate_record(struct filerec *t)
{
	struct heldconn v = { .fd = t->dup };
	struct stream s = { 0 };
	int offset, rc;

	if (!t->held)
		return;
	if (sock_get(t->dup, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) ==
	    0 && offset >= 0) {
		tell_why(t, "cannot read its queues: SO_PEEK_OFF is set");
		return;
	}
	if (sock_get(t->dup, SOL_SOCKET, SO_REUSEADDR, &v.reuse,
	    sizeof v.reuse) == -1 || !repair_on(&v)) {
		tell_why(t, "cannot set TCP_REPAIR: %s", strerror(errno));
		return;
	}
	rc = stream_look(t->dup, &t->live->files->budget, &s);
	repair_off(&v);
	if (rc == -1)
		tell_why(t, "cannot read the state of its connection: %s",
		    snap_errstr());
	else if (is_urgent(t, &s))
		tell_why(t, "it has unread urgent data");
	else
		stream_record(t, &s);
	free(s.data);
}
