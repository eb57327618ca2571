/*
 * Write the settings of a network namespace into CRIU images. They have no
 * names there, but a position in one of criu's lists (devconfs4 and devconfs6
 * of its criu/net.c).
 */
#include "netspace.h"
#include "bisect.h"

enum { SYSCTL_TEXT = 5, SYSCTL_NUMBER = 6 }; /* types in criu's sysctl.proto */

static const char *const conf4[] = {
	"accept_local", "accept_redirects", "accept_source_route", "arp_accept",
	"arp_announce", "arp_filter", "arp_ignore", "arp_notify",
	"bootp_relay", "disable_policy", "disable_xfrm", "force_igmp_version",
	"forwarding", "igmpv2_unsolicited_report_interval",
	"igmpv3_unsolicited_report_interval", "log_martians", "medium_id",
	"promote_secondaries", "proxy_arp", "proxy_arp_pvlan",
	"route_localnet", "rp_filter", "secure_redirects", "send_redirects",
	"shared_media", "src_valid_mark", "tag",
	"ignore_routes_with_linkdown", "drop_gratuitous_arp",
	"drop_unicast_in_l2_multicast"
};

static const char *const conf6[] = {
	"accept_dad", "accept_ra", "accept_ra_defrtr", "accept_ra_from_local",
	"accept_ra_min_hop_limit", "accept_ra_mtu", "accept_ra_pinfo",
	"accept_ra_rt_info_max_plen", "accept_ra_rtr_pref",
	"accept_redirects", "accept_source_route", "autoconf",
	"dad_transmits", "disable_ipv6", "drop_unicast_in_l2_multicast",
	"drop_unsolicited_na", "force_mld_version", "force_tllao",
	"forwarding", "hop_limit", "ignore_routes_with_linkdown",
	"keep_addr_on_down", "max_addresses", "max_desync_factor",
	"mldv1_unsolicited_report_interval",
	"mldv2_unsolicited_report_interval", "mtu", "ndisc_notify",
	"optimistic_dad", "proxy_ndp", "regen_max_retry",
	"router_probe_interval", "router_solicitation_delay",
	"router_solicitation_interval", "router_solicitations",
	"stable_secret", "suppress_frag_ndisc", "temp_prefered_lft",
	"temp_valid_lft", "use_oif_addrs_only", "use_optimistic", "use_tempaddr"
};

CMP_BY(setting_cmp, struct setting, strcmp(x->name, y->name))

/*
 * Read into *s the settings from the file named file in t's record. Each line
 * is a name, a blank and a value. p owns the settings. Return 0, or -1 with
 * errstr set.
 */
int
settings_read(struct settings *s, struct pool *p, const struct maketask *t,
    const char *file)
{
	char *line, *next, *value;

	memset(s, 0, sizeof *s);
	next = words_text(p, &t->rec, file);
	while ((line = strsep(&next, "\n")) != NULL) {
		if ((value = strchr(line, ' ')) == NULL)
			continue;
		*value++ = '\0';
		if (POOL_ADD(p, s->v, s->n, (struct setting){ line,
		    value }) == -1)
			return -1;
	}
	SORT(s->v, s->n, setting_cmp);
	return 0;
}

/*
 * Return the value of the setting called name, or NULL if s does not have it.
 */
const char *
setting_find(const struct settings *s, const char *name)
{
	const struct setting key = { name, NULL }, *found;

	found = FIND_BY(&key, s->v, s->n, setting_cmp);
	return found == NULL ? NULL : found->value;
}

/*
 * Set c to the setting called name in s. Store it as a number if number is
 * true, otherwise as text. Leave c without a value if s lacks the setting.
 */
static void
sysctl_set(Criu__Sysctl *c, const struct settings *s, const char *name,
    bool number)
{
	const char *value = setting_find(s, name);

	c->type = number ? SYSCTL_NUMBER : SYSCTL_TEXT;
	if (value == NULL)
		return;
	if (!number)
		c->sarg = (char *)(uintptr_t)value;
	else {
		c->has_iarg = true;
		c->iarg = (int32_t)strtol(value, NULL, 10);
	}
}

/*
 * Set the field of e at offset off to the IPv4 or IPv6 settings of a link.
 * version is 4 or 6, link is the name of the link, and s has its settings.
 * m->msgs owns the parts of e. Return 0, or -1 with errstr set.
 */
int
sysctls_conf(struct criumake *m, ProtobufCMessage *e, size_t off,
    const struct settings *s, int version, const char *link)
{
	const char *const *conf = version == 4 ? conf4 : conf6;
	const size_t n = version == 4 ? sizeof conf4 / sizeof *conf4 :
	    sizeof conf6 / sizeof *conf6;
	Criu__Sysctl *c;
	char name[128];
	size_t i;

	if ((c = msg_many(&m->msgs, e, off, n)) == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof name, "ipv%d/conf/%s/%s", version, link,
		    conf[i]);
		sysctl_set(&c[i], s, name,
		    strcmp(conf[i], "stable_secret") != 0);
	}
	return 0;
}

/*
 * Append the setting called name to the field of e at offset off, as a number
 * if number is true, otherwise as text. Do nothing if s lacks the setting.
 * m->msgs owns the parts of e. Return 0, or -1 with errstr set.
 */
int
sysctls_one(struct criumake *m, ProtobufCMessage *e, size_t off,
    const struct settings *s, const char *name, bool number)
{
	Criu__Sysctl *c;

	if (setting_find(s, name) == NULL)
		return 0;
	if ((c = msg_push(&m->msgs, e, off)) == NULL)
		return -1;
	sysctl_set(c, s, name, number);
	return 0;
}
