/*
 * The keeper: a proxy that locks connections (tcplock.c), and undoes that when
 * we close it, or are gone, whatever ended us.  It has duplicates of their
 * sockets, so that none is left in the state in which only TCP_REPAIR leaves
 * one; and it looks at them, for a thread that sends has the lock of its
 * socket.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/socket.h>

#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lockask {		/* to lock those of a namespace */
	uint64_t	 ns;
	enum tcplocker	 by;
};

struct keptset {			/* in the keeper: a namespace */
	struct heldset	 set;
	struct tcplock	 lock[TCPLOCKS]; /* owned */
	int		 fd;	/* owned; the namespace, if they are locked */
};

static struct {
	struct keptset	*v;	/* owned */
	size_t		 n;
} unlocker;

/*
 * Return those of a namespace, or NULL with errstr.
 */
static struct keptset *
kept_get(uint64_t ns)
{
	struct keptset *k;
	size_t i;

	for (i = 0; i < unlocker.n; i++)
		if (unlocker.v[i].set.ns == ns)
			return &unlocker.v[i];
	if (VEC_ROOM(unlocker.v, unlocker.n) == -1)
		return NULL;
	k = &unlocker.v[unlocker.n++];
	memset(k, 0, sizeof *k);
	k->set.ns = ns;
	return k;
}

/*
 * Run the scripts of one kind, to lock or to undo that, as long as somebody is
 * at the other end of sock, unless that is -1.  Return whether each did all.
 */
static bool
scripts_run(const struct keptset *k, size_t kind, int sock)
{
	static const char *const nft[] = { "nft", "-f", "-", NULL };
	const char *xt[] = { NULL, "-w", "--noflush", NULL };
	const struct tcplock *l;
	struct buf out = { 0 };
	bool all;
	size_t i;

	for (all = true, i = 0; i < TCPLOCKS; i++) {
		l = &k->lock[i];
		xt[0] = l->program;
		if (l->program != NULL)
			all &= program_run(strcmp(l->program, "nft") == 0 ?
			    nft : xt, k->fd, sock, l->script[kind].data,
			    l->script[kind].len, &out) == 0;
	}
	buf_free(&out);
	return all;
}

/*
 * Undo all when the keeper ends.
 */
static void
unlocker_undo(void)
{
	const struct keptset *k;
	size_t i, c;

	for (i = 0; i < unlocker.n; i++) {
		k = &unlocker.v[i];
		for (c = 0; c < k->set.n; c++)
			repair_off(&k->set.v[c]);
		(void)scripts_run(k, 1, -1);
	}
}

/*
 * Set *v to what the socket fd is, if it is a connection.  Return whether it
 * is.
 */
static bool
heldconn_set(struct heldconn *v, int fd)
{
	struct tcp_info info;
	socklen_t len;
	int protocol;

	memset(v, 0, sizeof *v);
	v->fd = fd;
	len = sizeof v->end[0];
	if (getsockname(fd, (struct sockaddr *)&v->end[0], &len) == -1 ||
	    (v->end[0].sin6_family != AF_INET && v->end[0].sin6_family !=
	    AF_INET6) ||
	    sock_get(fd, SOL_SOCKET, SO_PROTOCOL, &protocol,
	    sizeof protocol) == -1 || protocol != IPPROTO_TCP ||
	    sock_get(fd, IPPROTO_TCP, TCP_INFO, &info, sizeof info) == -1 ||
	    info.tcpi_state == TCP_LISTEN)
		return false;
	len = v->end[0].sin6_family == AF_INET ? sizeof(struct sockaddr_in) :
	    sizeof v->end[1];
	/* one that is closed may have been a connection */
	if (sock_get(fd, SOL_SOCKET, SO_PEERNAME, &v->end[1], len) == -1 ||
	    v->end[1].sin6_port == 0)
		return false;
	if (sock_get(fd, SOL_SOCKET, SO_REUSEADDR, &v->reuse,
	    sizeof v->reuse) == -1)
		v->reuse = 0;
	return true;
}

/*
 * Keep a socket, if it is a connection: the answer is whether it is.
 */
