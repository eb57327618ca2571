/*
 * Write files.img: an entry for each open file.
 */
#include "open.h"

/*
 * Add an entry for open file f, filled from the keys of f, to files.img. Write
 * the other images that f needs.
 */
static int
open_write(struct criumake *m, struct makeopen *f)
{
	const struct makekind *k = makekind_get(f);
	Criu__FileEntry e = CRIU__FILE_ENTRY__INIT;
	ProtobufCMessage *msg;

	f->id = ++m->lastid;
	if (k->entry == 0)
		return makereg_open(m, f, f->id, false);
	if ((msg = msg_part(&m->msgs, &e.base, k->entry)) == NULL)
		return -1;
	makekeys_fill(f, msg);
	if (k->write != NULL && k->write(m, f, msg) == -1)
		return -1;
	makeopen_entry(m, f, k->fd, k->entry, f->id, msg);
	pool_free(&m->msgs);
	return 0;
}

/*
 * Return the open file that must be written before f, or NULL if there is none.
 * criu must read a UNIX socket's peer before the socket itself, unless the
 * socket is also the peer's peer (try_resolve_unix_peer() in criu's sk-unix.c).
 * A listening socket comes before a connection that it has yet to accept. The
 * returned file never has to wait for another file in turn.
 */
static struct makeopen *
open_before(const struct criumake *m, const struct makeopen *f)
{
	struct makeopen *peer;

	peer = f->type == KIND_UNIX ? makefind_peer(m, f) : NULL;
	if (peer == NULL && f->type == KIND_UNIX)
		return makefind_accepter(m, f);
	return peer == NULL || makefind_peer(m, peer) == f ||
	    !makeopen_written(peer) ? NULL : peer;
}

/*
 * Add each open file that can be restored to files.img, and write its content.
 * Return 0, or -1 with errstr set.
 */
int
makefile_write(struct criumake *m)
{
	struct makeopen *f, *before;
	size_t i;

	for (i = 0; i < m->nopen; i++) {
		f = m->open[i];
		if (!f->used || f->why != NULL)
			continue;
		before = open_before(m, f);
		if ((before != NULL && before->id == 0 &&
		    open_write(m, before) == -1) ||
		    (f->id == 0 && open_write(m, f) == -1))
			return -1;
	}
	return makequeue_write(m);
}
