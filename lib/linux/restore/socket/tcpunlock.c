/*
 * The unlocker: a proxy that locks TCP connections (tcplock.c), and unlocks
 * them when we close it or die for any reason. It holds duplicates of their
 * sockets, so that it can end TCP_REPAIR mode, which nothing else ends. It
 * also inspects the sockets, since a thread that is sending holds the lock of
 * its socket.
 */
#include "sockets.h"
#include "bisect.h"
#include "vec.h"

#include <sys/socket.h>

#include <netinet/tcp.h>

#include <fcntl.h>
#include <unistd.h>

struct lockask {		/* argument of lock_serve() */
	uint64_t	 ns;
	enum tcplocker	 by;
};

struct keptset {			/* the connections of a network
					   namespace */
	struct heldset	 set;
	struct tcplock	 lock[TCPLOCKS]; /* owned */
	int		 fd;	/* owned; descriptor of the namespace; 0: not
				   yet locked */
};

enum { UNDO_MS = 10000 };	/* limit for unlocking when we end */

static struct {
	struct keptset	*v;	/* owned */
	size_t		 n;
	bool		 leave;	/* leave the connections locked when this
				   process ends */
} unlocker;

static pid_t locker;		/* in our process: process ID of the unlocker;
				   0: it was asked nothing yet */

/*
 * Return the connections of the network namespace with inode ns, adding an
 * empty set if needed. Return NULL with errstr set on error.
 */
static struct keptset *
kept_get(uint64_t ns)
{
	struct keptset *k;

	if ((k = SEEK(unlocker.v, unlocker.n, x->set.ns == ns)) != NULL)
		return k;
	return VEC_ADD(unlocker.v, unlocker.n, (struct keptset){
	    .set.ns = ns }) == -1 ? NULL : &unlocker.v[unlocker.n - 1];
}

/*
 * Run the scripts that lock (kind 0) or unlock (kind 1) the connections of k.
 * Kill a running script when the other end of sock is closed or, if sock is -1,
 * after UNDO_MS milliseconds. Return true if all scripts succeeded.
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
			    nft : xt, k->fd, sock, sock == -1 ? UNDO_MS : -1,
			    l->script[kind].data, l->script[kind].len,
			    &out) == 0;
	}
	buf_free(&out);
	return all;
}

/*
 * End repair mode of all connections, close their sockets, and unlock them.
 * Return true if all are unlocked.
 */
static bool
all_unlock(void)
{
	struct keptset *k;
	size_t i, c;
	bool all;

	for (i = 0; i < unlocker.n; i++) {
		k = &unlocker.v[i];
		for (c = 0; c < k->set.n; c++) {
			repair_off(&k->set.v[c]);
			close(k->set.v[c].fd);
		}
		k->set.n = 0;
	}
	for (all = true, i = 0; i < unlocker.n; i++) {
		k = &unlocker.v[i];
		if (scripts_run(k, 1, -1))
			tcplock_free(k->lock);
		else
			all = false;
	}
	return all;
}

/*
 * Unlock the connections, unless they must stay locked. The unlocker calls this
 * when it ends.
 */
static void
unlocker_undo(void)
{
	if (!unlocker.leave)
		(void)all_unlock();
}

/*
 * Set *v to describe the TCP connection of the socket open as fd. Return false
 * if it is not a TCP connection.
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
	/* SO_PEERNAME may also work for a connection that has ended */
	if (sock_get(fd, SOL_SOCKET, SO_PEERNAME, &v->end[1], len) == -1 ||
	    v->end[1].sin6_port == 0)
		return false;
	if (sock_get(fd, SOL_SOCKET, SO_REUSEADDR, &v->reuse,
	    sizeof v->reuse) == -1)
		v->reuse = 0;
	return true;
}

/*
 * In the unlocker (a proxy), keep the socket of the request if it is a TCP
 * connection. The answer is a bool that says whether it is.
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
		    VEC_ADD(k->set.v, k->set.n, v) == -1)
			return -1;
		s->fd = -1;
		serve_end(unlocker_undo);
	}
	serve_put(s, &is, sizeof is);
	return 0;
}

/*
 * In the unlocker (a proxy), lock the connections of a namespace. The request
 * has a struct lockask, and a descriptor of the namespace. The answer is the
 * name of the nft table.
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
		/* if we were killed, unlocker_undo() unlocks them again */
		if (scripts_run(k, 1, s->sock))
			tcplock_free(k->lock);
		return errstr_set("cannot lock the connections: nft(8) and "
		    "iptables(8) are missing or failed");
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
 * In the unlocker (a proxy), note whether it must leave the connections locked
 * when it ends: the bool of the request says so. Return 0.
 */
