/*
 * Record a network namespace other than ours: links, addresses, routes and
 * rules as rtnetlink(7) messages, settings, and tables of nft(8) and
 * iptables(8). The proxy enters it, once for all processes in it, because
 * these requests wait for locks that other processes hold. Nothing is changed.
 */
#include "spaces.h"

#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

enum { MOST = 16 * 1024 * 1024 };	/* maximum size of the answer to one
					   request, in bytes */

struct asked {			/* a kind of rtnetlink request */
	const char	*name;	/* name of the file in the record */
	uint16_t	 type;
	uint8_t		 family;
};

/*
 * Append message m, with padding, to the buffer arg.
 */
static int
message_add(void *arg, const struct netmessage *m)
{
	static const uint8_t fill[NLMSG_ALIGNTO];
	struct buf *b = arg;

	/* it changed during the dump, or is too large */
	if (m->flags & NLM_F_DUMP_INTR || b->len > MOST)
		return errstr_set("its network configuration changed while it "
		    "was read, or is too large");
	buf_add(b, m->p, m->len);
	buf_add(b, fill, NLMSG_ALIGN(m->len) - m->len);
	return 0;
}

/*
 * Send the dump request k on socket fd. Add all messages of the answer to rec.
 */
static int
messages_record(struct filelist *rec, int fd, const struct asked *k)
{
	/* only the family counts, which is the first byte */
	const struct tcmsg body = { .tcm_family = k->family };
	const struct netrequest q = { k->type, NLM_F_DUMP, &body,
	    k->type == RTM_GETQDISC ? sizeof body : sizeof(struct rtmsg) };
	struct buf b = { 0 };

	if (netlink_ask(fd, &q, message_add, &b) == -1) {
		buf_free(&b);
		return -1;
	}
	filelist_buf(rec, k->name, &b);
	return 0;
}

/*
 * Add to rec what the rtnetlink(7) socket fd reports: links, addresses, routes,
 * rules, neighbours and queueing disciplines. It is not an error if the last
 * two cannot be read.
 */
static int
network_record(struct filelist *rec, int fd)
{
	static const struct asked kind[] = {
		{ "net/links", RTM_GETLINK, AF_UNSPEC },
		{ "net/addresses", RTM_GETADDR, AF_UNSPEC },
		{ "net/routes", RTM_GETROUTE, AF_INET },
		{ "net/routes6", RTM_GETROUTE, AF_INET6 },
		{ "net/rules", RTM_GETRULE, AF_UNSPEC }
	}, more[] = {
		{ "net/neighbours", RTM_GETNEIGH, AF_UNSPEC },
		{ "net/queueing", RTM_GETQDISC, AF_UNSPEC }
	};
	size_t i;
	int rc;

	if (fd == -1)
		return errstr_sys("rtnetlink");
	for (rc = 0, i = 0; i < sizeof kind / sizeof *kind && rc == 0; i++)
		rc = messages_record(rec, fd, &kind[i]);
	for (i = 0; i < sizeof more / sizeof *more && rc == 0; i++)
		(void)messages_record(rec, fd, &more[i]);
	return rc;
}

/*
 * Enter the network namespace of process pid, record its contents in rec, and
 * leave it again.
 */
static int
space_visit(struct serving *s, pid_t pid, struct filelist *rec)
{
	struct visit v;
	int fd, rc;

	if (visit_begin(&v, VISIT_NET, pid) == -1)
		return -1;
	fd = netlink_socket(NETLINK_ROUTE);
	rc = network_record(rec, fd);
	if (rc == 0)
		netconf_record(rec);
	if (rc == 0)
		rc = netfilter_record(rec);
	if (visit_end(&v) == -1)
		s->last = true;
	else if (rc == 0)
		netpeers_record(rec, fd);
	fd_drop(fd);
	return rc;
}

/*
 * In the proxy, answer with the contents of the network namespace of a process
 * (snap-linux(6), net). The argument is the pid of the process. Return 0, or -1
 * with errstr set.
 */
int
netspace_serve(struct serving *s)
{
	struct filelist own = { 0 };
	pid_t pid;
	int rc;

	memcpy(&pid, s->arg, sizeof pid);
	rc = space_visit(s, pid, &own);
	if (rc == 0)
		rc = serve_files(s, &own);
	filelist_free(&own);
	return rc;
}
