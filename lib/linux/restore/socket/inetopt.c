/*
 * Record the options of UNIX, internet, netlink and packet sockets: socket(7),
 * unix(7), ip(7), ipv6(7), tcp(7), udp(7), netlink(7), packet(7). Options are
 * read from a duplicate of the socket, and recorded if they differ from a new
 * socket's.
 */
#include "sockets.h"
#include "bisect.h"
#include "vec.h"

#include <sys/socket.h>

#include <asm/socket.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

#include <unistd.h>

enum {				/* kinds of sockets that have an option */
	ALL = 0, V4 = 1, V6 = 2, TCP = 4, UDP = 8, LITE = 16, RAW = 32,
	NETLINK = 64, PACKET = 128, UNIX = 256,
	MULTICAST = UDP | LITE | RAW
};

enum {				/* when an option is recorded */
	SET,			/* record the option if it is not 0 */
	EVEN, /* record the option whenever it can be read, even if it is 0 */
	OTHER			/* record the option if its value differs from
				   that of a new socket */
};

/*
 * Option numbers that the C library may lack, from asm-generic/socket.h,
 * linux/in.h, linux/in6.h, linux/tcp.h, linux/udp.h and linux/if_packet.h.
 */
#define KNOWN(name, number) enum { NUMBER_##name = (number) }
KNOWN(SO_BUF_LOCK, 72);
KNOWN(SO_RCVMARK, 75);
KNOWN(SO_PASSPIDFD, 76);
KNOWN(IP_RECVERR_RFC4884, 26);
KNOWN(IP_LOCAL_PORT_RANGE, 51);
KNOWN(IPV6_FREEBIND, 78);
KNOWN(IPV6_MULTICAST_ALL, 29);
KNOWN(TCP_TX_DELAY, 37);
KNOWN(UDPLITE_SEND_CSCOV, 10);
KNOWN(UDPLITE_RECV_CSCOV, 11);
KNOWN(PACKET_IGNORE_OUTGOING, 23);

