/*
 * Write the links of the network namespace that criu creates as netdev-N.img,
 * and add options for links to other namespaces to criu's command line.
 */
#include "netspace.h"
#include "bisect.h"
#include "num.h"

enum {				/* values from linux/if_link.h and
				   linux/if_arp.h */
	IFLA_ADDRESS = 1, IFLA_IFNAME = 3, IFLA_MTU = 4, IFLA_LINK = 5,
	IFLA_MASTER = 10, IFLA_LINKINFO = 18, IFLA_LINK_NETNSID = 37,
	IFLA_INFO_KIND = 1,
	LOOPBACK = 772,
	LINK_BODY = 16
};

/* of netdev.proto */
enum { TYPE_LOOPBACK = 1, TYPE_VETH = 2, TYPE_BRIDGE = 6 };

/*
 * Set *l to the next link in f, the file net/links of a record, and advance f
 * past that link. Return false if there is none.
 */
bool
link_next(struct recfile *f, struct link *l)
{
	const uint8_t *info;
	size_t n;

	if (!message_next(f, LINK_BODY, &l->message))
		return false;
	l->index = (uint32_t)num_get(l->message.body + 4, 4);
	l->flags = (uint32_t)num_get(l->message.body + 8, 4);
	attribute_text(l->message.attributes, l->message.len, IFLA_IFNAME,
	    l->name, sizeof l->name);
	info = attribute_find(l->message.attributes, l->message.len,
	    IFLA_LINKINFO, &n);
	*l->kind = '\0';
	if (info != NULL)
		attribute_text(info, n, IFLA_INFO_KIND, l->kind,
		    sizeof l->kind);
	l->type = num_get(l->message.body + 2, 2) == LOOPBACK ?
	    TYPE_LOOPBACK : strcmp(l->kind, "veth") == 0 ? TYPE_VETH :
	    strcmp(l->kind, "bridge") == 0 ? TYPE_BRIDGE : 0;
	return true;
}

/*
 * Return true if l is a link that a loaded module creates in every new
 * namespace. We leave out such links, as criu does.
 */
static bool
link_isgiven(const struct link *l)
{
	static const char *const name[] = { "sit0", "gre0", "gretap0",
	    "erspan0", "tunl0", "ip6tnl0", "ip_vti0", "ip6_vti0", "ip6gre0" };

	return (l->flags & 1) == 0 &&	/* IFF_UP is not set */
	    SEEK_IN(name, strcmp(l->name, *x) == 0) != NULL;
}

/*
 * Return true if l is a veth link whose peer is in another namespace.
 */
static bool
link_leaves(const struct link *l)
{
	uint32_t ns;

	return l->type == TYPE_VETH &&
	    message_number(&l->message, IFLA_LINK_NETNSID, &ns);
}

/*
 * If the peer of link l was in snap's namespace, add an option for l to criu's
 * command line. The option names the peer and the bridge of the peer; peers has
 * these names. If the peer has no bridge, record a note that the restored peer
 * has no address and is not up.
 */
static int
peer_report(struct criumake *m, const struct settings *peers,
    const struct link *l)
{
	const char *other = setting_find(peers, l->name);
	char text[64];
	char *bridge;

	if (other == NULL)
		return 0;
	snprintf(text, sizeof text, "veth[%s]:%s", l->name, other);
	if ((bridge = strchr(text, ' ')) != NULL)
		*bridge = '@';
	make_word(m, "--external", text);
	return bridge != NULL ? 0 : make_note(m, m->root, NULL, "link %s of "
	    "its net namespace is restored with peer %s, which has no address "
	    "and is not up", l->name, strchr(text, ':') + 1);
}

/*
 * Record a reason for each link in t's record that criu cannot create. Set *all
 * to true if criu can create all links, otherwise to false. Return 0, or -1
 * with errstr set.
 */
int
netlinks_check(struct criumake *m, const struct maketask *t, bool *all)
{
	struct settings peers;
	struct recfile f;
	struct link l;
	int rc;

	*all = true;
	if (!linuxrec_find(&t->rec, "net/links", &f))
		return 0;
	rc = settings_read(&peers, &m->pool, t, "net/peers");
	while (rc == 0 && link_next(&f, &l)) {
		if (link_isgiven(&l) || (l.type != 0 && (!link_leaves(&l) ||
		    setting_find(&peers, l.name) != NULL)))
			continue;
		*all = false;
		rc = make_refuse(m, m->root, NULL, WHY_NAMESPACES, "its net "
		    "namespace: link %s%s%s", l.name, l.type != 0 ?
		    " has its peer in another namespace" : *l.kind == '\0' ?
		    "" : " is of kind ", l.type != 0 ? "" : l.kind);
	}
	return rc;
}

/*
 * Append link l, with its settings from s, to b, the content of netdev-N.img.
 */
static int
link_write(struct criumake *m, struct buf *b, const struct link *l,
    const struct settings *s)
{
	const struct message *msg = &l->message;
	Criu__NetDevice e = CRIU__NET_DEVICE__INIT;
	char name[sizeof l->name];
	size_t n;
	int rc;

	memcpy(name, l->name, sizeof name);
	e.type = l->type;
	e.ifindex = l->index;
	e.flags = l->flags;
	e.name = name;
	(void)message_number(msg, IFLA_MTU, &e.mtu);
	e.has_master = message_number(msg, IFLA_MASTER, &e.master);
	e.has_peer_ifindex = true;
	e.has_peer_nsid = !link_leaves(l);
	e.peer_nsid = MADE_NET;
	if (!message_number(msg, IFLA_LINK, &e.peer_ifindex))
		e.peer_ifindex = l->index;
	e.address.data = (uint8_t *)(uintptr_t)attribute_find(msg->attributes,
	    msg->len, IFLA_ADDRESS, &n);
	e.has_address = e.address.data != NULL && l->type != TYPE_LOOPBACK;
	if (e.has_address)
		e.address.len = n;
	rc = sysctls_conf(m, &e.base, offsetof(Criu__NetDevice, conf4), s, 4,
	    l->name);
	if (rc == 0)
		rc = sysctls_conf(m, &e.base, offsetof(Criu__NetDevice,
		    conf6), s, 6, l->name);
	if (rc == 0)
		criuimg_add(b, &e.base);
	pool_free(&m->msgs);
	return rc;
}

/*
 * Write netdev-N.img with all links of a type that criu can create, and with
 * their settings from s. Return 0, or -1 with errstr set.
 */
int
netlinks_write(struct criumake *m, const struct settings *s)
{
	struct settings peers;
	struct recfile f;
	struct made *im;
	struct link l;
	int rc;

	im = make_image(m, CRIU_NETDEV, "netdev-%d.img", MADE_NET);
	if (im == NULL || !linuxrec_find(&m->net->rec, "net/links", &f))
		return -1;
	rc = settings_read(&peers, &m->pool, m->net, "net/peers");
	while (rc == 0 && link_next(&f, &l))
		if (l.type != 0) {
			rc = link_write(m, &im->b, &l, s);
			if (rc == 0 && link_leaves(&l))
				rc = peer_report(m, &peers, &l);
		}
	return rc;
}
