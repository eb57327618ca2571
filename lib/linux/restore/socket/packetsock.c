/*
 * Record packet sockets: packet(7). Their bound interface, memberships and the
 * rings that they share with the kernel come from sock_diag(7), since the
 * socket itself does not return them.
 */
#include "sockets.h"

#include <sys/socket.h>

#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>

/* PACKET_VNET_HDR_SZ of linux/if_packet.h, since Linux 6.4 */
enum { VNET_HDR_SZ = 24, VNET_HDR_LEN = 10 };

/*
 * Append to the record of t the memberships that r lists: addresses whose
 * packets the socket receives (packet_mreq of packet(7)).
 */
static void
members_record(struct filerec *t, const struct diagreply *r)
{
	struct packet_diag_mclist l;
	struct attributes a;
	size_t i, k;

	if (!attribute_get(diag_attributes(r, sizeof(struct packet_diag_msg)),
	    PACKET_DIAG_MCLIST, &a)) {
		tell_why(t, "its memberships are unknown");
		return;
	}
	for (i = 0; a.len - i >= sizeof l; i += sizeof l) {
		memcpy(&l, a.p + i, sizeof l);
		buf_printf(&t->out, "listens %u %u %u ", l.pdmc_index,
		    l.pdmc_count, l.pdmc_type);
		for (k = 0; k < l.pdmc_alen && k < sizeof l.pdmc_addr; k++)
			buf_printf(&t->out, "%02x", l.pdmc_addr[k]);
		buf_puts(&t->out, k == 0 ? "-\n" : "\n");
	}
}

static void
ring_record(struct filerec *t, const struct diagreply *r, unsigned int type,
    const char *key)
{
	struct packet_diag_ring g;

	if (attribute_copy(diag_attributes(r, sizeof(struct packet_diag_msg)),
	    type, &g, sizeof g))
		buf_printf(&t->out, "%s %u %u %u %u %u %u %u\n", key,
		    g.pdr_block_size, g.pdr_block_nr, g.pdr_frame_size,
		    g.pdr_frame_nr, g.pdr_retire_tmo, g.pdr_sizeof_priv,
		    g.pdr_features);
}

/*
 * Build the record of t, a packet socket that is duplicated in t->dup.
 */
void
packetsock_record(struct filerec *t)
{
	const struct packet_diag_req q = { .sdiag_family = AF_PACKET,
	    .pdiag_show = PACKET_SHOW_INFO | PACKET_SHOW_MCLIST |
	    PACKET_SHOW_RING_CFG | PACKET_SHOW_FANOUT };
	struct sockkind w = { .family = AF_PACKET };
	struct diagreply r = { 0 };
	struct packet_diag_msg m;
	struct packet_diag_info info;
	uint32_t fanout;
	int vnet;

	filerec_type(t, "packet");
	if (!diag_ask(t, &q, sizeof q, offsetof(struct packet_diag_msg,
	    pdiag_ino), &r) || r.len < sizeof m ||
	    !attribute_copy(diag_attributes(&r, sizeof m), PACKET_DIAG_INFO,
	    &info, sizeof info)) {
		tell_why(t, "sock_diag(7) does not describe it");
		return;
	}
	memcpy(&m, r.data, sizeof m);
	w.type = m.pdiag_type;
	buf_printf(&t->out, "bound %u %x %u\n", m.pdiag_type, m.pdiag_num,
	    info.pdi_index);
	buf_printf(&t->out, "frames %u %u %u %u %x\n", info.pdi_version,
	    info.pdi_reserve, info.pdi_copy_thresh, info.pdi_tstamp,
	    info.pdi_flags);
	members_record(t, &r);
	ring_record(t, &r, PACKET_DIAG_RX_RING, "rxring");
	ring_record(t, &r, PACKET_DIAG_TX_RING, "txring");
	if (attribute_copy(diag_attributes(&r, sizeof m), PACKET_DIAG_FANOUT,
	    &fanout, sizeof fanout))
		buf_printf(&t->out, "fanout %x\n", fanout);
	sockopt_record(t);
	inetopt_record(t, &w);
	if (sock_get(t->dup, SOL_PACKET, VNET_HDR_SZ, &vnet, sizeof vnet) ==
	    0 && vnet > VNET_HDR_LEN)
		buf_printf(&t->out, "option PACKET_VNET_HDR_SZ %d\n", vnet);
}
