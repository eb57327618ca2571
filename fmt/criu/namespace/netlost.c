/*
 * Make notes on what criu does not restore of a network namespace that it
 * creates, and that processes can do without.
 */
#include "netspace.h"
#include "num.h"
#include "bisect.h"

/*
 * Record a note that a part of the network namespace is not restored. kind says
 * what the part is, with an article, such as "the option"; name is its name.
 */
static int
lost_note(struct criumake *m, const char *kind, const char *name)
{
	return make_note(m, m->root, NULL, "%s %s of its net namespace is not "
	    "restored", kind, name);
}

/*
 * Record a note for each option of bridge l whose value differs from that in a
 * new bridge. The len bytes at data are the attribute IFLA_INFO_DATA of l.
 */
static int
bridge_note(struct criumake *m, const struct link *l, const uint8_t *data,
    size_t len)
{
	/* IFLA_BR_ of linux/if_link.h; initial values from br_dev_setup() in
	   the kernel's net/bridge/br_device.c */
	static const struct {
		unsigned int	 type;
		size_t		 size;
		uint64_t	 of_new;
		const char	*name;
	} option[] = {
		{ 1, 4, 1500, "forward_delay" }, { 2, 4, 200, "hello_time" },
		{ 3, 4, 2000, "max_age" }, { 4, 4, 30000, "ageing_time" },
		{ 5, 4, 0, "stp_state" }, { 6, 2, 32768, "priority" },
		{ 7, 1, 0, "vlan_filtering" }, { 9, 2, 0, "group_fwd_mask" },
		{ 22, 1, 1, "mcast_router" }, { 23, 1, 1, "mcast_snooping" },
		{ 39, 2, 1, "vlan_default_pvid" }
	};
	const uint8_t *p;
	char name[64];
	size_t i, n;
	int rc;

	for (rc = 0, i = 0; i < sizeof option / sizeof *option && rc == 0;
	    i++) {
		p = attribute_find(data, len, option[i].type, &n);
		if (p == NULL || n < option[i].size ||
		    num_get(p, option[i].size) == option[i].of_new)
			continue;
		snprintf(name, sizeof name, "%s of link %s", option[i].name,
		    l->name);
		rc = lost_note(m, "the option", name);
	}
	return rc;
}

/*
 * Record a note for each XDP program, and for each option of a bridge, that is
 * lost.
 */
static int
links_note(struct criumake *m)
{
	enum { LINKINFO = 18, DATA = 2, XDP = 43, ATTACHED = 2 };
	const uint8_t *p, *info;
	struct recfile f;
	struct link l;
	size_t n, len;
	int rc;

	if (!linuxrec_find(&m->net->rec, "net/links", &f))
		return 0;
	for (rc = 0; rc == 0 && link_next(&f, &l);) {
		p = attribute_find(l.message.attributes, l.message.len, XDP,
		    &n);
		if (p != NULL)
			p = attribute_find(p, n, ATTACHED, &len);
		if (p != NULL && len > 0 && *p != 0)
			rc = lost_note(m, "the XDP program of link", l.name);
		info = attribute_find(l.message.attributes, l.message.len,
		    LINKINFO, &n);
		if (info != NULL)
			info = attribute_find(info, n, DATA, &len);
		if (info != NULL && strcmp(l.kind, "bridge") == 0 && rc == 0)
			rc = bridge_note(m, &l, info, len);
	}
	return rc;
}

/*
 * If there are permanent neighbours, record a note with their number. The
 * kernel did not learn these by itself (see ndmsg in rtnetlink(7)).
 */
static int
neighbours_note(struct criumake *m)
{
	enum { BODY = 12, STATE = 8, PERMANENT = 0x80 };
	struct message msg;
	struct recfile f;
	size_t count;

	if (!linuxrec_find(&m->net->rec, "net/neighbours", &f))
		return 0;
	for (count = 0; message_next(&f, BODY, &msg);)
		count += (num_get(msg.body + STATE, 2) & PERMANENT) != 0;
	return count == 0 ? 0 : make_note(m, m->root, NULL, "%zu permanent "
	    "neighbour%s of its net namespace: not restored", count,
	    count == 1 ? "" : "s");
}

struct name {			/* name of a link */
	uint32_t	 index;
	char		 name[16];
};

