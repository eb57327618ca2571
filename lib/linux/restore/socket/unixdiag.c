/*
 * Get the UNIX sockets of a network namespace from sock_diag(7). All are
 * requested at once, when the first is looked up.
 */
#include "bisect.h"
#include "sockets.h"
#include "vec.h"

#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>

#include <unistd.h>

CMP(unixsock_cmp, struct unixsock, ino)

/*
 * Set those members of u that the netlink attributes a describe.
 */
static void
attributes_take(struct unixsock *u, struct attributes a)
{
	struct unix_diag_rqlen q;
	struct attributes v;
	uint32_t peer;
	uint8_t shutdown;

	if (attribute_copy(a, UNIX_DIAG_PEER, &peer, sizeof peer))
		u->peer = peer;
	if (attribute_copy(a, UNIX_DIAG_SHUTDOWN, &shutdown, 1))
		u->shutdown = shutdown;
	if (attribute_get(a, UNIX_DIAG_ICONS, &v) &&
	    (u->caller = malloc(v.len + 1)) != NULL) {
		u->ncaller = v.len / sizeof *u->caller;
		memcpy(u->caller, v.p, u->ncaller * sizeof *u->caller);
	}
	if (u->state == TCP_LISTEN && attribute_copy(a, UNIX_DIAG_RQLEN, &q,
	    sizeof q)) {
		u->waiting = q.udiag_rqueue;
		u->backlog = q.udiag_wqueue;
	}
}

/*
 * Add the UNIX socket in message m to the namespace arg.
 */
static int
socket_add(void *arg, const struct netmessage *m)
{
	struct netspace *l = arg;
	struct unix_diag_msg d;
	struct attributes a;

	if (m->type != SOCK_DIAG_BY_FAMILY ||
	    !netmessage_body(m, &d, sizeof d, &a))
		return 0;
	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	l->v[l->n] = (struct unixsock){ .ino = d.udiag_ino,
	    .type = d.udiag_type, .state = d.udiag_state };
	attributes_take(&l->v[l->n++], a);
	return 0;
}

/*
 * Read all UNIX sockets of network namespace l from sock_diag(7). Process pid
 * is in that namespace.
 */
static int
diag_read(struct netspace *l, pid_t pid)
{
	const struct unix_diag_req req = { .sdiag_family = AF_UNIX,
	    .udiag_states = UINT32_MAX, .udiag_show = UDIAG_SHOW_PEER |
	    UDIAG_SHOW_RQLEN | UDIAG_SHOW_ICONS };
	const struct netrequest q = { SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req,
	    sizeof req };
	int fd, rc;

	l->have_unix = true;
	if ((fd = diag_socket(pid)) == -1)
		return -1;
	rc = netlink_ask(fd, &q, socket_add, l);
	SORT(l->v, l->n, unixsock_cmp);
	close(fd);
	return rc;
}

/*
 * Return the entry of UNIX socket t in the answer of sock_diag(7), or NULL with
 * errstr set.
 */
const struct unixsock *
unixdiag_find(struct filerec *t)
{
	struct netspace *l = net_get(t->live->files, t->proc->mmtid);
	const struct unixsock *u;

	if (l == NULL)
		return NULL;
	if (!l->have_unix && diag_read(l, t->proc->mmtid) == -1)
		l->why = strdup(snap_errstr());
	if (l->why != NULL) {
		errstr_set("%s", l->why);
		return NULL;
	}
	if ((u = FIND(l->v, l->n, ino, t->ino)) == NULL)
		errstr_set("it is in a different network namespace from "
		    "its process");
	return u;
}
