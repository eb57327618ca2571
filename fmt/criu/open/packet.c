/*
 * Write entries for packet sockets to files.img.
 */
#include "open.h"
#include "bisect.h"

#include <arpa/inet.h>

enum { BOUND_PROTOCOL = 1, FRAMES_FLAGS = 4 };	/* indexes into v[OK_BOUND] and
						   v[OK_FRAMES] */

enum { /* bits in the number at index FRAMES_FLAGS: see linux/packet_diag.h */
	FLAG_AUXDATA = 2, FLAG_ORIGDEV = 4, FLAG_VNETHDR = 8, FLAG_LOSS = 16
};

/*
 * Return the reason why packet socket f cannot be restored, or NULL if it can.
 */
const char *
makepacket_obstacle(struct criumake *m, const struct makeopen *f)
{
	enum { LAST = 3 };	/* PACKET_MR_UNICAST, the last type that criu
				   knows */
	const struct openline *l;
	size_t n;

	(void)m;
	if (!makeopen_has(f, OK_BOUND) || !makeopen_has(f, OK_FRAMES) ||
	    !makeopen_has(f, OK_INO))
		return "a packet socket that is not fully recorded";
	l = makekeys_lines(f, OK_LISTENS, &n);
	return SEEK(l, n, x->v[LISTENS_COUNT] != 1 || x->v[LISTENS_TYPE] >
	    LAST) == NULL ? NULL : "a packet socket with a repeated "
	    "membership, or one that criu does not support";
}

/*
 * Fill in msg, the protobuf message of packet socket f. Return 0, or -1 with
 * errstr set.
 */
int
makepacket_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const uint64_t flags = f->v[OK_FRAMES][FRAMES_FLAGS];
	Criu__PacketSocket *p = msg;
	const struct openline *l;
	Criu__PacketMclist *v;
	size_t i, n;

	l = makekeys_lines(f, OK_LISTENS, &n);
	if ((v = MSG_MANY(&m->msgs, p, mclist, n)) == NULL ||
	    (makeopen_has(f, OK_RXRING) &&
	    MSG_PART(&m->msgs, p, rx_ring) == NULL) ||
	    (makeopen_has(f, OK_TXRING) &&
	    MSG_PART(&m->msgs, p, tx_ring) == NULL))
		return -1;
	for (i = 0; i < n; i++) {
		makeline_fill(&l[i], &v[i].base);
		v[i].addr.data = l[i].bytes;
		v[i].addr.len = l[i].len;
	}
	if (p->rx_ring != NULL)
		makekey_fill(f, OK_RXRING, &p->rx_ring->base);
	if (p->tx_ring != NULL)
		makekey_fill(f, OK_TXRING, &p->tx_ring->base);
	p->protocol = htons((uint16_t)f->v[OK_BOUND][BOUND_PROTOCOL]);
	MSG_FILL(p, "aux_data orig_dev vnet_hdr loss", ((uint64_t[]){
	    flags & FLAG_AUXDATA, flags & FLAG_ORIGDEV, flags & FLAG_VNETHDR,
	    flags & FLAG_LOSS }));
	return makesocket_set(m, f, (ProtobufCMessage *[OPT_PARTS]){
	    MSG_PART(&m->msgs, p, opts) });
}

/*
 * Set *id to the number in files.img of the packet socket whose rings t has
 * mapped at v. Return 1 on success, 0 if the mapping cannot be restored (the
 * reason is recorded), or -1 with errstr set.
 */
int
makepacket_mapped(struct criumake *m, struct maketask *t, const struct vma *v,
    uint32_t *id)
{
	const struct makeopen *f;

	f = makefind_inode(m, KIND_PACKET, v->ino);
	if (f == NULL || !makeopen_written(f) ||
	    makefind_fd(t->files, f->key, 0) == NULL)
		return make_unmapped(m, t, v, WHY_PACKET, "not a packet socket "
		    "for which the process has a descriptor");
	*id = f->id;
	return 1;
}
