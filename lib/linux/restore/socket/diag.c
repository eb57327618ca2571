/*
 * sock_diag(7), which tells of the sockets of a network namespace, asked in
 * that of a process.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include <string.h>

/*
 * Return what f keeps of the network namespace of process pid, or NULL with
 * errstr.
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
 * Make a netlink socket in the network namespace of process pid, where this
 * thread goes for a moment if it is another than its own.  Return a
 * descriptor, or -1 with errstr.
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
	/* where this fails, nothing here needs another network */
	(void)visit_end(&v);
	return fd;
}

/*
 * Return a socket in the network namespace of a process, which is kept until
 * another one is asked for; -1 with errstr.
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
 * Send a request of sock_diag(7), of n bytes, in the namespace of t, and set *r
 * to what the answer has behind its head.  If place is not 0, all sockets of a
 * kind are asked for, and *r is the one that has the inode of t at that place.
 * Return false where there is none.
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
 * Return the attributes of answer r, behind skip bytes of it.
 */
struct attributes
diag_attributes(const struct diagreply *r, size_t skip)
{
	skip = skip < r->len ? skip : r->len;
	return (struct attributes){ r->data + skip, r->len - skip };
}
