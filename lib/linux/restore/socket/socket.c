/*
 * Sockets: which family one is of, and whether a duplicate of it may be had.
 * UNIX sockets and those of the internet are in files of their own.
 */
#include "sockets.h"

#include <sys/time.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Set v, of len bytes, to what getsockopt(2) gives of socket fd.  Return 0, or
 * -1 with errno.
 */
int
sock_get(int fd, int level, int name, void *v, socklen_t len)
{
	return getsockopt(fd, level, name, v, &len);
}

/*
 * Return a number that getsockopt(2) gives, or 0.
 */
static int
option(const struct telling *t, int name)
{
	int v;

	return sock_get(t->dup, SOL_SOCKET, name, &v, sizeof v) == -1 ? 0 : v;
}

/*
 * Return the same of a time, in microseconds.
 */
static intmax_t
option_time(const struct telling *t, int name)
{
	struct timeval v;

	return sock_get(t->dup, SOL_SOCKET, name, &v, sizeof v) == -1 ? 0 :
	    (intmax_t)v.tv_sec * 1000000 + v.tv_usec;
}

/*
 * Tell the options of t that sockets of all families have: socket(7).
 */
void
tell_sockopts(struct telling *t)
{
	intmax_t snd, rcv;

	buf_printf(&t->out, "options %d %d %x\n", option(t, SO_SNDBUF),
	    option(t, SO_RCVBUF), (option(t, SO_PASSCRED) != 0) |
	    (option(t, SO_PASSSEC) != 0) << 1);
	snd = option_time(t, SO_SNDTIMEO);
	rcv = option_time(t, SO_RCVTIMEO);
	if (snd != 0 || rcv != 0)
		buf_printf(&t->out, "timeouts %jd %jd\n", snd, rcv);
}

static bool
set_hassocket(const struct fdset *set)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (S_ISSOCK(set->v[i].mode))
			return true;
	return false;
}

/*
 * Return true if duplicates of the sockets of process p, with descriptors set,
 * must not be had.  To receive a socket puts it into the network class of who
 * receives it (cgroups v1, net_cls and net_prio), which therefore must be the
 * same as ours.
 */
bool
sockets_tagged(const struct lproc *p, const struct fdset *set)
{
	static const char *const key[] = { ":net_", ",net_" };
	struct bytes b;
	char line[2][512];
	const char *s, *end, *nl;
	pid_t pid[2];
	size_t i, k;

	if (!set_hassocket(set))
		return false;
	pid[0] = p->mmtid;
	pid[1] = getpid();
	memset(line, 0, sizeof line);
	for (i = 0; i < 2; i++) {
		if (proc_read(pid[i], 0, "cgroup", &b) == -1)
			continue;
		s = (const char *)b.data;
		for (end = s + b.len; s < end; s = nl + 1) {
			if ((nl = memchr(s, '\n', (size_t)(end - s))) == NULL)
				break;
			for (k = 0; k < 2; k++)
				if (memmem(s, (size_t)(nl - s), key[k],
				    strlen(key[k])) != NULL)
					snprintf(line[i], sizeof line[i],
					    "%.*s", (int)(nl - s), s);
		}
		free(b.data);
	}
	return strcmp(line[0], line[1]) != 0;
}

/*
 * Tell of t, a socket, of whatever family it is.
 */
void
socket_tell(struct telling *t)
{
	int domain;

	domain = tell_dup(t) ? option(t, SO_DOMAIN) : AF_UNSPEC;
	switch (domain) {
	case AF_UNIX:
		unixsock_tell(t);
		return;
	case AF_INET:
	case AF_INET6:
		t->held = tcphold_has(t->live->files, t->ino);
		t->aside = inetsock_tell;
		return;
	case AF_NETLINK:
		t->aside = netlink_tell;
		return;
	case AF_PACKET:
		t->aside = packetsock_tell;
		return;
	}
	tell_type(t, "other");
	tell_why(t, "a socket of family %d", domain);
}

/*
 * Free what was learned of sockets, of all that f tells of.
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
	twins_free(f);
	passed_free(f);
}
