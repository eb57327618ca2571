/*
 * Record the multicast groups that a socket is a member of. The kernel cannot
 * list them, so the socket is asked about each group that an interface of its
 * network namespace has joined (/proc/PID/net/igmp and igmp6).
 */
#include "sockets.h"
#include "vec.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

struct group {
	unsigned int	 link;	/* index of the interface */
	char		 name[IF_NAMESIZE];
	int		 family;
	union {
		struct in_addr	 v4;
		struct in6_addr	 v6;
	} addr;
};

/*
 * Parse line, from /proc/net/igmp. It describes an interface or, if it is
 * indented, a group of the last interface. Keep an interface in g for the next
 * calls, and add a group to l.
 */
static int
igmp_line(struct netspace *l, struct group *g, const char *line)
{
	unsigned int addr;

	if (*line != '\t' && *line != ' ') {
		if (sscanf(line, "%u %15s", &g->link, g->name) != 2)
			g->link = 0;
		return 0;
	}
	if (g->link == 0 || sscanf(line, " %8X", &addr) != 1)
		return 0;
	g->family = AF_INET;
	g->addr.v4.s_addr = addr;
	return VEC_ADD(l->group, l->ngroup, *g);
}

/*
 * Parse a line of /proc/net/igmp6, and add its group to l. The line has an
 * interface and one of its groups. g is scratch space.
 */
static int
igmp6_line(struct netspace *l, struct group *g, const char *line)
{
	char hex[33];
	unsigned int byte;
	size_t i;

	if (sscanf(line, "%u %15s %32s", &g->link, g->name, hex) != 3 ||
	    strlen(hex) != 32)
		return 0;
	g->family = AF_INET6;
	for (i = 0; i < 16; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return 0;
		g->addr.v6.s6_addr[i] = (uint8_t)byte;
	}
	return VEC_ADD(l->group, l->ngroup, *g);
}

static int
groups_read(struct netspace *l, pid_t pid, const char *name,
    int (*take)(struct netspace *, struct group *, const char *))
{
	struct group g = { 0 };
	struct bytes b;
	char *text, *line, *next;
	int rc;

	if (proc_read(pid, 0, name, &b) == -1)
		return 0;
	text = mem_dup(b.data, b.len);
	free(b.data);
	if (text == NULL)
		return -1;
	for (rc = 0, next = text; rc == 0 && (line = strsep(&next, "\n")) !=
	    NULL;)
		rc = take(l, &g, line);
	free(text);
	return rc;
}

/*
 * Return the network namespace of the process of t, after reading its multicast
 * groups. Return NULL on error.
 */
static const struct netspace *
groups_get(struct filerec *t)
{
	const pid_t pid = t->proc->mmtid;
	struct netspace *l = net_get(t->live->files, pid);

	if (l == NULL || l->have_groups)
		return l;
	l->have_groups = true;
	if (groups_read(l, pid, "net/igmp", igmp_line) == -1 ||
	    groups_read(l, pid, "net/igmp6", igmp6_line) == -1)
		t->out.failed = true;
	return l;
}

/*
 * Return true if the socket open as fd is a member of group g.
 */
static bool
is_member(int fd, const struct group *g)
{
	struct group_filter q;
	struct sockaddr_in6 *v6;
	struct sockaddr_in *v4;

	memset(&q, 0, sizeof q);
	q.gf_interface = g->link;
	q.gf_group.ss_family = (sa_family_t)g->family;
	if (g->family == AF_INET) {
		v4 = (struct sockaddr_in *)(void *)&q.gf_group;
		v4->sin_addr = g->addr.v4;
	} else {
		v6 = (struct sockaddr_in6 *)(void *)&q.gf_group;
		v6->sin6_addr = g->addr.v6;
	}
	return sock_get(fd, g->family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
	    MCAST_MSFILTER, &q, sizeof q) == 0;
}

/*
 * Append to the record of t, an internet socket, a line "group" for each
 * multicast group that the socket is a member of.
 */
void
inetgroup_record(struct filerec *t)
{
	const struct netspace *l = groups_get(t);
	const struct group *g;
	char text[INET6_ADDRSTRLEN];
	size_t i;

	for (i = 0; l != NULL && i < l->ngroup; i++) {
		g = &l->group[i];
		if (is_member(t->dup, g) && inet_ntop(g->family, &g->addr,
		    text, sizeof text) != NULL)
			buf_printf(&t->out, "group %s %s\n", text, g->name);
	}
}