#define OPTION(level, name, who, when) { level, name, who, when, #name }
#define NUMBERED(level, name, who, when) \
	{ level, NUMBER_##name, who, when, #name }

static const struct option {
	int		 level;
	int		 number;
	unsigned int	 who;
	unsigned int	 when;
	const char	*name;
} table[] = {
	OPTION(SOL_SOCKET, SO_REUSEADDR, ALL, SET),
	OPTION(SOL_SOCKET, SO_REUSEPORT, ALL, SET),
	OPTION(SOL_SOCKET, SO_KEEPALIVE, ALL, SET),
	OPTION(SOL_SOCKET, SO_BROADCAST, ALL, SET),
	OPTION(SOL_SOCKET, SO_OOBINLINE, ALL, SET),
	OPTION(SOL_SOCKET, SO_DONTROUTE, ALL, SET),
	OPTION(SOL_SOCKET, SO_NO_CHECK, ALL, SET),
	OPTION(SOL_SOCKET, SO_PRIORITY, ALL, SET),
	OPTION(SOL_SOCKET, SO_MARK, ALL, SET),
	OPTION(SOL_SOCKET, SO_RCVLOWAT, ALL, SET),
	NUMBERED(SOL_SOCKET, SO_BUF_LOCK, ALL, EVEN),
	OPTION(SOL_SOCKET, SO_TIMESTAMP, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_TIMESTAMPNS, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_TIMESTAMPING, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_RXQ_OVFL, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_PEEK_OFF, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_BUSY_POLL, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_PREFER_BUSY_POLL, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_MAX_PACING_RATE, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_ZEROCOPY, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_LOCK_FILTER, ALL, OTHER),
	OPTION(SOL_SOCKET, SO_SELECT_ERR_QUEUE, ALL, OTHER),
	NUMBERED(SOL_SOCKET, SO_RCVMARK, ALL, OTHER),
	NUMBERED(SOL_SOCKET, SO_PASSPIDFD, UNIX, OTHER),
	OPTION(IPPROTO_IP, IP_TOS, V4, SET),
	OPTION(IPPROTO_IP, IP_TTL, V4, SET),
	OPTION(IPPROTO_IP, IP_FREEBIND, V4, SET),
	OPTION(IPPROTO_IP, IP_PKTINFO, V4, SET),
	OPTION(IPPROTO_IP, IP_HDRINCL, V4 | RAW, SET),
	OPTION(IPPROTO_IP, IP_NODEFRAG, V4 | RAW, SET),
	/* those with which an IPv6 socket handles IPv4 packets */
	OPTION(IPPROTO_IP, IP_TOS, V6, OTHER),
	OPTION(IPPROTO_IP, IP_TTL, V6, OTHER),
	OPTION(IPPROTO_IP, IP_PKTINFO, V6, OTHER),
	OPTION(IPPROTO_IP, IP_RECVTTL, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_RECVTOS, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_RECVOPTS, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_RETOPTS, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_RECVERR, V4 | V6, OTHER),
	NUMBERED(IPPROTO_IP, IP_RECVERR_RFC4884, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_MTU_DISCOVER, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_TRANSPARENT, V4, OTHER),
	OPTION(IPPROTO_IP, IP_MINTTL, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_MULTICAST_TTL, V4 | V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IP, IP_MULTICAST_LOOP, V4 | V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IP, IP_MULTICAST_ALL, V4 | V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IP, IP_MULTICAST_IF, V4 | V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IP, IP_RECVORIGDSTADDR, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_RECVFRAGSIZE, V4 | V6, OTHER),
	OPTION(IPPROTO_IP, IP_UNICAST_IF, V4 | V6, OTHER),
	NUMBERED(IPPROTO_IP, IP_LOCAL_PORT_RANGE, V4 | V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_V6ONLY, V6, SET),
	NUMBERED(IPPROTO_IPV6, IPV6_FREEBIND, V6, SET),
	OPTION(IPPROTO_IPV6, IPV6_RECVPKTINFO, V6, SET),
	OPTION(IPPROTO_IPV6, IPV6_HDRINCL, V6 | RAW, SET),
	OPTION(IPPROTO_IPV6, IPV6_RECVERR, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_RECVTCLASS, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_RECVPATHMTU, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_TCLASS, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_UNICAST_HOPS, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_MULTICAST_LOOP, V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_MULTICAST_IF, V6 | MULTICAST, OTHER),
	NUMBERED(IPPROTO_IPV6, IPV6_MULTICAST_ALL, V6 | MULTICAST, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_MTU_DISCOVER, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_TRANSPARENT, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_DONTFRAG, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_MINHOPCOUNT, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, V6, OTHER),
	OPTION(IPPROTO_IPV6, IPV6_UNICAST_IF, V6, OTHER),
	OPTION(IPPROTO_RAW, IPV6_CHECKSUM, V6 | RAW, OTHER),
	OPTION(IPPROTO_TCP, TCP_NODELAY, TCP, SET),
	OPTION(IPPROTO_TCP, TCP_CORK, TCP, SET),
	OPTION(IPPROTO_TCP, TCP_KEEPCNT, TCP, SET),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE, TCP, SET),
	OPTION(IPPROTO_TCP, TCP_KEEPINTVL, TCP, SET),
	OPTION(IPPROTO_TCP, TCP_DEFER_ACCEPT, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_FASTOPEN, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_SYNCNT, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_LINGER2, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_NOTSENT_LOWAT, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_SAVE_SYN, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, TCP, OTHER),
	OPTION(IPPROTO_TCP, TCP_INQ, TCP, OTHER),
	NUMBERED(IPPROTO_TCP, TCP_TX_DELAY, TCP, OTHER),
	OPTION(IPPROTO_UDP, UDP_CORK, UDP | LITE, SET),
	OPTION(IPPROTO_UDP, UDP_SEGMENT, UDP, OTHER),
	OPTION(IPPROTO_UDP, UDP_GRO, UDP, OTHER),
	OPTION(IPPROTO_UDP, UDP_ENCAP, UDP, OTHER),
	OPTION(IPPROTO_UDP, UDP_NO_CHECK6_TX, UDP | V6, OTHER),
	OPTION(IPPROTO_UDP, UDP_NO_CHECK6_RX, UDP | V6, OTHER),
	NUMBERED(IPPROTO_UDPLITE, UDPLITE_SEND_CSCOV, LITE, OTHER),
	NUMBERED(IPPROTO_UDPLITE, UDPLITE_RECV_CSCOV, LITE, OTHER),
	OPTION(SOL_NETLINK, NETLINK_PKTINFO, NETLINK, SET),
	OPTION(SOL_NETLINK, NETLINK_BROADCAST_ERROR, NETLINK, SET),
	OPTION(SOL_NETLINK, NETLINK_NO_ENOBUFS, NETLINK, SET),
	OPTION(SOL_NETLINK, NETLINK_LISTEN_ALL_NSID, NETLINK, SET),
	OPTION(SOL_NETLINK, NETLINK_CAP_ACK, NETLINK, SET),
	OPTION(SOL_NETLINK, NETLINK_EXT_ACK, NETLINK, SET),
	OPTION(SOL_NETLINK, NETLINK_GET_STRICT_CHK, NETLINK, SET),
	OPTION(SOL_PACKET, PACKET_TX_HAS_OFF, PACKET, SET),
	OPTION(SOL_PACKET, PACKET_QDISC_BYPASS, PACKET, SET),
	NUMBERED(SOL_PACKET, PACKET_IGNORE_OUTGOING, PACKET, SET)
};

