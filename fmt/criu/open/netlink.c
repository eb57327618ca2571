/*
 * Write entries for netlink sockets to files.img.
 */
#include "open.h"

enum {				/* indexes into v[OK_NETLINK] */
	NETLINK_TYPE, NETLINK_PROTOCOL, NETLINK_PORT, NETLINK_TOPORT,
	NETLINK_TOGROUPS
};

/*
 * Return the multicast groups of netlink socket f as a set of bits. Bit 0 is
 * group 1. Bit 32 stands for any group above 32.
 */
static uint64_t
members_of(const struct makeopen *f)
{
	enum { FEW = 32 };
	const struct openline *l;
	uint64_t members = 0;
	size_t n;

	for (l = makekeys_lines(f, OK_MEMBER, &n); n > 0; n--, l++)
		members |= UINT64_C(1) << (l->v[0] == 0 || l->v[0] > FEW ?
		    FEW : l->v[0] - 1);
	return members;
}

/*
 * Return the reason why netlink socket f cannot be restored, or NULL if it can.
 */
const char *
makenetlink_obstacle(struct criumake *m, const struct makeopen *f)
{
	const uint64_t *v = f->v[OK_NETLINK];

	(void)m;
	if (!makeopen_has(f, OK_NETLINK) || !makeopen_has(f, OK_INO))
		return "a netlink socket that is not fully recorded";
	if (f->v[OK_WAITING][0] != 0)
		return "a netlink socket with unread data";
	if (members_of(f) > UINT32_MAX)
		return "a netlink socket in a group above 32";
	if (members_of(f) != 0 && v[NETLINK_PORT] == 0)
		return "a netlink socket in a group, without an address";
	/* criu would also connect it to some multicast group */
	return v[NETLINK_TOPORT] != 0 && v[NETLINK_TOGROUPS] == 0 ?
	    "a netlink socket that is connected to another" : NULL;
}

/*
 * Fill in msg, the protobuf message of netlink socket f. Return 0, or -1 with
 * errstr set.
 */
int
makenetlink_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__NetlinkSocket *p = msg;
	uint64_t groups = f->v[OK_NETLINK][NETLINK_TOGROUPS];
	const uint64_t members = members_of(f);

	p->has_state = p->has_dst_group = true;
	p->state = p->dst_portid != 0 || groups != 0;
	for (; groups != 0; groups >>= 1)
		p->dst_group++;
	if (MSG_MANY(&m->msgs, p, groups, members != 0) == NULL)
		return -1;
	if (members != 0)
		p->groups[0] = (uint32_t)members;
	return makesocket_set(m, f, (ProtobufCMessage *[OPT_PARTS]){
	    MSG_PART(&m->msgs, p, opts) });
}
