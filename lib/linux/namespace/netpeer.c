/*
 * Where links of a network namespace lead that are one end of a pair, veth(4):
 * to what link where we are, and in which bridge that is.
 */
#include "spaces.h"

#include <sys/socket.h>

#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER = 32768 };

static bool
attribute_number(struct attributes a, unsigned int type, unsigned int *v)
{
	return attribute_copy(a, type, v, sizeof *v);
}

/*
 * Send a request to socket fd and set *a to the attributes of the answer, which
 * has a body of so many bytes.  Return false if it is none of a type.
 */
static bool
answer_get(int fd, const void *request, size_t len, uint16_t type,
    size_t body, uint8_t answer[ANSWER], struct attributes *a)
{
	struct nlmsghdr h;
	ssize_t n;

	n = send(fd, request, len, 0) == -1 ? -1 : recv(fd, answer, ANSWER, 0);
	if (n < (ssize_t)sizeof h)
		return false;
	memcpy(&h, answer, sizeof h);
	if (h.nlmsg_type != type || h.nlmsg_len > (size_t)n ||
	    h.nlmsg_len < NLMSG_LENGTH(body))
		return false;
	a->p = answer + NLMSG_SPACE(body);
	a->len = h.nlmsg_len < NLMSG_SPACE(body) ? 0 :
	    h.nlmsg_len - NLMSG_SPACE(body);
	return true;
}

/*
 * Set *id to the number by which a namespace, which is open as ns, is known in
 * that of socket fd.  Return false if it has none.
 */
static bool
space_number(int fd, int ns, unsigned int *id)
{
	struct {
		struct nlmsghdr	 head;
		struct rtgenmsg	 body;
		uint8_t		 fill[3];
		struct rtattr	 attribute;
		int		 ns;
	} q = { .head = { .nlmsg_len = sizeof q, .nlmsg_type = RTM_GETNSID,
	    .nlmsg_flags = NLM_F_REQUEST }, .attribute = {
	    .rta_len = RTA_LENGTH(sizeof q.ns), .rta_type = NETNSA_FD },
	    .ns = ns };
	uint8_t answer[ANSWER];
	struct attributes a;

	return answer_get(fd, &q, sizeof q, RTM_NEWNSID, sizeof q.body,
	    answer, &a) && attribute_number(a, NETNSA_NSID, id) &&
	    *id != UINT32_MAX;
}

/*
 * Set name to that of the bridge that the link of an index is in, where socket
 * fd is and we are; it is empty if there is none.
 */
static void
bridge_find(int fd, unsigned int index, char name[IF_NAMESIZE])
{
	struct {
		struct nlmsghdr	 head;
		struct ifinfomsg body;
	} q = { .head = { .nlmsg_len = sizeof q, .nlmsg_type = RTM_GETLINK,
	    .nlmsg_flags = NLM_F_REQUEST }, .body = {
	    .ifi_index = (int)index } };
	uint8_t answer[ANSWER];
	struct attributes a, info, kind;
	unsigned int master;

	*name = '\0';
	if (answer_get(fd, &q, sizeof q, RTM_NEWLINK, sizeof q.body, answer,
	    &a) && attribute_number(a, IFLA_MASTER, &master) &&
	    attribute_get(a, IFLA_LINKINFO, &info) &&
	    attribute_get(info, IFLA_INFO_SLAVE_KIND, &kind) &&
	    kind.len == sizeof "bridge" &&
	    memcmp(kind.p, "bridge", kind.len) == 0 &&
	    if_indextoname(master, name) == NULL)
		*name = '\0';
}

/*
 * Add to b where a link leads, a message of rtnetlink, if that is our
 * namespace, which has the number id there.  here is a socket in ours.
 */
static void
peer_add(struct buf *b, const struct nlmsghdr *h, const uint8_t *p,
    unsigned int id, int here)
{
	char other[IF_NAMESIZE], bridge[IF_NAMESIZE];
	struct attributes a, name;
	unsigned int ns, index;

	if (h->nlmsg_len < NLMSG_SPACE(sizeof(struct ifinfomsg)))
		return;
	a.p = p + NLMSG_SPACE(sizeof(struct ifinfomsg));
	a.len = h->nlmsg_len - NLMSG_SPACE(sizeof(struct ifinfomsg));
	if (!attribute_get(a, IFLA_IFNAME, &name) ||
	    !attribute_number(a, IFLA_LINK_NETNSID, &ns) || ns != id ||
	    !attribute_number(a, IFLA_LINK, &index) ||
	    if_indextoname(index, other) == NULL)
		return;
	bridge_find(here, index, bridge);
	buf_printf(b, "%.*s %s%s%s\n", (int)name.len, (const char *)name.p,
	    other, *bridge == '\0' ? "" : " ", bridge);
}

/*
 * Record in to where links lead that net/links tells of.  there is a socket of
 * rtnetlink(7) in their namespace; this thread is in ours.
 */
void
netpeers_record(struct filelist *to, int there)
{
	const struct file *f = filelist_find(to, "net/links");
	struct buf b = { 0 };
	struct nlmsghdr h;
	unsigned int id;
	size_t at, len;
	int here, own;

	if (f == NULL)
		return;
	own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	here = netlink_socket(NETLINK_ROUTE);
	if (own == -1 || here == -1 || !space_number(there, own, &id))
		goto out;
	for (at = 0; f->len - at >= sizeof h; at += len) {
		memcpy(&h, f->data + at, sizeof h);
		len = NLMSG_ALIGN(h.nlmsg_len);
		if (h.nlmsg_len < sizeof h || len > f->len - at)
			break;
		peer_add(&b, &h, f->data + at, id, here);
	}
	if (b.len > 0)
		filelist_buf(to, "net/peers", &b);
out:
	if (here != -1)
		close(here);
	if (own != -1)
		close(own);
}
