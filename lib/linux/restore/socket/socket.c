/*
 * Record sockets: choose the function for the family, and find out whether the
 * socket may be duplicated.
 */
#include "sockets.h"
#include "bisect.h"

#include <unistd.h>

/*
 * Return true if sockets of process p must not be duplicated, because p is in a
 * different network class from ours (cgroups v1, net_cls and net_prio).
 * Receiving a socket moves it into the class of the receiver. set has the
 * descriptors of p. Return false if there is no socket among them.
 */
bool
sockets_tagged(const struct lproc *p, const struct fdset *set)
{
	const pid_t pid[2] = { p->mmtid, getpid() };
	char line[2][512] = { "", "" };
	struct scan text, l;
	struct bytes b;
	size_t i;

	if (SEEK(set->v, set->n, S_ISSOCK(x->mode)) == NULL)
		return false;
	for (i = 0; i < 2; i++) {
		if (proc_read(pid[i], 0, "cgroup", &b) == -1)
			continue;
		for (text = scan_begin(b.data, b.len); scan_line(&text, &l);)
			if (memmem(l.s, scan_len(&l), ":net_", 5) != NULL ||
			    memmem(l.s, scan_len(&l), ",net_", 5) != NULL)
				snprintf(line[i], sizeof line[i], "%.*s",
				    (int)scan_len(&l), l.s);
		free(b.data);
	}
	return strcmp(line[0], line[1]) != 0;
}

/*
 * Record t, an internet socket. The proxy does this.
 */
static void
internet_record(struct filerec *t)
{
	inetsock_record(t);
	tcpstate_record(t);
}

/*
 * Record t, a socket of any family. If that must be done in the proxy, set
 * t->proxyrec to the function that does it there.
 */
void
socket_record(struct filerec *t)
{
	int domain = AF_UNSPEC;

	if (filerec_dup(t))
		(void)sock_get(t->dup, SOL_SOCKET, SO_DOMAIN, &domain,
		    sizeof domain);
	switch (domain) {
	case AF_UNIX:
		unixsock_record(t);
		return;
	case AF_INET:
	case AF_INET6:
		t->held = tcphold_has(t->live->files, t->ino);
		t->proxyrec = internet_record;
		return;
	case AF_NETLINK:
		t->proxyrec = netlink_record;
		return;
	case AF_PACKET:
		t->proxyrec = packetsock_record;
		return;
	}
	filerec_type(t, "other");
	tell_why(t, "a socket of family %d", domain);
}

/*
 * Free the sockets and network namespaces that f has recorded.
 */
void
sockets_free(struct files *f)
{
	struct netspace *s;

	while ((s = f->net) != NULL) {
		f->net = s->next;
		fd_drop(s->diag);
		while (s->n > 0)
			free(s->v[--s->n].caller);
		free(s->v);
		free(s->why);
		free(s->group);
		free(s->held);
		free(s);
	}
	freshsocks_free(f);
	passed_free(f);
}
