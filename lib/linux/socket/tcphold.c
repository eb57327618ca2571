/*
 * Connections of TCP that go along when their processes are moved: they are
 * locked before the first is read, by a table of nft(8) that drops all their
 * packets, so that the other end sees nothing until they are restored.
 *
 * The table has the name by which criu removes it when it restores them in the
 * same network namespace (nftables_get_table of its netfilter.c), and lets
 * through what criu itself sends, which has a mark (soccr/soccr.h).
 */
#include "tcphold.h"
#include "vec.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRIU_MARK "0xc114"

struct elements {		/* of the two sets, in nft's words */
	struct buf	 v4;
	struct buf	 v6;
};

/*
 * Add a connection to the sets, once in each direction.
 */
static void
elements_add(struct elements *e, const struct sockaddr_in6 *from,
    const struct sockaddr_in6 *to)
{
	const struct sockaddr_in6 *a[2] = { from, to };
	char text[2][INET6_ADDRSTRLEN];
	struct buf *b;
	const void *p;
	size_t i;

	b = &e->v4;
	for (i = 0; i < 2; i++) {
		if (a[i]->sin6_family == AF_INET)
			p = &((const struct sockaddr_in *)(const void *)
			    a[i])->sin_addr;
		else if (IN6_IS_ADDR_V4MAPPED(&a[i]->sin6_addr))
			p = &a[i]->sin6_addr.s6_addr[12];
		else {
			p = &a[i]->sin6_addr;
			b = &e->v6;
		}
		inet_ntop(b == &e->v6 ? AF_INET6 : AF_INET, p, text[i],
		    sizeof text[i]);
	}
	for (i = 0; i < 2; i++)
		buf_printf(b, "%s%s . %u . %s . %u", b->len > 0 ? ", " : "",
		    text[i], ntohs(a[i]->sin6_port), text[!i],
		    ntohs(a[!i]->sin6_port));
}

/*
 * Add a socket of a process, if it is a connection, to those that are held.
 */
static int
hold_add(struct tcphold *h, int pidfd, const struct fdref *r,
    struct elements *e)
{
	struct sockaddr_in6 local, remote;
	struct tcp_info info;
	struct held *v;
	socklen_t len[4];
	int fd, protocol;

	fd = (int)syscall(SYS_pidfd_getfd, pidfd, r->fd, 0);
	if (fd == -1)
		return 0;
	len[0] = len[2] = sizeof local;
	len[1] = sizeof protocol;
	len[3] = sizeof info;
	memset(&remote, 0, sizeof remote);
	if (getsockname(fd, (struct sockaddr *)&local, &len[0]) == -1 ||
	    (local.sin6_family != AF_INET && local.sin6_family != AF_INET6) ||
	    getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len[1]) ==
	    -1 || protocol != IPPROTO_TCP ||
	    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len[3]) == -1 ||
	    info.tcpi_state == TCP_LISTEN)
		goto none;
	len[2] = local.sin6_family == AF_INET ? sizeof(struct sockaddr_in) :
	    sizeof remote;
	/* one that is closed may have been a connection */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &remote, &len[2]) == -1 ||
	    remote.sin6_port == 0)
		goto none;
	if (VEC_ROOM(h->v, h->n) == -1) {
		close(fd);
		return -1;
	}
	v = &h->v[h->n++];
	v->fd = fd;
	v->ino = r->file->ino;
	len[0] = sizeof v->reuse;
	if (getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &v->reuse, &len[0]) == -1)
		v->reuse = 0;
	elements_add(e, &local, &remote);
	return 0;
none:
	close(fd);
	return 0;
}

/*
 * Have the connections of the processes in h, and their elements in e.
 */
static int
hold_gather(struct files *f, struct tcphold *h, struct elements *e)
{
	const struct fdset *set;
	const struct resource *last;
	size_t i, k;
	int pidfd, rc;

	for (rc = 0, i = 0; i < f->nset && rc == 0; i++) {
		set = &f->set[i];
		pidfd = (int)syscall(SYS_pidfd_open, set->pid, 0);
		if (pidfd == -1)
			continue;
		for (last = NULL, k = 0; k < set->n && rc == 0; k++) {
			if (!S_ISSOCK(set->v[k].mode) ||
			    set->v[k].file == last)
				continue;
			last = set->v[k].file;
			rc = hold_add(h, pidfd, &set->v[k], e);
		}
		close(pidfd);
		if (h->n > 0 && h->ns == -1)
			h->ns = proc_open(set->pid, 0, "ns/net", O_RDONLY);
	}
	return rc;
}

