/*
 * Write entries for IPv4 and IPv6 sockets to files.img; decide whether a socket
 * can be restored, and record what it loses.
 *
 * criu creates a socket, binds it, and lets it listen or connects it. It
 * restores a TCP connection only from its recorded state (tcp-stream-N.img).
 * Without that, criu restore --tcp-close leaves a socket that was shut down.
 */
#include "open.h"
#include "bisect.h"

#include <netinet/in.h>

enum {
	FAMILY_V4 = 2, FAMILY_V6 = 10,	/* values from linux/socket.h */
	MPTCP = 262			/* value from uapi/linux/in.h */
};

enum { MAX_REPORTED = 16 };	/* maximum number of connections reported one
				   by one */

static unsigned int
protocol_of(const struct makeopen *f)
{
	return (unsigned int)f->v[OK_PROTOCOL][0];
}

static bool
is_v6(const struct makeopen *f)
{
	return f->v[OK_FAMILY][0] == 6;
}

/*
 * Record a note if an ended connection loses unread bytes when it is restored,
 * and another note if it loses a pending error. Descriptor fd of t refers to
 * the socket of the connection.
 */
static int
ended_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const uint64_t unread = maketcp_isrestored(m, f) ? 0 :
	    f->v[OK_UNREAD][0];

	if (unread > 0 && make_note(m, t, fd, "%" PRIu64 " byte%s of the ended "
	    "connection with %s, not yet read: not restored", unread,
	    unread == 1 ? "" : "s", f->inet->remote.text) == -1)
		return -1;
	return f->v[OK_FAILED][0] == 0 ? 0 : make_note(m, t, fd, "the error "
	    "that ended the connection with %s is not restored: it just "
	    "appears closed", f->inet->remote.text);
}

/*
 * Return true if *a, an address of socket f, is link-local and so needs an
 * interface name (needs_scope_id() in criu's sk-inet.c).
 */
static bool
is_linklocal(const struct makeopen *f, const struct makeaddress *a)
{
	const uint8_t *p = (const uint8_t *)a->word;

	return is_v6(f) && p[0] == 0xfe && (p[1] & 0xc0) == 0x80;
}

static const char *
protocol_obstacle(const struct makeopen *f)
{
	switch (f->v[OK_SOCKET][SOCK_TYPE]) {
	case TYPE_STREAM:
		if (protocol_of(f) == MPTCP && maketcp_isconnected(f))
			return "an MPTCP connection";
		return protocol_of(f) == IPPROTO_TCP ||
		    protocol_of(f) == MPTCP ? NULL :
		    "of a protocol that criu does not support";
	case TYPE_DGRAM:
		return protocol_of(f) == IPPROTO_UDP ||
		    protocol_of(f) == IPPROTO_UDPLITE ||
		    protocol_of(f) == IPPROTO_ICMP ||
		    protocol_of(f) == IPPROTO_ICMPV6 ? NULL :
		    "of a protocol that criu does not support";
	case TYPE_RAW:
		return NULL;
	default:
		return "of a type that criu does not support";
	}
}

/*
 * Return the reason why IPv4 or IPv6 socket f cannot be restored, or NULL if it
 * can.
 */
const char *
makeinet_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct makeinet *n = f->inet;
	const struct openline *l;
	const char *why;
	size_t nline;

	if (!makeopen_has(f, OK_FAMILY) || !makeopen_has(f, OK_PROTOCOL) ||
	    !makeopen_has(f, OK_SOCKET) || !makeopen_has(f, OK_INO))
		return "it is not fully recorded";
	if ((why = protocol_obstacle(f)) != NULL)
		return why;
	l = makekeys_lines(f, OK_OPTION, &nline);
	if (SEEK(l, nline, x->v[0] != 0 &&
	    strcmp(x->text[0], "UDP_CORK") == 0) != NULL)
		return "with an unsent packet (UDP_CORK)";
	if (n == NULL)
		return NULL;
	if (n->ulp != NULL)
		return "with a protocol on top of TCP, such as kernel TLS";
	if (is_linklocal(f, &n->local) && n->device == NULL)
		return "on an unknown link";
	if (maketcp_filtered(m, f))
		return "closing, and a packet filter of its net namespace may "
		    "drop what criu sends to it";
	if (n->remote.port == 0 || maketcp_isconnected(f))
		return NULL;
	if (is_linklocal(f, &n->remote) && !is_linklocal(f, &n->local))
		return "connected on an unknown link";
	/* criu sets SO_BROADCAST only after it has connected the socket */
	if (!is_v6(f) && n->remote.word[0] == UINT32_MAX)
		return "connected to a broadcast address";
	/* criu would take it for a connection: tcp_connection() in its
	   sk-inet.c */
	return f->v[OK_SOCKET][SOCK_TYPE] == TYPE_RAW &&
	    protocol_of(f) == IPPROTO_TCP ? "raw, and connected" : NULL;
}

/*
 * Return the class of the reason why IPv4 or IPv6 socket f cannot be restored.
 * The class depends on the protocol of the socket. If the protocol is not
 * recorded, the class is WHY_TCP.
 */
