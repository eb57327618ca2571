/*
 * Options of sockets: those of all families, and of the internet those that an
 * image has a place for, and those that are lost.
 */
#include "inet.h"

#include <stddef.h>
#include <string.h>

/*
 * Those that criu restores: where they are among struct inetopts.
 */
#define PLACE(name, part) { #name, offsetof(struct inetopts, has_##part), \
	offsetof(struct inetopts, part), SINCE_MAX }
#define PLACED(name, of, field) NEWER(name, of, field, SINCE_MAX)
#define NEWER(name, of, field, since) { #name, \
	offsetof(struct inetopts, of.has_##field), \
	offsetof(struct inetopts, of.field), since }

static const struct optplace {
	const char	*name;
	size_t		 has;
	size_t		 value;
	enum makesince	 since;	/* SINCE_MAX: all read it */
} places[] = {
	PLACED(SO_REUSEADDR, socket, reuseaddr),
	PLACED(SO_REUSEPORT, socket, so_reuseport),
	PLACED(SO_KEEPALIVE, socket, so_keepalive),
	PLACED(SO_BROADCAST, socket, so_broadcast),
	PLACED(SO_OOBINLINE, socket, so_oobinline),
	PLACED(SO_DONTROUTE, socket, so_dontroute),
	PLACED(SO_NO_CHECK, socket, so_no_check),
	PLACED(SO_PRIORITY, socket, so_priority),
	PLACED(SO_MARK, socket, so_mark),
	PLACED(SO_RCVLOWAT, socket, so_rcvlowat),
	PLACED(SO_BUF_LOCK, socket, so_buf_lock),
	PLACED(SO_LINGER, socket, so_linger),
	NEWER(IP_TOS, ip, tos, SINCE_TOS),
	NEWER(IP_TTL, ip, ttl, SINCE_TTL),
	PLACED(IP_FREEBIND, ip, freebind),
	NEWER(IP_PKTINFO, ip, pktinfo, SINCE_PKTINFO),
	PLACED(IP_HDRINCL, raw, hdrincl),
	PLACED(IP_NODEFRAG, raw, nodefrag),
	PLACE(IPV6_V6ONLY, v6only),
	PLACED(IPV6_FREEBIND, ip, freebind),
	NEWER(IPV6_RECVPKTINFO, ip, pktinfo, SINCE_PKTINFO),
	PLACED(IPV6_HDRINCL, raw, hdrincl),
	PLACED(TCP_NODELAY, tcp, nodelay),
	PLACED(TCP_CORK, tcp, cork),
	PLACED(TCP_KEEPCNT, tcp, keepcnt),
	PLACED(TCP_KEEPIDLE, tcp, keepidle),
	PLACED(TCP_KEEPINTVL, tcp, keepintvl)
};

/*
 * Those that are lost, and that no program needs to go on: they change how fast
 * data come, how often they are sent, by which way.
 */
static const char *const minor[] = {
	"SO_BUSY_POLL", "SO_PREFER_BUSY_POLL", "SO_MAX_PACING_RATE",
	"IP_MTU_DISCOVER", "IP_BIND_ADDRESS_NO_PORT", "IP_LOCAL_PORT_RANGE",
	"IPV6_MTU_DISCOVER", "IPV6_DONTFRAG", "IPV6_TCLASS",
	"IPV6_UNICAST_HOPS", "IPV6_AUTOFLOWLABEL", "IPV6_ADDR_PREFERENCES",
	"TCP_DEFER_ACCEPT", "TCP_USER_TIMEOUT", "TCP_FASTOPEN",
	"TCP_FASTOPEN_CONNECT", "TCP_FASTOPEN_NO_COOKIE", "TCP_SYNCNT",
	"TCP_LINGER2", "TCP_NOTSENT_LOWAT", "TCP_THIN_LINEAR_TIMEOUTS",
	"TCP_TX_DELAY", "NETLINK_CAP_ACK", "NETLINK_EXT_ACK", "UDP_GRO",
	"UDP_NO_CHECK6_TX", "UDP_NO_CHECK6_RX",
	"UDPLITE_SEND_CSCOV", "UDPLITE_RECV_CSCOV"
};

static const struct optplace *
optplace_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof places / sizeof *places; i++)
		if (strcmp(places[i].name, name) == 0)
			return &places[i];
	return NULL;
}

static bool
is_minor(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof minor / sizeof *minor; i++)
		if (strcmp(minor[i], name) == 0)
			return true;
	return false;
}

/*
 * Set *o to the options of f that sockets of all families have.
 */
