/*
 * Open files as CRIU images: an entry in files.img for each, and what is in
 * pipes and sockets.
 */
#include "open.h"

#include <inttypes.h>
#include <string.h>

/*
 * Add what is in a pipe or FIFO, and what it can hold, to an image: once for
 * all its ends.
 */
static int
pipe_data(struct criumake *m, const struct makeopen *f, uint32_t magic,
    const char *name)
{
	Criu__PipeData e = CRIU__PIPE_DATA__INIT;
	struct makeopen *first;
	struct recfile data;
	struct buf *b;

	first = makefind_inode(m, f->type, f->v[OK_INO][0]);
	if (first->data)
		return 0;
	first->data = true;
	if ((b = make_common(m, magic, name)) == NULL)
		return -1;
	makefind_data(m, "pipe", f->v[OK_INO][0], &data);
	if (data.len > UINT32_MAX)
		return errstr_set("pipe/%" PRIu64 ": %zu bytes",
		    f->v[OK_INO][0], data.len);
	e.pipe_id = (uint32_t)f->v[OK_INO][0];
	e.bytes = (uint32_t)data.len;
	e.has_size = makeopen_has(f, OK_CAPACITY);
	e.size = (uint32_t)f->v[OK_CAPACITY][0];
	criuimg_add(b, &e.base);
	buf_add(b, data.data, data.len);
	return 0;
}

/*
 * The functions that follow set what the keys of open file f do not say in its
 * message, which has them, and make what belongs to it elsewhere.
 */

int
makepipe_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__Pipe *p = msg;

	p->pipe_id = (uint32_t)f->v[OK_INO][0];
	return pipe_data(m, f, CRIU_PIPES_DATA, "pipes-data.img");
}

int
makefifo_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__Fifo *p = msg;

	p->has_pipe_id = p->has_regf_id = true;
	p->pipe_id = (uint32_t)f->v[OK_INO][0];
	p->regf_id = ++m->lastid;
	return makereg_open(m, f, p->regf_id, true) == -1 ? -1 :
	    pipe_data(m, f, CRIU_FIFO_DATA, "fifo-data.img");
}

int
makeepoll_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const struct openline *l;
	Criu__EpollTarget *t;
	size_t i, n;

	l = makekeys_lines(f, OK_TARGET, &n);
	t = MSG_MANY(&m->msgs, (Criu__Epoll *)msg, tfd, n);
	for (i = 0; t != NULL && i < n; i++) {
		t[i].id = f->id;
		makeline_fill(&l[i], &t[i].base);
	}
	return t == NULL ? -1 : 0;
}

/*
 * A periodic timer that has expired and was not read yet has nothing left,
 * which would stop it: let it begin its interval.
 */
int
maketimerfd_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const uint64_t every = f->v[OK_INTERVAL][0];
	uint64_t left = f->v[OK_LEFT][0];

	(void)m;
	if (left == 0 && f->v[OK_TICKS][0] > 0)
		left = every;
	MSG_FILL((Criu__Timerfd *)msg, "vsec vnsec isec insec",
	    ((uint64_t[]){ left / NSEC, left % NSEC, every / NSEC,
	    every % NSEC }));
	return 0;
}

int
makememfd_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	struct makeshm *o;

	o = makeshm_get(m, f->v[OK_DEV][0], f->v[OK_INO][0], f->user);
	if (o == NULL)
		return -1;
	o->open = f;
	if (makeopen_has(f, OK_HUGEPAGES))
		o->huge = f->v[OK_HUGEPAGES][0];
	((Criu__MemfdFile *)msg)->inode_id = (uint32_t)(o - m->shm) + 1;
	return 0;
}

/*
 * Add the entry of open file f to files.img, with what belongs to it elsewhere:
 * a message with its number, whom its signals go to, and what its keys say.
 */
static int
entry_write(struct criumake *m, const struct makeopen *f)
{
	const struct makekind *k = makekind_get(f);
	Criu__FileEntry e = CRIU__FILE_ENTRY__INIT;
	const ProtobufCFieldDescriptor *to;
	Criu__Fown fown, *whom = &fown;
	ProtobufCMessage *msg;

	e.id = f->id;
	e.type = k->fd;
	if ((msg = msg_part(&m->msgs, &e.base, k->entry)) == NULL)
		return -1;
	msg_fill(msg, "id", &(uint64_t){ f->id });
	makeopen_fown(m, f, &fown);
	to = protobuf_c_message_descriptor_get_field_by_name(msg->descriptor,
	    "fown");
	if (to != NULL)
		memcpy((char *)msg + to->offset, &whom, sizeof whom);
	makekeys_fill(f, msg);
	if (k->write != NULL && k->write(m, f, msg) == -1)
		return -1;
	criuimg_add(m->files, &e.base);
	return 0;
}

/*
 * Add open file f to files.img, with what belongs to it elsewhere.
 */
static int
open_write(struct criumake *m, struct makeopen *f)
{
	int rc;

	f->id = ++m->lastid;
	if (makekind_get(f)->entry == 0)
		return makereg_open(m, f, f->id, false);
	rc = entry_write(m, f);
	msgs_free(&m->msgs);
	return rc;
}

/*
 * Return what must stand before open file f, or NULL.  criu knows the peer of
 * a socket only if it has read it, or if that has the socket for its own peer
 * (try_resolve_unix_peer of its sk-unix.c).  Nothing must stand before that.
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
 * Add to files.img the open files that can be restored, and make what is in
 * them.  Return 0, or -1 with errstr.
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