enum makewhy
makeinet_kind(const struct makeopen *f)
{
	if (!makeopen_has(f, OK_PROTOCOL))
		return WHY_TCP;
	if (f->v[OK_SOCKET][SOCK_TYPE] == TYPE_RAW)
		return WHY_RAW;
	switch (protocol_of(f)) {
	case IPPROTO_TCP:
	case MPTCP:
		return WHY_TCP;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return WHY_UDP;
	default:
		return WHY_RAW;
	}
}

/*
 * Record a note that n connections, which a listening socket has not accepted
 * yet, are not restored. Do nothing if n is 0. Descriptor fd of t refers to the
 * socket. Return 0, or -1 with errstr set.
 */
int
makeopen_waiting(struct criumake *m, const struct maketask *t,
    const struct makefd *fd, uint64_t n)
{
	return n == 0 ? 0 : make_note(m, t, fd, "%" PRIu64 " connection%s not "
	    "yet accepted: not restored", n, n == 1 ? "" : "s");
}

/*
 * Record a note for each thing that an IPv4 or IPv6 socket loses when it is
 * restored. Descriptor fd of t refers to the socket. Return 0, or -1 with
 * errstr set.
 */
int
makeinet_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const uint64_t waiting = f->v[OK_WAITING][0];

	if (maketcp_isconnected(f) && !maketcp_isrestored(m, f)) {
		m->need |= CRIU_TCP_CLOSE;
		if (!m->opts->along && m->nclosed++ < MAX_REPORTED &&
		    make_note(m, t, fd, "the connection of %s to %s is closed "
		    "when it is restored", f->inet->local.text,
		    f->inet->remote.text) == -1)
			return -1;
	}
	if ((maketcp_ended(f) && ended_note(m, t, fd) == -1) ||
	    makeopen_waiting(m, t, fd, waiting) == -1)
		return -1;
	if (protocol_of(f) == MPTCP &&
	    make_note(m, t, fd, "an MPTCP socket becomes a TCP socket") == -1)
		return -1;
	return makeinet_options(m, t, fd);
}

/*
 * Record a note with the number of closed connections for which makeinet_note()
 * recorded no note. Return 0, or -1 with errstr set.
 */
int
makeinet_rest(struct criumake *m)
{
	return m->nclosed <= MAX_REPORTED ? 0 : make_note(m, NULL, NULL,
	    "%zu more connections are closed when they are restored",
	    m->nclosed - MAX_REPORTED);
}

/*
 * Set the family, protocol, addresses and shutdown state in p to those of f.
 */
static void
address_put(const struct criumake *m, const struct makeopen *f,
    Criu__InetSocket *p)
{
	static const struct makeinet none;
	struct makeinet *n = f->inet;
	bool ended;

	/* An ended connection is restored only as shut down, without its
	   addresses. */
	ended = maketcp_ended(f) && !maketcp_isrestored(m, f);
	p->family = is_v6(f) ? FAMILY_V6 : FAMILY_V4;
	p->proto = protocol_of(f) == MPTCP ? IPPROTO_TCP : protocol_of(f);
	if (ended)
		p->shutdown = SHUT_BOTH;
	p->has_shutdown = p->shutdown != 0;
	p->n_src_addr = p->n_dst_addr = is_v6(f) ? 4 : 1;
	if (n == NULL || ended) {
		p->src_addr = p->dst_addr = (uint32_t *)(uintptr_t)
		    none.local.word;
		return;
	}
	p->src_port = n->local.port;
	p->src_addr = n->local.word;
	p->dst_port = n->remote.port;
	p->dst_addr = n->remote.word;
	if (is_linklocal(f, &n->local))
		p->ifname = n->device;
}

/*
 * Fill in msg, the protobuf message of IPv4 or IPv6 socket f, and write the
 * state of its connection. Return 0, or -1 with errstr set.
 */
int
makeinet_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	ProtobufCMessage *part[OPT_PARTS] = { 0 };
	Criu__InetSocket *p = msg;
	Criu__RawOptions *raw = NULL;

	part[OPT_SOCKET] = MSG_PART(&m->msgs, p, opts);
	part[OPT_IP] = MSG_PART(&m->msgs, p, ip_opts);
	part[OPT_TCP] = MSG_PART(&m->msgs, p, tcp_opts);
	if (is_v6(f))
		part[OPT_V6] = &p->base;
	else
		part[OPT_V4] = part[OPT_IP];
	if (part[OPT_IP] == NULL || part[OPT_TCP] == NULL ||
	    (p->type == TYPE_RAW &&
	    (raw = MSG_PART(&m->msgs, p->ip_opts, raw)) == NULL))
		return -1;
	if (raw != NULL && f->inet != NULL) {
		raw->icmpv_filter = f->inet->icmp.v;
		raw->n_icmpv_filter = f->inet->icmp.n;
	}
	part[OPT_RAW] = raw == NULL ? NULL : &raw->base;
	p->has_family = p->has_proto = p->has_src_port = p->has_dst_port =
	    true;
	p->has_v6only = is_v6(f);
	address_put(m, f, p);
	if (makesocket_set(m, f, part) == -1)
		return -1;
	if (maketcp_isrestored(m, f))
		return maketcp_write(m, f, p->tcp_opts);
	if (p->tcp_opts->nodelay || p->tcp_opts->cork)
		make_since(m, SINCE_NODELAY);
	return 0;
}