/*
 * Write the table to script, whose name is drawn: criu has room for so long a
 * one.
 */
static int
script_make(struct tcphold *h, const struct elements *e, struct buf *script)
{
	static const char *const hook[] = { "input", "output" };
	uint64_t draw;
	size_t i;

	if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
		return errstr_sys("getrandom");
	snprintf(h->name, sizeof h->name, "CRIU-%016jx", (uintmax_t)draw);
	buf_printf(script, "table inet %s {\n", h->name);
	for (i = 0; i < 2; i++) {
		const struct buf *b = i == 0 ? &e->v4 : &e->v6;

		buf_printf(script, "set held%d { type %s . inet_service . %s "
		    ". inet_service;", i == 0 ? 4 : 6, i == 0 ? "ipv4_addr" :
		    "ipv6_addr", i == 0 ? "ipv4_addr" : "ipv6_addr");
		if (b->len > 0) {
			buf_puts(script, " elements = { ");
			buf_add(script, b->data, b->len);
			buf_puts(script, " }");
		}
		buf_puts(script, " }\n");
	}
	for (i = 0; i < 2; i++)
		buf_printf(script, "chain %s { type filter hook %s priority "
		    "0; meta mark " CRIU_MARK " accept; "
		    "ip saddr . tcp sport . ip daddr . tcp dport @held4 drop; "
		    "ip6 saddr . tcp sport . ip6 daddr . tcp dport @held6 "
		    "drop; }\n", hook[i], hook[i]);
	buf_puts(script, "}\n");
	return 0;
}

/*
 * Lock all connections of TCP of the processes of set l, which are stopped and
 * whose descriptors were listed.  Where that cannot be done, say so: they are
 * closed then when they are restored.
 */
void
tcphold_begin(struct live *l)
{
	struct files *f = l->files;
	struct elements e = { 0 };
	struct buf script = { 0 };
	struct tcphold *h;
	int rc;

	if ((h = f->hold = calloc(1, sizeof *h)) == NULL)
		return;
	h->ns = -1;
	rc = hold_gather(f, h, &e);
	if (rc == 0 && h->n > 0) {
		rc = h->ns == -1 ? errstr_set("their network namespace cannot "
		    "be had") : script_make(h, &e, &script);
		if (rc == 0)
			rc = tcpkeep_begin(h, &script);
	}
	if (rc == -1)
		live_say(l, "connections of TCP do not go along: %s",
		    snap_errstr());
	buf_free(&e.v4);
	buf_free(&e.v6);
	buf_free(&script);
}

/*
 * Tell by which table connections are locked, in the record of a process.
 */
void
tcphold_record(const struct files *f, struct filelist *rec)
{
	if (f->hold != NULL && f->hold->pid != 0)
		filelist_text(rec, "netlock", "nft %s\n", f->hold->name);
}

/*
 * Have all connections end without a word when their last descriptor is
 * closed: their processes are about to be killed.
 */
void
tcphold_leave(struct live *l)
{
	struct tcphold *h = l->files == NULL ? NULL : l->files->hold;
	size_t i;

	for (i = 0; h != NULL && h->pid != 0 && i < h->n; i++)
		(void)repair_on(&h->v[i]);
}

/*
 * End the holding of connections.  moved: their processes were killed, and they
 * stay locked, which is said; else all is as before.
 */
void
tcphold_end(struct live *l, bool moved)
{
	struct tcphold *h = l->files == NULL ? NULL : l->files->hold;
	size_t i;

	if (h == NULL)
		return;
	l->files->hold = NULL;
	if (h->pid != 0 && moved)
		live_say(l, "connections of TCP are locked here until they are "
		    "restored here, or until \"nft delete table inet %s\"",
		    h->name);
	tcpkeep_end(h, !moved);
	for (i = 0; i < h->n; i++)
		close(h->v[i].fd);
	if (h->ns != -1)
		close(h->ns);
	free(h->v);
	free(h);
}
