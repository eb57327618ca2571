/*
 * Write the network namespace that criu creates as images: its links
 * (netlinks.c), settings (netns-N.img), addresses, routes and rules as ip(8)
 * saves them, and packet filters as their own programs list them.
 */
#include "netspace.h"
#include "num.h"

enum {				/* values from linux/rtnetlink.h and
				   linux/fib_rules.h */
	TABLE_LOCAL = 255, BY_KERNEL = 2, CLONED = 0x200,
	FRA_PRIORITY = 6, V6 = 10,
	RTA_NH_ID = 30, /* nexthop ID; other attributes of the route say the
			   same */
	ADDRESS_BODY = 8, ROUTE_BODY = 12
};

/*
 * Check whether criu can create the network namespace of the root process. If
 * it can, set m->net to a process whose record describes the namespace.
 * Otherwise record the reasons. The caller must have checked that the root
 * process is an init and was not in snap's network namespace. Return 0, or -1
 * with errstr set.
 */
int
makenet_check(struct criumake *m)
{
	struct maketask *t;
	const char *why;
	bool all;
	int rc;

	t = maketask_beside(m, m->root, "ns/net", "net/links");
	if (t != NULL) {
		rc = netlinks_check(m, t, &all);
		if (rc == 0 && all)
			m->net = t;
		return rc;
	}
	t = maketask_beside(m, m->root, "ns/net", "net/why");
	why = t == NULL ? NULL : maketask_line(t, "net/why");
	return make_refuse(m, m->root, NULL, WHY_NAMESPACES, "its net "
	    "namespace%s%s", why == NULL ? "" : ": ", why == NULL ? "" : why);
}

/*
 * Write netns-N.img with the settings in s that do not belong to a single link.
 */
static int
settings_write(struct criumake *m, const struct settings *s)
{
	static const struct {
		size_t		 at;	/* offset of the field in the message */
		int		 version; /* IP version */
		const char	*link;
	} conf[] = {
		{ offsetof(Criu__Netns, def_conf4), 4, "default" },
		{ offsetof(Criu__Netns, all_conf4), 4, "all" },
		{ offsetof(Criu__Netns, def_conf6), 6, "default" },
		{ offsetof(Criu__Netns, all_conf6), 6, "all" }
	};
	Criu__Netns e = CRIU__NETNS__INIT;
	size_t i;

	for (i = 0; i < sizeof conf / sizeof *conf; i++)
		if (sysctls_conf(m, &e.base, conf[i].at, s, conf[i].version,
		    conf[i].link) == -1)
			return -1;
	if (sysctls_one(m, &e.base, offsetof(Criu__Netns, unix_conf), s,
	    "unix/max_dgram_qlen", true) == -1 ||
	    sysctls_one(m, &e.base, offsetof(Criu__Netns, ipv4_sysctl), s,
	    "ipv4/ping_group_range", false) == -1)
		return -1;
	/* initial value, which permits no group; criu 4.2 leaves it out as
	   well */
	if (e.n_ipv4_sysctl > 0 && strcmp(e.ipv4_sysctl[0]->sarg, "1 0") == 0)
		e.n_ipv4_sysctl = 0;
	if (e.n_ipv4_sysctl > 0)
		make_since(m, SINCE_PING);
	return make_message(m, CRIU_NETNS, &e.base, "netns-%d.img", MADE_NET);
}

/*
 * Return true if the route in msg must be written. Return false for routes that
 * the kernel adds by itself, for an address or as a clone of another route.
 */
static bool
route_counts(const struct message *msg)
{
	return !(num_get(msg->body + 8, 4) & CLONED) &&
	    (msg->body[4] != TABLE_LOCAL || msg->body[5] != BY_KERNEL);
}

/*
 * Return true if the rule in msg must be written. Return false for an IPv6 rule
 * that every namespace has: before a restore, criu removes the IPv4 rules of
 * the namespace, but not the IPv6 rules (restore_ip_dump() in its criu/net.c).
 */
static bool
rule_counts(const struct message *msg)
{
	enum { MAIN = 32766 };
	uint32_t priority;

	return msg->body[0] != V6 || (message_number(msg, FRA_PRIORITY,
	    &priority) && priority != 0 && priority != MAIN);
}

/*
 * Append message msg to b, padded to a multiple of four bytes. Leave out its
 * attribute of type omit, unless omit is 0. The header and the body are already
 * padded.
 */