CMP(name_cmp, struct name, index)

/*
 * Set *v to the names of all links, sorted by index, and *n to their number.
 */
static int
names_read(struct criumake *m, struct name **v, size_t *n)
{
	struct recfile f;
	struct link l;

	*v = NULL;
	*n = 0;
	if (!linuxrec_find(&m->net->rec, "net/links", &f))
		return 0;
	while (link_next(&f, &l)) {
		if (POOL_ROOM(&m->pool, *v, *n) == -1)
			return -1;
		(*v)[*n].index = l.index;
		memcpy((*v)[(*n)++].name, l.name, sizeof l.name);
	}
	SORT(*v, *n, name_cmp);
	return 0;
}

/*
 * Record a note for each queueing discipline that a user set (see tcmsg in
 * rtnetlink(7)). Default ones have handle 0.
 */
static int
queueing_note(struct criumake *m)
{
	enum { BODY = 20, INDEX = 4, HANDLE = 8, KIND = 1 };
	struct name key, *name, *found;
	char kind[16], both[64];
	struct message msg;
	struct recfile f;
	size_t n;
	int rc;

	if (!linuxrec_find(&m->net->rec, "net/queueing", &f))
		return 0;
	rc = names_read(m, &name, &n);
	while (rc == 0 && message_next(&f, BODY, &msg)) {
		if (num_get(msg.body + HANDLE, 4) == 0)
			continue;
		attribute_text(msg.attributes, msg.len, KIND, kind,
		    sizeof kind);
		key.index = (uint32_t)num_get(msg.body + INDEX, 4);
		snprintf(key.name, sizeof key.name, "%" PRIu32, key.index);
		found = FIND(name, n, index, key.index);
		snprintf(both, sizeof both, "%s of link %s", kind,
		    found == NULL ? key.name : found->name);
		rc = lost_note(m, "the queueing discipline", both);
	}
	return rc;
}

/*
 * Record a note for each setting whose value differs from that in a new network
 * namespace. Also record a note on the connections that packet filters track.
 */
static int
settings_note(struct criumake *m, const struct settings *s)
{
	/* initial values in the kernel's net/ipv4/tcp_ipv4.c, af_inet.c and
	   net/core/net_namespace.c */
	static const struct {
		const char	*name;
		const char	*of_new;
	} setting[] = {
		{ "core/somaxconn", "4096" },
		{ "ipv4/ip_default_ttl", "64" },
		{ "ipv4/ip_unprivileged_port_start", "1024" },
		{ "ipv4/ip_local_port_range", "32768 60999" },
		{ "ipv4/ip_nonlocal_bind", "0" },
		{ "ipv4/ip_local_reserved_ports", "" },
		{ "ipv4/tcp_fin_timeout", "60" },
		{ "ipv4/tcp_keepalive_time", "7200" },
		{ "ipv4/tcp_keepalive_intvl", "75" },
		{ "ipv4/tcp_keepalive_probes", "9" },
		{ "ipv4/tcp_syncookies", "1" }
	};
	const char *value;
	char text[320];
	size_t i;
	int rc;

	for (rc = 0, i = 0; i < sizeof setting / sizeof *setting && rc == 0;
	    i++) {
		value = setting_find(s, setting[i].name);
		if (value == NULL || strcmp(value, setting[i].of_new) == 0)
			continue;
		snprintf(text, sizeof text, "net/%s, %s,", setting[i].name,
		    value);
		rc = lost_note(m, "the setting", text);
	}
	value = setting_find(s, "netfilter/nf_conntrack_count");
	if (rc == -1 || value == NULL || strcmp(value, "0") == 0)
		return rc;
	return make_note(m, m->root, NULL, "%s connection%s tracked by the "
	    "packet filters of its net namespace: not restored", value,
	    strcmp(value, "1") == 0 ? "" : "s");
}

/*
 * Record a note for each thing in the network namespace that the restore will
 * lose. s has the settings of the namespace. Return 0, or -1 with errstr set.
 */
int
netlost_note(struct criumake *m, const struct settings *s)
{
	return links_note(m) == -1 || neighbours_note(m) == -1 ||
	    queueing_note(m) == -1 ? -1 : settings_note(m, s);
}