enum { NOPTION = sizeof table / sizeof *table };

static bool
is_inet(const struct sockkind *w)
{
	return w->family == AF_INET || w->family == AF_INET6;
}

/*
 * Return the socket kind w as a mask of the flags V4 to UNIX.
 */
static unsigned int
sockkind_flags(const struct sockkind *w)
{
	unsigned int who;

	if (!is_inet(w))
		return w->family == AF_PACKET ? PACKET :
		    w->family == AF_UNIX ? UNIX : NETLINK;
	who = w->family == AF_INET6 ? V6 : V4;
	if (w->type == SOCK_STREAM)
		who |= TCP;
	else if (w->type == SOCK_RAW)
		who |= RAW;
	else
		who |= w->protocol == IPPROTO_UDPLITE ? LITE : UDP;
	return who;
}

/*
 * Return true if a socket with these flags has option o. If o names families,
 * the socket must be of one of them. If o names protocols, the socket must be
 * of one of those.
 */
static bool
option_fits(const struct option *o, unsigned int flags)
{
	unsigned int family = o->who & (V4 | V6), other = o->who & ~family;

	return (family == 0 || family & flags) && (other == 0 || other & flags);
}

static bool
option_get(int fd, const struct option *o, int *v)
{
	*v = 0;
	return fd != -1 && sock_get(fd, o->level, o->number, v, sizeof *v) == 0;
}

/*
 * Return a new socket of kind w, and its options, for comparison with the
 * options of other sockets. The first call for a kind creates the socket, and f
 * keeps it. Return NULL if memory runs out.
 */
static const struct freshsock *
freshsock_get(struct files *f, const struct sockkind *w)
{
	const unsigned int who = sockkind_flags(w);
	struct freshsock *v;
	size_t i;

	v = SEEK(f->freshsock, f->nfreshsock, x->what.family == w->family &&
	    x->what.type == w->type && x->what.protocol == w->protocol);
	if (v != NULL)
		return v;
	if (VEC_ROOM(f->freshsock, f->nfreshsock) == -1)
		return NULL;
	v = &f->freshsock[f->nfreshsock];
	if ((v->option = calloc(NOPTION, sizeof *v->option)) == NULL)
		return NULL;
	f->nfreshsock++;
	v->what = *w;
	v->fd = socket(w->family, w->type | SOCK_CLOEXEC, w->protocol);
	for (i = 0; i < NOPTION; i++)
		if (option_fits(&table[i], who))
			(void)option_get(v->fd, &table[i], &v->option[i]);
	return v;
}

/*
 * Close and free the new sockets that f keeps for comparing options.
 */
void
freshsocks_free(struct files *f)
{
	size_t i;

	for (i = 0; i < f->nfreshsock; i++) {
		fd_drop(f->freshsock[i].fd);
		free(f->freshsock[i].option);
	}
	free(f->freshsock);
}

/*
 * Set *w to the family, type and protocol of the socket open as fd. Return 0,
 * or -1 with errno set.
 */
int
sockkind_get(int fd, struct sockkind *w)
{
	return sock_get(fd, SOL_SOCKET, SO_DOMAIN, &w->family,
	    sizeof w->family) == -1 || sock_get(fd, SOL_SOCKET, SO_TYPE,
	    &w->type, sizeof w->type) == -1 || sock_get(fd, SOL_SOCKET,
	    SO_PROTOCOL, &w->protocol, sizeof w->protocol) == -1 ? -1 : 0;
}

