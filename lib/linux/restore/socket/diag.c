/*
 * Query sock_diag(7), which describes the sockets of a network namespace, in
 * the network namespace of a process.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/sock_diag.h>

/*
 * Return the entry of f for the network namespace of process pid, adding it if
 * needed. Return NULL with errstr set on error.
 */
struct netspace *
net_get(struct files *f, pid_t pid)
{
	const uint64_t ino = ns_number(pid, "net");
	struct netspace *s, **at;

	if (ino == 0) {
		errstr_sys("its network namespace");
		return NULL;
	}
	for (at = &f->net; (s = *at) != NULL; at = &s->next)
		if (s->ino == ino)
			return s;
	if ((s = *at = mem_new(1, sizeof *s)) != NULL) {
		s->ino = ino;
		s->first = pid;
		s->diag = -1;
	}
	return s;
}

/*
 * Open a sock_diag socket in the network namespace of process pid. If that is
 * not our own, this thread enters it and comes back. Return a descriptor, or -1
 * with errstr set.
 */
int
diag_socket(pid_t pid)
{
	struct visit v;
	int fd;

	if (visit_begin(&v, VISIT_NET, pid) == -1)
		return -1;
	if ((fd = netlink_socket(NETLINK_SOCK_DIAG)) == -1)
		errstr_sys("sock_diag");
	/* if it fails: nothing in this process needs another network
	   namespace */
	(void)visit_end(&v);
	return fd;
}

/*
 * Return a sock_diag socket in the network namespace of the process of t. The
 * socket stays open until one in another namespace is requested. Return -1 with
 * errstr set on failure.
 */
static int
diag_get(struct filerec *t)
{
	struct netspace *s = net_get(t->live->files, t->proc->mmtid), *o;

	for (o = t->live->files->net; o != NULL; o = o->next)
		if (o != s) {
			fd_drop(o->diag);
			o->diag = -1;
		}
	if (s != NULL && s->diag == -1)
		s->diag = diag_socket(t->proc->mmtid);
	return s == NULL ? -1 : s->diag;
}

struct wanted {
	uint32_t	 ino;
	size_t		 place;
	struct diagreply *r;	/* borrowed */
};

static int
reply_take(void *arg, const struct netmessage *m)
{
	struct wanted *w = arg;
	const uint8_t *p = m->p + NLMSG_HDRLEN;
	const size_t n = m->len - NLMSG_HDRLEN;

	if (m->type != SOCK_DIAG_BY_FAMILY || (w->place != 0 &&
	    (n < w->place + sizeof w->ino || memcmp(p + w->place, &w->ino,
	    sizeof w->ino) != 0)))
		return 0;
	w->r->len = n < sizeof w->r->data ? n : sizeof w->r->data;
	memcpy(w->r->data, p, w->r->len);
	return 0;
}

/*
 * Send a sock_diag(7) request of n bytes in the network namespace of the
 * process of t. Set *r to the body of the answer. If place is not 0, request
 * all sockets of the protocol family, and use the answer that has the inode of
 * t at byte offset place. Return false if there is no answer.
 */
bool
diag_ask(struct filerec *t, const void *request, size_t n, size_t place,
    struct diagreply *r)
{
	const struct netrequest q = { SOCK_DIAG_BY_FAMILY,
	    place == 0 ? 0 : NLM_F_DUMP, request, n };
	struct wanted w = { (uint32_t)t->ino, place, r };
	int fd;

	r->len = 0;
	return (fd = diag_get(t)) != -1 &&
	    netlink_ask(fd, &q, reply_take, &w) == 0 && r->len > 0;
}

/*
 * Return the netlink attributes of r, which follow the first skip bytes.
 */
struct attributes
diag_attributes(const struct diagreply *r, size_t skip)
{
	skip = skip < r->len ? skip : r->len;
	return (struct attributes){ r->data + skip, r->len - skip };
}