static int
look_serve(struct serving *s)
{
	struct keptset *k;
	struct heldconn v;
	uint64_t ns;
	bool is;

	memcpy(&ns, s->arg, sizeof ns);
	if ((is = heldconn_set(&v, s->fd))) {
		if ((k = kept_get(ns)) == NULL ||
		    VEC_ROOM(k->set.v, k->set.n) == -1)
			return -1;
		k->set.v[k->set.n++] = v;
		s->fd = -1;
		serve_end(unlocker_undo);
	}
	serve_put(s, &is, sizeof is);
	return 0;
}

/*
 * Lock the connections of a namespace, which comes with the question: the
 * answer is the name of the table of nft.
 */
static int
lock_serve(struct serving *s)
{
	char name[LOCK_NAME] = "";
	struct lockask q;
	struct keptset *k;

	memcpy(&q, s->arg, sizeof q);
	if ((k = kept_get(q.ns)) == NULL)
		return -1;
	tcplock_free(k->lock);
	if (tcplock_make(k->lock, &k->set, q.by, name) == -1)
		return -1;
	if (k->fd == 0) {
		k->fd = s->fd;
		s->fd = -1;
	}
	if (!scripts_run(k, 0, s->sock)) {
		(void)scripts_run(k, 1, s->sock);
		tcplock_free(k->lock);
		return errstr_set("nft(8) or iptables(8) is needed to lock "
		    "them, and is not there or fails");
	}
	serve_put(s, name, sizeof name);
	return 0;
}

static int
repair_serve(struct serving *s)
{
	size_t i, c;

	(void)s;
	for (i = 0; i < unlocker.n; i++)
		for (c = 0; c < unlocker.v[i].set.n; c++)
			(void)repair_on(&unlocker.v[i].set.v[c]);
	return 0;
}

/*
 * Leave all as it is when the keeper ends.
 */
static int
leave_serve(struct serving *s)
{
	(void)s;
	unlocker.n = 0;
	return 0;
}

/*
 * Have the keeper run fn with len bytes of arg and a duplicate of fd, unless
 * that is -1, and set the size bytes of answer to what it answers.  Return 0,
 * or -1 with errstr.
 */
static int
unlocker_ask(proxy_fn fn, const void *arg, size_t len, int fd, void *answer,
    size_t size)
{
	static const struct proxy_key k = { KEY_SPACE, 0,
	    "connections of TCP", PROXY_UNLOCKER };

	if (proxy_call(&k, fn, arg, len, fd, answer, size, NULL) != -1)
		return 0;
	return errno == ETIMEDOUT ? errstr_set("no answer in time") : -1;
}

/*
 * Have the keeper keep a duplicate of the socket fd, if it is a connection, of
 * a network namespace.  Return 1 if it is, 0; or -1 with errstr.
 */
int
tcpunlock_add(const struct netspace *ns, int fd)
{
	bool is = false;

	return unlocker_ask(look_serve, &ns->ino, sizeof ns->ino, fd, &is,
	    sizeof is) == -1 ? -1 : is;
}

/*
 * Lock the connections of a network namespace with by.  Return 0, or -1 with
 * errstr, where nothing is locked.
 */
int
tcpunlock_lock(struct netspace *ns, enum tcplocker by)
{
	const struct lockask q = { ns->ino, by };
	int fd;

	if ((fd = proc_open(ns->first, 0, "ns/net", O_RDONLY)) == -1)
		return errstr_set("their network namespace cannot be had");
	ns->by = by;
	ns->locked = unlocker_ask(lock_serve, &q, sizeof q, fd, ns->table,
	    sizeof ns->table) != -1;
	close(fd);
	return ns->locked ? 0 : -1;
}

/*
 * Have all connections that are kept end without a word when their last
 * descriptor is closed: their processes are about to be killed.
 */
void
tcpunlock_repair(void)
{
	if (proxy_process(PROXY_UNLOCKER) != 0)
		(void)unlocker_ask(repair_serve, NULL, 0, -1, NULL, 0);
}

/*
 * End the keeper, if there is one: have it undo all, or leave the connections
 * locked.
 */
void
tcpunlock_end(bool undo)
{
	if (proxy_process(PROXY_UNLOCKER) == 0)
		return;
	if (!undo)
		(void)unlocker_ask(leave_serve, NULL, 0, -1, NULL, 0);
	proxy_close(PROXY_UNLOCKER);
}
