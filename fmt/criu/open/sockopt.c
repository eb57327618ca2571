/*
 * Write socket options: those common to all families, and those of IPv4 and
 * IPv6 for which the image has a field. Record the others as lost.
 */
#include "open.h"
#include "bisect.h"

/*
 * The socket options that criu restores, each with the message of an entry and
 * the field in which it is stored.
 */
static const struct optplace {
	const char	*name;
	enum optpart	 part;
	const char	*field;
	enum makesince	 since;
} places[] = {
	{ "SO_REUSEADDR", OPT_SOCKET, "reuseaddr", SINCE_LONG },
	{ "SO_REUSEPORT", OPT_SOCKET, "so_reuseport", SINCE_LONG },
	{ "SO_KEEPALIVE", OPT_SOCKET, "so_keepalive", SINCE_LONG },
	{ "SO_BROADCAST", OPT_SOCKET, "so_broadcast", SINCE_LONG },
	{ "SO_OOBINLINE", OPT_SOCKET, "so_oobinline", SINCE_LONG },
	{ "SO_DONTROUTE", OPT_SOCKET, "so_dontroute", SINCE_LONG },
	{ "SO_NO_CHECK", OPT_SOCKET, "so_no_check", SINCE_LONG },
	{ "SO_PRIORITY", OPT_SOCKET, "so_priority", SINCE_LONG },
	{ "SO_MARK", OPT_SOCKET, "so_mark", SINCE_LONG },
	{ "SO_RCVLOWAT", OPT_SOCKET, "so_rcvlowat", SINCE_LONG },
	{ "SO_BUF_LOCK", OPT_SOCKET, "so_buf_lock", SINCE_LONG },
	{ "SO_LINGER", OPT_SOCKET, "so_linger", SINCE_LONG },
	{ "IP_TOS", OPT_V4, "tos", SINCE_TOS },
	{ "IP_TTL", OPT_V4, "ttl", SINCE_TTL },
	{ "IP_FREEBIND", OPT_V4, "freebind", SINCE_LONG },
	{ "IP_PKTINFO", OPT_V4, "pktinfo", SINCE_PKTINFO },
	{ "IP_HDRINCL", OPT_RAW, "hdrincl", SINCE_LONG },
	{ "IP_NODEFRAG", OPT_RAW, "nodefrag", SINCE_LONG },
	{ "IPV6_V6ONLY", OPT_V6, "v6only", SINCE_LONG },
	{ "IPV6_FREEBIND", OPT_IP, "freebind", SINCE_LONG },
	{ "IPV6_RECVPKTINFO", OPT_IP, "pktinfo", SINCE_PKTINFO },
	{ "IPV6_HDRINCL", OPT_RAW, "hdrincl", SINCE_LONG },
	{ "TCP_NODELAY", OPT_TCP, "nodelay", SINCE_LONG },
	{ "TCP_CORK", OPT_TCP, "cork", SINCE_LONG },
	{ "TCP_KEEPCNT", OPT_TCP, "keepcnt", SINCE_LONG },
	{ "TCP_KEEPCNT", OPT_SOCKET, "tcp_keepcnt", SINCE_LONG },
	{ "TCP_KEEPIDLE", OPT_TCP, "keepidle", SINCE_LONG },
	{ "TCP_KEEPIDLE", OPT_SOCKET, "tcp_keepidle", SINCE_LONG },
	{ "TCP_KEEPINTVL", OPT_TCP, "keepintvl", SINCE_LONG },
	{ "TCP_KEEPINTVL", OPT_SOCKET, "tcp_keepintvl", SINCE_LONG }
};

enum { NPLACES = sizeof places / sizeof *places };

/*
 * Options that are lost but that no program needs to go on: they affect speed,
 * retransmission and routing.
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

/*
 * Set in o the options of socket f that are common to all socket families.
 */
static void
options_set(const struct makeopen *f, Criu__SocketOptions *o)
{
	enum { PASSCRED = 1, PASSSEC = 2 };
	const uint64_t *v = f->v[OK_OPTIONS], *t = f->v[OK_TIMEOUTS];

	MSG_FILL(o, "so_sndbuf so_rcvbuf so_passcred so_passsec "
	    "so_snd_tmo_sec so_snd_tmo_usec so_rcv_tmo_sec so_rcv_tmo_usec",
	    ((uint64_t[]){ v[0], v[1], v[2] & PASSCRED, v[2] & PASSSEC,
	    t[0] / USEC, t[0] % USEC, t[1] / USEC, t[1] % USEC }));
}

/*
 * Record the options and multicast groups that a socket loses when it is
 * restored. Descriptor fd of t refers to the socket. Return 0, or -1 with
 * errstr set.
 */
int
makeinet_options(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	enum { DEFAULT_TTL = 64 };	/* default from ip(7); stays in effect
					   under versions of criu that ignore
					   the TTL */
	const struct makeopen *f = fd->open;
	const struct optplace *p;
	const struct openline *l;
	const bool v6 = f->v[OK_FAMILY][0] == 6;
	const char *name;
	size_t n;
	int rc;

	rc = f->inet == NULL || f->inet->congestion == NULL ? 0 : make_note(m,
	    t, fd, "TCP_CONGESTION %s is not restored", f->inet->congestion);
	l = makekeys_lines(f, OK_OPTION, &n);
	for (; n > 0 && rc == 0; n--, l++) {
		name = l->text[0];
		p = SEEK_IN(places, strcmp(x->name, name) == 0 &&
		    !(v6 && x->part == OPT_V4));
		if (p != NULL) {
			if (p->since != SINCE_LONG && (uint32_t)l->v[0] !=
			    (p->since == SINCE_TTL ? DEFAULT_TTL : 0))
				make_since(m, p->since);
			continue;
		}
		if (SEEK_IN(minor, strcmp(*x, name) == 0) != NULL)
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
 * Record each thing that a socket loses when it is restored. Descriptor fd of t
 * refers to the socket, which is neither IPv4 nor IPv6. Return 0, or -1 with
 * errstr set.
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
 * Store the options of socket f, and the device that f is bound to, in the
 * messages part[]. Any message may be NULL except part[OPT_SOCKET], which is
 * NULL only if memory ran out. Return 0, or -1 with errstr set.
 */
int
makesocket_set(struct criumake *m, const struct makeopen *f,
    ProtobufCMessage *const part[OPT_PARTS])
{
	Criu__SocketOptions *o = (Criu__SocketOptions *)part[OPT_SOCKET];
	const struct openline *l;
	size_t i, n;

	l = makekeys_lines(f, OK_FILTER, &n);
	if (o == NULL || MSG_MANY(&m->msgs, o, so_filter, n) == NULL)
		return -1;
	for (i = 0; i < n; i++)
		o->so_filter[i] = l[i].v[0];
	options_set(f, o);
	/* set even if false: criu does not read a missing field as false */
	o->has_reuseaddr = o->has_so_reuseport = true;
	if (f->inet != NULL)
		o->so_bound_dev = f->inet->device;
	for (l = makekeys_lines(f, OK_OPTION, &n); n > 0; n--, l++)
		for (i = 0; i < NPLACES; i++)
			if (part[places[i].part] != NULL &&
			    strcmp(places[i].name, l->text[0]) == 0)
				msg_fill(part[places[i].part], places[i].field,
				    l->v);
	return 0;
}
