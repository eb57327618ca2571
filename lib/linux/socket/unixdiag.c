/*
 * What sock_diag(7) tells of the UNIX sockets of a network namespace: all of
 * them are asked for at once, when the first is looked up.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
unixsock_cmp(const void *a, const void *b)
{
	const struct unixsock *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int
diag_ask(int fd)
{
	struct {
		struct nlmsghdr hdr;
		struct unix_diag_req req;
	} q;

	memset(&q, 0, sizeof q);
	q.hdr.nlmsg_len = sizeof q;
	q.hdr.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	q.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	q.req.sdiag_family = AF_UNIX;
	q.req.udiag_states = UINT32_MAX;
	q.req.udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN |
	    UDIAG_SHOW_ICONS;
	return send(fd, &q, sizeof q, 0) == -1 ? errstr_sys("sock_diag") : 0;
}

/*
 * Take what an attribute of n bytes tells of a socket.
 */
static void
diag_attr(struct unixsock *u, unsigned int type, const uint8_t *p, size_t n)
{
	struct unix_diag_rqlen q;
	uint32_t peer;

	if (type == UNIX_DIAG_PEER && n >= sizeof peer) {
		memcpy(&peer, p, sizeof peer);
		u->peer = peer;
	} else if (type == UNIX_DIAG_SHUTDOWN && n > 0)
		u->shutdown = *p;
	else if (type == UNIX_DIAG_ICONS && u->caller == NULL &&
	    (u->caller = malloc(n + 1)) != NULL) {
		u->ncaller = n / sizeof *u->caller;
		memcpy(u->caller, p, u->ncaller * sizeof *u->caller);
	}
	else if (type == UNIX_DIAG_RQLEN && u->state == TCP_LISTEN &&
	    n >= sizeof q) {
		memcpy(&q, p, sizeof q);
		u->waiting = q.udiag_rqueue;
		u->backlog = q.udiag_wqueue;
	}
}

/*
 * Add a socket that the answer has, of n bytes: struct unix_diag_msg and
 * attributes, as in rtnetlink(7).  What is cut short ends it.
 */
static int
diag_add(struct unixsocks *l, const uint8_t *p, size_t n)
{
	struct unix_diag_msg m;
	struct unixsock *u;
	struct rtattr a;

	if (n < sizeof m)
		return 0;
	memcpy(&m, p, sizeof m);
	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	u = &l->v[l->n++];
	memset(u, 0, sizeof *u);
	u->ino = m.udiag_ino;
	u->type = m.udiag_type;
	u->state = m.udiag_state;
	for (p += sizeof m, n -= sizeof m; n >= sizeof a;) {
		memcpy(&a, p, sizeof a);
		if (a.rta_len < sizeof a || a.rta_len > n)
			break;
		diag_attr(u, a.rta_type, p + sizeof a, a.rta_len - sizeof a);
		if (RTA_ALIGN(a.rta_len) >= n)
			break;
		p += RTA_ALIGN(a.rta_len);
		n -= RTA_ALIGN(a.rta_len);
	}
	return 0;
}

/*
 * Take in the messages of a packet of n bytes.  Return 1 when all has come, 0,
 * or -1 with errstr.
 */
static int
diag_parse(struct unixsocks *l, const uint8_t *p, size_t n)
{
	struct nlmsghdr h;
	int error;

	while (n >= sizeof h) {
		memcpy(&h, p, sizeof h);
		if (h.nlmsg_len < sizeof h || h.nlmsg_len > n)
			break;
		if (h.nlmsg_type == NLMSG_DONE)
			return 1;
		if (h.nlmsg_type == NLMSG_ERROR) {
			error = 0;
			if (h.nlmsg_len >= sizeof h + sizeof error)
				memcpy(&error, p + sizeof h, sizeof error);
			errno = -error;
			return errstr_sys("sock_diag");
		}
		if (h.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
		    diag_add(l, p + sizeof h, h.nlmsg_len - sizeof h) == -1)
			return -1;
		if (NLMSG_ALIGN(h.nlmsg_len) >= n)
			break;
		p += NLMSG_ALIGN(h.nlmsg_len);
		n -= NLMSG_ALIGN(h.nlmsg_len);
	}
	return 0;
}

static int
diag_read(struct unixsocks *l, int ns)
{
	enum { PACKET = 65536 };
	uint8_t *buf;
	ssize_t n;
	int fd, rc;

	rc = -1;
	if ((buf = malloc(PACKET)) == NULL)
		return errstr_set("out of memory");
	if ((fd = diag_socket(ns)) == -1 || diag_ask(fd) == -1)
		goto out;
	for (rc = 0; rc == 0;) {
		n = recv(fd, buf, PACKET, 0);
		if (n == -1 && errno == EINTR)
			continue;
		rc = n == -1 ? errstr_sys("sock_diag") :
		    diag_parse(l, buf, (size_t)n);
	}
	if (l->n > 1)
		qsort(l->v, l->n, sizeof *l->v, unixsock_cmp);
out:
	if (fd != -1)
		close(fd);
	free(buf);
	return rc == -1 ? -1 : 0;
}

/*
 * Return the sockets of the network namespace that a process is in, or NULL
 * with errstr.
 */
static struct unixsocks *
diag_namespace(struct telling *t)
{
	struct files *f = t->live->files;
	struct unixsocks *l;
	struct stat st;
	size_t i;
	int ns;

	ns = proc_open(t->proc->mmtid, 0, "ns/net", O_RDONLY);
	if (ns == -1 || fstat(ns, &st) == -1) {
		errstr_sys("its network namespace");
		if (ns != -1)
			close(ns);
		return NULL;
	}
	for (i = 0; i < f->nnet; i++)
		if (f->net[i].ns == st.st_ino) {
			close(ns);
			return &f->net[i];
		}
	if (VEC_ROOM(f->net, f->nnet) == -1) {
		close(ns);
		return NULL;
	}
	l = &f->net[f->nnet++];
	memset(l, 0, sizeof *l);
	l->ns = st.st_ino;
	if (diag_read(l, ns) == -1)
		l->why = strdup(snap_errstr());
	close(ns);
	return l;
}

/*
 * Return what is known of t, a UNIX socket, or NULL with errstr where nothing
 * is.
 */
const struct unixsock *
unixdiag_find(struct telling *t)
{
	const struct unixsock key = { .ino = t->ino }, *u;
	struct unixsocks *l;

	if ((l = diag_namespace(t)) == NULL)
		return NULL;
	if (l->why != NULL) {
		errstr_set("%s", l->why);
		return NULL;
	}
	u = l->n == 0 ? NULL : bsearch(&key, l->v, l->n, sizeof key,
	    unixsock_cmp);
	if (u == NULL)
		errstr_set("it is not of the network namespace of its "
		    "process");
	return u;
}

/*
 * Free what f knows of UNIX sockets.
 */
void
unixdiag_free(struct files *f)
{
	size_t i, k;

	for (i = 0; i < f->nnet; i++) {
		for (k = 0; k < f->net[i].n; k++)
			free(f->net[i].v[k].caller);
		free(f->net[i].v);
		free(f->net[i].why);
	}
	free(f->net);
}