static void
numbers_record(struct filerec *t, const struct freshsock *freshsock)
{
	unsigned int who = sockkind_flags(&freshsock->what);
	int v, fresh;
	size_t i;

	for (i = 0; i < NOPTION; i++) {
		if (!option_fits(&table[i], who) ||
		    !option_get(t->dup, &table[i], &v))
			continue;
		fresh = table[i].when == OTHER ? freshsock->option[i] : 0;
		if (table[i].when == EVEN || v != fresh)
			buf_printf(&t->out, "option %s %d\n", table[i].name,
			    v);
	}
}

/*
 * Append to the record of t a line with key and the text of the TCP option that
 * has this number. Append nothing if the text is empty, or is the same for
 * freshsock, a new socket.
 */
static void
word_record(struct filerec *t, const struct freshsock *freshsock, int number,
    const char *key)
{
	char is[64] = "", fresh[64] = "";

	if (sock_get(t->dup, IPPROTO_TCP, number, is, sizeof is - 1) == -1)
		return;
	if (freshsock->fd != -1)
		(void)sock_get(freshsock->fd, IPPROTO_TCP, number, fresh,
		    sizeof fresh - 1);
	if (is[0] != '\0' && strcmp(is, fresh) != 0)
		buf_printf(&t->out, "%s %s\n", key, is);
}

/*
 * Record the classic BPF filter of socket t, one instruction per line.
 * SO_GET_FILTER takes and returns a length in instructions. It cannot read an
 * eBPF filter.
 */
static void
filter_record(struct filerec *t)
{
	struct sock_filter *f;
	socklen_t n, i;

	n = 0;
	if (getsockopt(t->dup, SOL_SOCKET, SO_GET_FILTER, NULL, &n) == -1) {
		if (errno == EACCES)
			tell_why(t, "it has an eBPF filter, which cannot be "
			    "read");
		return;
	}
	if (n == 0)
		return;
	if ((f = calloc(n, sizeof *f)) == NULL) {
		t->out.failed = true;
		return;
	}
	if (getsockopt(t->dup, SOL_SOCKET, SO_GET_FILTER, f, &n) == -1)
		tell_why(t, "cannot read its filter");
	else
		for (i = 0; i < n; i++)
			buf_printf(&t->out, "filter %04x%02x%02x%08x\n",
			    f[i].code, f[i].jt, f[i].jf, f[i].k);
	free(f);
}

/*
 * Record the ICMP messages that socket t filters out (icmp(7)), if w says that
 * it is a raw ICMP socket.
 */
static void
icmp_record(struct filerec *t, const struct sockkind *w)
{
	enum { FILTER = 1 }; /* value of both ICMP_FILTER and ICMPV6_FILTER */
	const bool v6 = w->family == AF_INET6;
	const size_t n = v6 ? 8 : 1;
	uint32_t v[8] = { 0 };
	size_t i;

	if (!is_inet(w) || w->type != SOCK_RAW ||
	    w->protocol != (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) ||
	    sock_get(t->dup, v6 ? IPPROTO_ICMPV6 : IPPROTO_RAW, FILTER, v,
	    (socklen_t)(n * sizeof *v)) == -1)
		return;
	buf_puts(&t->out, "icmp");
	for (i = 0; i < n; i++)
		buf_printf(&t->out, " %x", v[i]);
	buf_puts(&t->out, "\n");
}

/*
 * Append to the record of t the options of the socket, which is of kind w.
 */
void
inetopt_record(struct filerec *t, const struct sockkind *w)
{
	const struct freshsock *freshsock = freshsock_get(t->live->files, w);
	char device[IF_NAMESIZE] = "";
	struct linger l = { 0 };

	if (freshsock == NULL) {
		t->out.failed = true;
		return;
	}
	if (sock_get(t->dup, SOL_SOCKET, SO_BINDTODEVICE, device,
	    sizeof device) == 0 && device[0] != '\0')
		buf_printf(&t->out, "device %s\n", device);
	if (sock_get(t->dup, SOL_SOCKET, SO_LINGER, &l, sizeof l) == 0 &&
	    l.l_onoff != 0)
		buf_printf(&t->out, "option SO_LINGER %d\n", l.l_linger);
	numbers_record(t, freshsock);
	if (is_inet(w) && w->type == SOCK_STREAM) {
		word_record(t, freshsock, TCP_CONGESTION, "congestion");
		word_record(t, freshsock, TCP_ULP, "ulp");
	}
	icmp_record(t, w);
	filter_record(t);
}