static void
message_add(struct buf *b, const struct message *msg, unsigned int omit)
{
	const uint8_t *p;
	size_t n, cut, skip;

	p = omit == 0 ? NULL : attribute_find(msg->attributes, msg->len,
	    omit, &n);
	cut = p == NULL ? msg->size : (size_t)(p - 4 - msg->whole);
	skip = p == NULL ? 0 : (4 + n + 3) & ~(size_t)3;
	if (skip > msg->size - cut)	/* the last attribute may lack its
					   padding */
		skip = msg->size - cut;
	num_add(b, msg->size - skip, 4);
	buf_add(b, msg->whole + 4, cut - 4);
	buf_add(b, msg->whole + cut + skip, msg->size - cut - skip);
	buf_add(b, "\0\0\0", (4 - (msg->size - skip) % 4) % 4);
}

/*
 * Write image-N.img in the form that ip(8) restores: the number magic, then the
 * messages in the record's file called name. body is the size of a message body
 * in bytes. If wanted is not NULL, write only messages for which wanted()
 * returns true.
 */
static int
saved_write(struct criumake *m, const char *name, const char *image,
    uint32_t magic, size_t body, bool (*wanted)(const struct message *))
{
	struct message msg;
	struct recfile f;
	struct made *im;

	if (!linuxrec_find(&m->net->rec, name, &f))
		return 0;
	im = make_image(m, CRIU_RAW, "%s-%d.img", image, MADE_NET);
	if (im == NULL)
		return -1;
	num_add(&im->b, magic, 4);
	while (message_next(&f, body, &msg))
		if (wanted == NULL || wanted(&msg))
			message_add(&im->b, &msg, wanted == route_counts ?
			    RTA_NH_ID : 0);
	return 0;
}

/*
 * Write image-N.img with the lines of the record's file called name. Do nothing
 * if there is no such file. Leave out each line that contains the string
 * pattern, unless pattern is NULL.
 */
static int
listed_write(struct criumake *m, const char *name, const char *image,
    const char *pattern)
{
	const uint8_t *end;
	struct recfile f;
	struct made *im;
	size_t n;

	if (!linuxrec_find(&m->net->rec, name, &f))
		return 0;
	im = make_image(m, CRIU_RAW, "%s-%d.img", image, MADE_NET);
	if (im == NULL)
		return -1;
	for (; f.len > 0; f.data += n, f.len -= n) {
		end = memchr(f.data, '\n', f.len);
		n = end == NULL ? f.len : (size_t)(end - f.data) + 1;
		if (pattern == NULL || memmem(f.data, n, pattern,
		    strlen(pattern)) == NULL)
			buf_add(&im->b, f.data, n);
	}
	return 0;
}

/*
 * Write all images of the network namespace, if criu creates one. Return 0, or
 * -1 with errstr set.
 */
int
makenet_write(struct criumake *m)
{
	enum {			/* values from iproute2: ip/ipaddress.c,
				   iproute.c and iprule.c */
		ADDRESSES = 0x47361222, ROUTES = 0x45311224,
		RULES = 0x71706986
	};
	/* rules of criu or snap that lock connections; nothing would remove
	   them */
	static const char locks[] = "! --mark 0xc114 ";
	struct settings s;

	if (m->net == NULL)
		return 0;
	return settings_read(&s, &m->pool, m->net, "net/settings") == -1 ||
	    settings_write(m, &s) == -1 || netlinks_write(m, &s) == -1 ||
	    netlost_note(m, &s) == -1 ||
	    saved_write(m, "net/addresses", "ifaddr", ADDRESSES,
	    ADDRESS_BODY, NULL) == -1 ||
	    saved_write(m, "net/routes", "route", ROUTES, ROUTE_BODY,
	    route_counts) == -1 ||
	    saved_write(m, "net/routes6", "route6", ROUTES, ROUTE_BODY,
	    route_counts) == -1 ||
	    saved_write(m, "net/rules", "rule", RULES, ROUTE_BODY,
	    rule_counts) == -1 ||
	    listed_write(m, "net/nft", "nftables", NULL) == -1 ||
	    listed_write(m, "net/iptables", "iptables", locks) == -1 ||
	    listed_write(m, "net/ip6tables", "ip6tables", locks) == -1 ? -1 : 0;
}
