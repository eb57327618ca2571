/*
 * Record an internet socket from a duplicate of it: family, state, addresses.
 * Its options are recorded by inetopt.c.
 */
#include "sockets.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <poll.h>

enum { MPTCP = 262 };		/* IPPROTO_MPTCP of uapi/linux/in.h */

union address {
	struct sockaddr		 any;
	struct sockaddr_in	 v4;
	struct sockaddr_in6	 v6;
};

struct inetsock {
	struct sockkind	 what;
	unsigned int	 state;	/* TCP_ESTABLISHED etc., from
				   include/net/tcp_states.h */
	unsigned int	 backlog;
	unsigned int	 waiting; /* number of connections not yet accepted, if
				     the socket is listening */
	unsigned int	 shutdown; /* 1 if shut down for reading, plus 2 if shut
				      down for writing */
	int		 unread; /* number of bytes still readable after the
				    connection ended */
	bool		 failed; /* an error is pending (SO_ERROR) */
	union address	 local;
	union address	 remote;
	bool		 connected;
};

static uint16_t
address_port(const union address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port :
	    a->v4.sin_port);
}

static void
address_record(struct filerec *t, const char *key, const union address *a)
{
	char text[INET6_ADDRSTRLEN];
	const void *p;

	p = a->any.sa_family == AF_INET6 ? (const void *)&a->v6.sin6_addr :
	    (const void *)&a->v4.sin_addr;
	if (inet_ntop(a->any.sa_family, p, text, sizeof text) != NULL)
		buf_printf(&t->out, "%s %s %u\n", key, text, address_port(a));
}

/*
 * Set s->local to the address that socket t is bound to, and s->remote to the
 * address of its peer.
 */
static void
addresses_get(struct filerec *t, struct inetsock *s)
{
	socklen_t len;

	len = sizeof s->local;
	if (getsockname(t->dup, &s->local.any, &len) == -1)
		tell_why(t, "cannot read its address");
	/* getpeername(2) fails while a connection is being made, and
	   SO_PEERNAME fails if len is larger than the address */
	len = s->what.family == AF_INET6 ? sizeof s->remote.v6 :
	    sizeof s->remote.v4;
	s->connected = sock_get(t->dup, SOL_SOCKET, SO_PEERNAME, &s->remote,
	    len) == 0 && address_port(&s->remote) != 0;
}

/*
 * Query inet_diag about socket t. Set *m and *r to the answer. Return false if
 * there is none: if several sockets have the same addresses, inet_diag may
 * report on another one.
 */
static bool
inetdiag_ask(struct filerec *t, const struct inetsock *s,
    struct inet_diag_msg *m, struct diagreply *r)
{
	struct inet_diag_req_v2 q = {
		.sdiag_family = (uint8_t)s->what.family,
		.sdiag_protocol = (uint8_t)s->what.protocol
	};
	const bool tcp = s->what.protocol == IPPROTO_TCP;
	/* udp_dump_one of the kernel's net/ipv4/udp_diag.c takes the
	   addresses in the order of a received packet: source is the peer */
	const union address *from = tcp ? &s->local : &s->remote;
	const union address *to = tcp ? &s->remote : &s->local;

	q.id.idiag_sport = htons(address_port(from));
	q.id.idiag_dport = htons(address_port(to));
	if (s->what.family == AF_INET6) {
		memcpy(q.id.idiag_src, &from->v6.sin6_addr, 16);
		memcpy(q.id.idiag_dst, &to->v6.sin6_addr, 16);
	} else {
		memcpy(q.id.idiag_src, &from->v4.sin_addr, 4);
		memcpy(q.id.idiag_dst, &to->v4.sin_addr, 4);
	}
	(void)sock_get(t->dup, SOL_SOCKET, SO_BINDTOIFINDEX, &q.id.idiag_if,
	    sizeof q.id.idiag_if);
	q.id.idiag_cookie[0] = q.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (!diag_ask(t, &q, sizeof q, 0, r) || r->len < sizeof *m)
		return false;
	memcpy(m, r->data, sizeof *m);
	return m->idiag_inode == (uint32_t)t->ino;
}

/*
 * Set s->shutdown to the directions in which UDP socket t was shut down, as
 * inet_diag reports them. Return false if it does not report them.
 */
static bool
shutdown_diag(struct filerec *t, struct inetsock *s)
{
	struct inet_diag_msg m;
	struct diagreply r;
	uint8_t value;
	bool found;

	found = inetdiag_ask(t, s, &m, &r) &&
	    attribute_copy(diag_attributes(&r, sizeof m), INET_DIAG_SHUTDOWN,
	    &value, 1);
	if (found)
		s->shutdown = value & 3U;
	return found;
}

