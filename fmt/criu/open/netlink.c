/*
 * Netlink sockets as CRIU images: their entries in files.img.
 */
#include "inet.h"

enum {				/* numbers of OK_NETLINK */
	NETLINK_TYPE, NETLINK_PROTOCOL, NETLINK_PORT, NETLINK_TOPORT,
	NETLINK_TOGROUPS
};

/*
 * Return why f, a netlink socket, cannot be restored, or NULL.
 */
const char *
makenetlink_hinders(const struct makeopen *f)
{
	const uint64_t *v = f->v[OK_NETLINK];

	if (!makeopen_has(f, OK_NETLINK) || !makeopen_has(f, OK_INO))
		return "a netlink socket of which little is known";
	if (f->v[OK_WAITING][0] != 0)
		return "a netlink socket in which something waits to be read";
	if (f->members > UINT32_MAX)
		return "a netlink socket of a group above 32";
	if (f->members != 0 && v[NETLINK_PORT] == 0)
		return "a netlink socket of a group, without an address";
	/* criu connects it to a group as well, to some if there is none */
	return v[NETLINK_TOPORT] != 0 && v[NETLINK_TOGROUPS] == 0 ?
	    "a netlink socket that is connected to another" : NULL;
}

/*
 * Add netlink socket f to files.img, whose entry e is begun; fown is to whom it
 * sends signals.
 */
void
makenetlink_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	Criu__NetlinkSocket p = CRIU__NETLINK_SOCKET__INIT;
	const uint64_t *v = f->v[OK_NETLINK];
	uint64_t groups = v[NETLINK_TOGROUPS];
	uint32_t members = (uint32_t)f->members;
	struct inetopts o;

	p.id = f->id;
	p.has_ino = p.has_protocol = p.has_state = p.has_flags = p.has_portid =
	    p.has_dst_portid = p.has_dst_group = true;
	p.ino = (uint32_t)f->v[OK_INO][0];
	p.protocol = (uint32_t)v[NETLINK_PROTOCOL];
	p.state = v[NETLINK_TOPORT] != 0 || groups != 0;
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.portid = (uint32_t)v[NETLINK_PORT];
	p.groups = &members;
	p.n_groups = members != 0;
	p.dst_portid = (uint32_t)v[NETLINK_TOPORT];
	for (; groups != 0; groups >>= 1)
		p.dst_group++;
	p.fown = fown;
	makesocket_options(f, &o.socket);
	makeinet_put(f->inet, false, &o);
	p.opts = &o.socket;
	e.nlsk = &p;
	criuimg_add(m->files, &e.base);
}
