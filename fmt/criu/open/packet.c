/*
 * Packet sockets as CRIU images: their entries in files.img.
 */
#include "inet.h"

#include <arpa/inet.h>

#include <inttypes.h>
#include <stdlib.h>

enum {				/* numbers of OK_BOUND and OK_FRAMES */
	BOUND_TYPE = 0, BOUND_PROTOCOL, BOUND_INTERFACE,
	FRAMES_VERSION = 0, FRAMES_RESERVE, FRAMES_COPYTHRESH,
	FRAMES_TIMESTAMP, FRAMES_FLAGS
};

enum {				/* of FRAMES_FLAGS: linux/packet_diag.h */
	FLAG_AUXDATA = 2, FLAG_ORIGDEV = 4, FLAG_VNETHDR = 8, FLAG_LOSS = 16
};

/*
 * Return why f, a packet socket, cannot be restored, or NULL.
 */
const char *
makepacket_hinders(const struct makeopen *f)
{
	enum { LAST = 3 };	/* PACKET_MR_UNICAST */
	size_t i;

	if (!makeopen_has(f, OK_BOUND) || !makeopen_has(f, OK_FRAMES) ||
	    !makeopen_has(f, OK_INO))
		return "a packet socket of which little is known";
	for (i = 0; i < f->nlistens; i++)
		if (f->listens[i].count != 1 || f->listens[i].type > LAST)
			return "a packet socket that listens twice for the "
			    "same, or for what criu does not know";
	return NULL;
}

/*
 * Set *r to the ring that a key of f tells of.  Return it, or NULL if there is
 * none.
 */
static Criu__PacketRing *
ring_set(const struct makeopen *f, enum openkey key, Criu__PacketRing *r)
{
	const uint64_t *v = f->v[key];

	criu__packet_ring__init(r);
	r->block_size = (uint32_t)v[0];
	r->block_nr = (uint32_t)v[1];
	r->frame_size = (uint32_t)v[2];
	r->frame_nr = (uint32_t)v[3];
	r->retire_tmo = (uint32_t)v[4];
	r->sizeof_priv = (uint32_t)v[5];
	r->features = (uint32_t)v[6];
	return makeopen_has(f, key) ? r : NULL;
}

/*
 * Set v, of as many as socket f has, to where it listens.
 */
static void
listens_set(const struct makeopen *f, Criu__PacketMclist *v,
    Criu__PacketMclist **p)
{
	size_t i;

	for (i = 0; i < f->nlistens; i++) {
		criu__packet_mclist__init(&v[i]);
		v[i].index = (uint32_t)f->listens[i].interface;
		v[i].type = (uint32_t)f->listens[i].type;
		v[i].addr.data = f->listens[i].address;
		v[i].addr.len = f->listens[i].len;
		p[i] = &v[i];
	}
}

/*
 * Set what criu wants of socket f to be told.
 */
static void
frames_set(const struct makeopen *f, Criu__PacketSocket *p)
{
	const uint64_t *b = f->v[OK_BOUND], *v = f->v[OK_FRAMES];

	p->type = (uint32_t)b[BOUND_TYPE];
	p->protocol = htons((uint16_t)b[BOUND_PROTOCOL]);
	p->ifindex = (uint32_t)b[BOUND_INTERFACE];
	p->version = (uint32_t)v[FRAMES_VERSION];
	p->reserve = (uint32_t)v[FRAMES_RESERVE];
	p->copy_thresh = (uint32_t)v[FRAMES_COPYTHRESH];
	p->timestamp = (uint32_t)v[FRAMES_TIMESTAMP];
	p->aux_data = (v[FRAMES_FLAGS] & FLAG_AUXDATA) != 0;
	p->orig_dev = (v[FRAMES_FLAGS] & FLAG_ORIGDEV) != 0;
	p->vnet_hdr = (v[FRAMES_FLAGS] & FLAG_VNETHDR) != 0;
	p->loss = (v[FRAMES_FLAGS] & FLAG_LOSS) != 0;
	p->has_fanout = makeopen_has(f, OK_FANOUT);
	p->fanout = (uint32_t)f->v[OK_FANOUT][0];
}

/*
 * Add packet socket f to files.img, whose entry e is begun; fown is to whom it
 * sends signals.  Return 0, or -1 with errstr.
 */
int
makepacket_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	Criu__PacketSocket p = CRIU__PACKET_SOCKET__INIT;
	Criu__PacketRing rx, tx;
	Criu__PacketMclist *v;
	struct inetopts o;
	int rc;

	rc = 0;
	v = calloc(f->nlistens + 1, sizeof *v);
	p.mclist = calloc(f->nlistens + 1, sizeof *p.mclist);
	if (v != NULL && p.mclist != NULL) {
		listens_set(f, v, p.mclist);
		p.n_mclist = f->nlistens;
		p.id = f->id;
		p.flags = (uint32_t)f->v[OK_FLAGS][0];
		p.fown = fown;
		frames_set(f, &p);
		p.rx_ring = ring_set(f, OK_RXRING, &rx);
		p.tx_ring = ring_set(f, OK_TXRING, &tx);
		makesocket_options(f, &o.socket);
		makeinet_put(f->inet, false, &o);
		p.opts = &o.socket;
		e.psk = &p;
		criuimg_add(m->files, &e.base);
	} else
		rc = errstr_set("out of memory");
	free(p.mclist);
	free(v);
	return rc;
}

/*
 * Set *id to the file by whose descriptor t has mapped the rings of a packet
 * socket at v.  Return 1; 0 when it is noted that it cannot be restored; or -1
 * with errstr.
 */
int
makepacket_mapped(struct criumake *m, struct maketask *t, const struct vma *v,
    uint32_t *id)
{
	const struct makeopen *f;

	f = makefind_inode(m, KIND_PACKET, v->ino);
	if (f == NULL || !makeopen_written(f) ||
	    makefind_fd(t->files, f->key, 0) == NULL)
		return make_refuse(m, WHY_PACKET, "process %" PRIu64
		    ": mapping at %" PRIx64 " of %s: a socket that the "
		    "process has no descriptor of, or no packet socket",
		    t->proc->pid, v->start, v->name);
	*id = f->id;
	return 1;
}