static int
leave_serve(struct serving *s)
{
	memcpy(&unlocker.leave, s->arg, sizeof unlocker.leave);
	return 0;
}

/*
 * In the unlocker (a proxy), unlock all connections.
 */
static int
undo_serve(struct serving *s)
{
	(void)s;
	return all_unlock() ? 0 : errstr_set("nft(8) or iptables(8) failed");
}

/*
 * Make the unlocker (a proxy) run fn. fn gets the len bytes at arg, and a
 * duplicate of descriptor fd unless fd is -1. Store its answer at answer, which
 * has room for size bytes. Return 0, or -1 with errno and errstr set; also if
 * the unlocker that locks the connections was killed, since the one that takes
 * its place does not know them.
 */
static int
unlocker_ask(proxy_fn fn, const void *arg, size_t len, int fd, void *answer,
    size_t size)
{
	static const struct proxy_key k = { KEY_SPACE, 0,
	    "connections of TCP", PROXY_UNLOCKER };

	if (proxy_call(&k, fn, arg, len, fd, answer, size, NULL) == -1)
		return -1;
	if (locker == 0)
		locker = proxy_process(PROXY_UNLOCKER);
	if (proxy_process(PROXY_UNLOCKER) == locker)
		return 0;
	errno = EIO;
	return errstr_set("the process that unlocks them was killed");
}

/*
 * Make the unlocker (a proxy) keep a duplicate of the socket open as fd, if it
 * is a TCP connection. ns is the network namespace of the socket. Return 1 if
 * the socket is a TCP connection, 0 if not, or -1 with errstr set.
 */
int
tcpunlock_add(const struct netspace *ns, int fd)
{
	bool is = false;

	return unlocker_ask(look_serve, &ns->ino, sizeof ns->ino, fd, &is,
	    sizeof is) == -1 ? -1 : is;
}

/*
 * Make the unlocker lock the connections of ns with the given program. Return
 * 0, or -1 with errstr set and nothing locked.
 */
int
tcpunlock_lock(struct netspace *ns, enum tcplocker program)
{
	const struct lockask q = { ns->ino, program };
	int fd;

	if ((fd = proc_open(ns->first, 0, "ns/net", O_RDONLY)) == -1)
		return errstr_set("cannot open the network namespace of the "
		    "connections");
	ns->by = program;
	ns->locked = unlocker_ask(lock_serve, &q, sizeof q, fd, ns->table,
	    sizeof ns->table) != -1;
	close(fd);
	return ns->locked ? 0 : -1;
}

/*
 * Make the unlocker put all connections that it keeps into TCP_REPAIR mode:
 * their processes are about to be killed, and a connection in that mode sends
 * nothing when it ends. Return 0, or -1 with errstr set.
 */
int
tcpunlock_repair(void)
{
	return locker == 0 ? 0 : unlocker_ask(repair_serve, NULL, 0, -1, NULL,
	    0);
}

/*
 * Tell the unlocker what to do when it ends for any reason: leave the
 * connections locked if leave is set, else unlock them. Return 0, or -1 with
 * errstr set.
 */
int
tcpunlock_leave(bool leave)
{
	return locker == 0 ? 0 : unlocker_ask(leave_serve, &leave,
	    sizeof leave, -1, NULL, 0);
}

/*
 * End the unlocker if it is running. If undo is set, unlock the connections,
 * else leave them locked. Return 0, or -1 with errstr set if they may not have
 * been unlocked.
 */
int
tcpunlock_end(bool undo)
{
	/* it did not answer in time, and unlocks them now that it ends */
	const bool ends = proxy_process(PROXY_UNLOCKER) == 0;
	int rc = 0;

	if (locker != 0 && undo) {
		rc = unlocker_ask(undo_serve, NULL, 0, -1, NULL, 0);
		if (rc == -1 && ends && errno == ETIMEDOUT)
			rc = 0;
	} else if (locker != 0)
		(void)tcpunlock_leave(true);
	proxy_close(PROXY_UNLOCKER);
	locker = 0;
	return rc;
}