/*
 * Set *n to the number of unread bytes of TCP connection t, before and after
 * urgent data; an unread FIN counts as one byte. Return false if inet_diag does
 * not report it.
 */
bool
inetsock_unread(struct filerec *t, uint32_t *n)
{
	struct inetsock s = { 0 };
	struct inet_diag_msg m;
	struct diagreply r;

	if (sockkind_get(t->dup, &s.what) == -1)
		return false;
	addresses_get(t, &s);
	if (!inetdiag_ask(t, &s, &m, &r))
		return false;
	*n = m.idiag_rqueue;
	return true;
}

/*
 * Set s->shutdown to the directions in which socket t was shut down, and
 * s->failed if an error is pending; to read the error would clear it. Use this
 * for sockets whose TCP state does not show the directions: sockets that are
 * not TCP, and TCP sockets in state CLOSE or ESTABLISHED.
 */
static void
shutdown_get(struct filerec *t, struct inetsock *s)
{
	struct pollfd p = { .fd = t->dup, .events = POLLRDHUP };
	bool udp;

	udp = s->what.protocol == IPPROTO_UDP ||
	    s->what.protocol == IPPROTO_UDPLITE;
	if ((udp && address_port(&s->local) != 0 && shutdown_diag(t, s)) ||
	    poll(&p, 1, 0) != 1)
		return;
	/* POLLHUP is always set for sockets other than UDP */
	s->shutdown = udp && p.revents & POLLHUP ? 3 :
	    p.revents & POLLRDHUP ? 1 : 0;
	s->failed = (p.revents & POLLERR) != 0;
}

/*
 * Set s->state to the state of TCP socket t, from TCP_INFO of tcp(7). If the
 * socket is listening, also set the length and limit of its accept queue;
 * TCP_INFO has them in tcpi_unacked and tcpi_sacked. If the connection has
 * ended, also set s->unread.
 */
static void
tcp_get(struct filerec *t, struct inetsock *s)
{
	struct tcp_info info = { 0 };

	if (sock_get(t->dup, IPPROTO_TCP, TCP_INFO, &info, sizeof info) ==
	    -1) {
		tell_why(t, "cannot read its state");
		return;
	}
	s->state = info.tcpi_state;
	if (s->state == TCP_LISTEN) {
		s->waiting = info.tcpi_unacked;
		s->backlog = info.tcpi_sacked;
	} else if (s->state == TCP_CLOSE || s->state == TCP_ESTABLISHED)
		shutdown_get(t, s);
	if (s->state == TCP_CLOSE && ioctl(t->dup, SIOCINQ, &s->unread) == -1)
		s->unread = 0;
}

static void
state_get(struct filerec *t, struct inetsock *s)
{
	if (s->what.type == SOCK_STREAM && (s->what.protocol == IPPROTO_TCP ||
	    s->what.protocol == MPTCP)) {
		tcp_get(t, s);
		return;
	}
	s->state = s->connected ? TCP_ESTABLISHED : TCP_CLOSE;
	if (s->what.type == SOCK_DGRAM)
		shutdown_get(t, s);
}

/*
 * Build the record of t, an internet socket that is duplicated in t->dup.
 */
void
inetsock_record(struct filerec *t)
{
	struct inetsock s = { 0 };

	filerec_type(t, "inet");
	if (sockkind_get(t->dup, &s.what) == -1) {
		tell_why(t, "cannot read its protocol");
		return;
	}
	addresses_get(t, &s);
	state_get(t, &s);
	buf_printf(&t->out, "protocol %d\nfamily %d\nsocket %d %u 0 %u %u\n",
	    s.what.protocol, s.what.family == AF_INET6 ? 6 : 4, s.what.type,
	    s.state, s.backlog, s.shutdown);
	if (address_port(&s.local) != 0)
		address_record(t, "local", &s.local);
	if (s.connected)
		address_record(t, "remote", &s.remote);
	if (s.waiting > 0)
		buf_printf(&t->out, "waiting %u\n", s.waiting);
	if (s.unread > 0)
		buf_printf(&t->out, "unread %d\n", s.unread);
	if (s.state == TCP_CLOSE && s.what.type == SOCK_STREAM && s.failed)
		buf_puts(&t->out, "failed 1\n");
	sockopt_record(t);
	/* a connection that restore will close needs no options, and there
	   may be many */
	if (t->live->opts.move || s.what.type != SOCK_STREAM || !s.connected)
		inetopt_record(t, &s.what);
	if (s.what.type != SOCK_STREAM)
		inetgroup_record(t);
}
