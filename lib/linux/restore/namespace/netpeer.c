/*
 * Record the peers of veth(4) links of a network namespace, if they are in our
 * own: the name of the peer, and of the bridge that it is attached to.
 */
#include "spaces.h"

#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <fcntl.h>
#include <unistd.h>

static bool
attribute_number(struct attributes a, unsigned int type, unsigned int *v)
{
	return attribute_copy(a, type, v, sizeof *v);
}

static int
number_take(void *arg, const struct netmessage *m)
{
	struct rtgenmsg body;
	struct attributes a;
	unsigned int *id = arg;

	if (m->type != RTM_NEWNSID || !netmessage_body(m, &body, sizeof body,
	    &a) || !attribute_number(a, NETNSA_NSID, id))
		*id = UINT32_MAX;
	return 0;
}

/*
 * Set *id to the number (nsid) by which the network namespace of socket fd
 * refers to another namespace, which is open as ns. Return false if there is no
 * such number.
 */
static bool
space_number(int fd, int ns, unsigned int *id)
{
	const struct {
		struct rtgenmsg	 body;
		uint8_t		 fill[3];
		struct rtattr	 attribute;
		int		 ns;
	} body = { .attribute = { .rta_len = RTA_LENGTH(sizeof ns),
	    .rta_type = NETNSA_FD }, .ns = ns };
	const struct netrequest q = { RTM_GETNSID, 0, &body, sizeof body };

	*id = UINT32_MAX;
	return netlink_ask(fd, &q, number_take, id) == 0 && *id != UINT32_MAX;
}

static int
bridge_take(void *arg, const struct netmessage *m)
{
	struct attributes a, info, kind;
	struct ifinfomsg body;
	unsigned int *master = arg;

	if (m->type != RTM_NEWLINK ||
	    !netmessage_body(m, &body, sizeof body, &a) ||
	    !attribute_get(a, IFLA_LINKINFO, &info) ||
	    !attribute_get(info, IFLA_INFO_SLAVE_KIND, &kind) ||
	    kind.len != sizeof "bridge" ||
	    memcmp(kind.p, "bridge", kind.len) != 0 ||
	    !attribute_number(a, IFLA_MASTER, master))
		*master = 0;
	return 0;
}

/*
 * Set name to the bridge that the link with number index is attached to, or to
 * "" if there is no bridge. The link and socket fd are in our namespace.
 */
static void
bridge_find(int fd, unsigned int index, char name[IF_NAMESIZE])
{
	const struct ifinfomsg body = { .ifi_index = (int)index };
	const struct netrequest q = { RTM_GETLINK, 0, &body, sizeof body };
	unsigned int master = 0;

	if (netlink_ask(fd, &q, bridge_take, &master) == -1 || master == 0 ||
	    if_indextoname(master, name) == NULL)
		*name = '\0';
}

/*
 * If the peer of the link that m describes is in our network namespace, append
 * a line to b: the names of the link, of its peer, and of the bridge that the
 * peer is attached to, if any. id is the number (nsid) by which the namespace
 * of the link refers to ours. fd is an rtnetlink socket in our namespace.
 */
static void
peer_add(struct buf *b, const struct netmessage *m, unsigned int id, int fd)
{
	char other[IF_NAMESIZE], bridge[IF_NAMESIZE];
	struct attributes a, name;
	struct ifinfomsg body;
	unsigned int ns, index;

	if (!netmessage_body(m, &body, sizeof body, &a) ||
	    !attribute_get(a, IFLA_IFNAME, &name) ||
	    !attribute_number(a, IFLA_LINK_NETNSID, &ns) || ns != id ||
	    !attribute_number(a, IFLA_LINK, &index) ||
	    if_indextoname(index, other) == NULL)
		return;
	bridge_find(fd, index, bridge);
	buf_printf(b, "%.*s %s%s%s\n", (int)name.len, (const char *)name.p,
	    other, *bridge == '\0' ? "" : " ", bridge);
}

/*
 * Add to rec the peers of the links that the file net/links in rec lists. fd is
 * an rtnetlink(7) socket in the namespace of the links. This thread must be in
 * our own namespace.
 */
void
netpeers_record(struct filelist *rec, int fd)
{
	const struct file *f = filelist_find(rec, "net/links");
	struct attributes in;
	struct buf b = { 0 };
	struct netmessage m;
	unsigned int id;
	int here, own;

	if (f == NULL)
		return;
	own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	here = netlink_socket(NETLINK_ROUTE);
	if (own != -1 && here != -1 && space_number(fd, own, &id)) {
		in = (struct attributes){ f->data, f->len };
		while (netmessage_next(&in, &m))
			peer_add(&b, &m, id, here);
		if (b.len > 0)
			filelist_buf(rec, "net/peers", &b);
	}
	fd_drop(here);
	fd_drop(own);
}