void
makesocket_options(const struct makeopen *f, Criu__SocketOptions *o)
{
	enum { PASSCRED = 1, PASSSEC = 2 };
	const uint64_t *v = f->v[OK_OPTIONS], *t = f->v[OK_TIMEOUTS];

	criu__socket_options__init(o);
	MSG_FILL(o, "so_sndbuf so_rcvbuf so_passcred so_passsec "
	    "so_snd_tmo_sec so_snd_tmo_usec so_rcv_tmo_sec so_rcv_tmo_usec",
	    ((uint64_t[]){ v[0], v[1], v[2] & PASSCRED, v[2] & PASSSEC,
	    t[0] / USEC, t[0] % USEC, t[1] / USEC, t[1] % USEC }));
}

/*
 * Note which options and multicast groups of the socket that descriptor fd of t
 * leads to are lost.  Return 0, or -1 with errstr.
 */
int
makeinet_options(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	enum { DEFAULT_TTL = 64 };	/* as an older criu leaves it: ip(7) */
	const struct makeopen *f = fd->open;
	const struct optplace *p;
	const struct openline *l;
	const char *name;
	size_t n;
	int rc;

	rc = f->inet == NULL || f->inet->congestion == NULL ? 0 : make_note(m,
	    t, fd, "TCP_CONGESTION %s is not restored", f->inet->congestion);
	l = makekeys_lines(f, OK_OPTION, &n);
	for (; n > 0 && rc == 0; n--, l++) {
		name = l->text[0];
		if ((p = optplace_find(name)) != NULL) {
			if (p->since != SINCE_MAX && (uint32_t)l->v[0] !=
			    (p->since == SINCE_TTL ? DEFAULT_TTL : 0))
				make_since(m, p->since);
			continue;
		}
		if (is_minor(name))
			rc = make_note(m, t, fd, "%s is not restored", name);
		else
			rc = make_refuse(m, t, fd, WHY_SOCKOPT,
			    "the option %s of a socket", name);
	}
	l = makekeys_lines(f, OK_MULTICAST, &n);
	for (; n > 0 && rc == 0; n--, l++)
		rc = make_refuse(m, t, fd, WHY_MULTICAST, "a member of the "
		    "multicast group %s of %s", l->text[0], l->text[1]);
	return rc;
}

/*
 * Note what of descriptor fd of t, a socket that is none of the internet, is
 * not as it was.  Return 0, or -1 with errstr.
 */
int
makesocket_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	if ((makeopen_has(fd->open, OK_RXRING) ||
	    makeopen_has(fd->open, OK_TXRING)) &&
	    make_note(m, t, fd, "the rings of a packet socket are empty when "
	    "it is restored") == -1)
		return -1;
	return makeinet_options(m, t, fd);
}

/*
 * Return the options that an image has of socket f, among the messages of m;
 * raw: it is a raw one.  Return NULL with errstr if there is no memory.
 */
struct inetopts *
makeinet_opts(struct criumake *m, const struct makeopen *f, bool raw)
{
	const struct openline *l;
	const struct optplace *p;
	const uint32_t yes = 1;
	struct makeinet *in = f->inet;
	struct inetopts *o;
	uint32_t value;
	size_t i, n;

	l = makekeys_lines(f, OK_FILTER, &n);
	if ((o = msgs_get(&m->msgs, 1, sizeof *o)) == NULL ||
	    (o->filter = msgs_get(&m->msgs, n, sizeof *o->filter)) == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		o->filter[i] = l[i].v[0];
	makesocket_options(f, &o->socket);
	criu__ip_options__init(&o->ip);
	criu__raw_options__init(&o->raw);
	criu__tcp_options__init(&o->tcp);
	/* false unless it is told: criu takes what is not there for that */
	o->socket.has_reuseaddr = o->socket.has_so_reuseport = true;
	if (raw)
		o->ip.raw = &o->raw;
	o->socket.so_filter = o->filter;
	o->socket.n_so_filter = n;
	l = makekeys_lines(f, OK_OPTION, &n);
	for (; n > 0; n--, l++) {
		if ((p = optplace_find(l->text[0])) == NULL)
			continue;
		value = (uint32_t)l->v[0];
		memcpy((char *)o + p->has, &yes, sizeof yes);
		memcpy((char *)o + p->value, &value, sizeof value);
	}
	o->socket.has_tcp_keepcnt = o->tcp.has_keepcnt;
	o->socket.tcp_keepcnt = o->tcp.keepcnt;
	o->socket.has_tcp_keepidle = o->tcp.has_keepidle;
	o->socket.tcp_keepidle = o->tcp.keepidle;
	o->socket.has_tcp_keepintvl = o->tcp.has_keepintvl;
	o->socket.tcp_keepintvl = o->tcp.keepintvl;
	if (in != NULL) {
		o->socket.so_bound_dev = in->device;
		o->raw.icmpv_filter = in->icmp;
		o->raw.n_icmpv_filter = in->nicmp;
	}
	return o;
}
