/*
 * Write sk-queues.img: the data queued in UNIX sockets, and the descriptors
 * that were sent with it.
 */
#include "open.h"
#include "bisect.h"

enum {
	PIECE = 32768, /* maximum number of bytes of a stream to put in one
			  packet */
	RIGHTS = 1		/* SCM_RIGHTS */
};

/*
 * Mark as used each open file that is queued in a socket in use. If such a file
 * is itself a socket, also mark the files queued in it, and so on. Return 0, or
 * -1 with errstr set.
 */
int
makequeue_use(struct criumake *m)
{
	const struct openline *l;
	struct makeopen *o, **todo;
	size_t i, n, passed;

	if ((todo = pool_new(&m->texts, m->nopen, sizeof *todo)) == NULL)
		return -1;
	for (n = i = 0; i < m->nopen; i++)
		if (m->open[i]->used)
			todo[n++] = m->open[i];
	for (i = 0; i < n; i++) {
		l = makekeys_lines(todo[i], OK_PASSED, &passed);
		for (; passed > 0; passed--, l++) {
			o = makefind_open(m, l->v[PASSED_ID]);
			if (o == NULL || o->used)
				continue;
			o->used = o->passing = true;
			o->user = todo[i]->user;
			todo[n++] = o;
		}
	}
	return 0;
}

/*
 * Return the socket that o is connected to, if o is a UNIX socket that is
 * restored. Otherwise return NULL.
 */
static struct makeopen *
sent_to(const struct criumake *m, const struct makeopen *o)
{
	return makeopen_written(o) && o->type == KIND_UNIX ?
	    makefind_peer(m, o) : NULL;
}

/*
 * Return the socket that waits for o: criu can restore its queue only after it
 * has created o. Return NULL if there is none. criu restores a queue by sending
 * the data from a socket that is connected to the owner of the queue. If two
 * sockets are connected to each other, each of them waits only for the other.
 */
static struct makeopen *
waits_for(const struct criumake *m, const struct makeopen *o)
{
	const struct makeopen *back;
	struct makeopen *f;

	f = o->type == KIND_UNIX ? makefind_peer(m, o) : NULL;
	back = f == NULL ? NULL : makefind_peer(m, f);
	if (back == o)
		return f;
	return back != NULL && makefind_peer(m, back) == f ? NULL :
	    sent_to(m, o);
}

/*
 * Append socket f to m->turn if descriptors are queued in it and it waits for
 * no other socket.
 */
static int
turn_take(struct criumake *m, struct makeopen *f)
{
	size_t n;

	(void)makekeys_lines(f, OK_PASSED, &n);
	if (n == 0 || f->turn || !f->present || f->awaited > 0 ||
	    !makeopen_written(f))
		return 0;
	if (POOL_ADD(&m->pool, m->turn, m->nturn, f) == -1)
		return -1;
	f->turn = true;
	return 0;
}

/*
 * Record that criu now has the open file o. Then append the socket that waits
 * for o to m->turn if that socket is ready (see turn_take()), and do the same
 * for o itself.
 */
static int
present_set(struct criumake *m, struct makeopen *o)
{
	struct makeopen *f;

	o->present = true;
	if ((f = waits_for(m, o)) != NULL) {
		f->awaited--;
		if (turn_take(m, f) == -1)
			return -1;
	}
	return turn_take(m, o);
}

/*
 * Set m->turn to an order in which criu can restore the queues of sockets. criu
 * can restore the descriptors queued in a socket only if it already has the
 * sending socket. It has that socket if a process has it open, or if the socket
 * was itself in a queue that criu restored earlier (prepare_scms() in its
 * sk-queue.c). Return 0, or -1 with errstr set.
 */
int
makequeue_order(struct criumake *m)
{
	const struct openline *l;
	struct makeopen *f, *o;
	size_t i, n;

	m->nturn = 0;
	for (i = 0; i < m->nopen; i++) {
		f = m->open[i];
		f->turn = false;
		f->present = !f->passing;
		f->awaited = f->senders = 0;
	}
	for (i = 0; i < m->nopen; i++) {
		o = m->open[i];
		if ((f = sent_to(m, o)) != NULL)
			f->senders++;
		if (!o->present && (f = waits_for(m, o)) != NULL)
			f->awaited++;
	}
	for (i = 0; i < m->nopen; i++)
		if (turn_take(m, m->open[i]) == -1)
			return -1;
	for (i = 0; i < m->nturn; i++)
		for (l = makekeys_lines(m->turn[i], OK_PASSED, &n); n > 0;
		    n--, l++) {
			o = makefind_open(m, l->v[PASSED_ID]);
			if (o != NULL && !o->present && present_set(m, o) == -1)
				return -1;
		}
	return 0;
}

/*
 * Return true if no socket can send to f. The caller must have checked that f
 * is queued in a socket and that no process has it. criu can then not restore
 * the queue of f: it could create the missing sender only in a process that has
 * f.
 */
static bool
is_deserted(const struct makeopen *f)
{
	const uint64_t *s = f->v[OK_SOCKET];

	if (s[SOCK_TYPE] != TYPE_DGRAM)
		return s[SOCK_STATE] == STATE_ESTABLISHED &&
		    s[SOCK_PEER] == 0;
	return f->senders == 0;
}

/*
 * Return the reason why the data queued in socket f cannot be restored, or NULL
 * if it can.
 */
const char *
makequeue_obstacle(const struct criumake *m, const struct makeopen *f)
{
	const struct openline *l;
	const struct makeopen *o;
	size_t i, n;

	if (f->passing && is_deserted(f))
		return "a queued socket without another end";
	l = makekeys_lines(f, OK_PASSED, &n);
	for (i = 0; i < n; i++) {
		o = makefind_open(m, l[i].v[PASSED_ID]);
		if (o == NULL)
			return "a socket with a queued descriptor that is not "
			    "recorded";
		if (o->why != NULL)
			return "a socket with a queued descriptor that cannot "
			    "be restored";
	}
	if (n > 0 && !f->turn)
		return "a socket with a queued descriptor, whose other end is "
		    "queued as well";
	return NULL;
}

/*
 * Record what changes in the queue of a datagram socket that criu fills from a
 * socket to which the owner is not connected: the addresses of the senders are
 * lost, and the kernel limits the length of the queue (unix_recvq_full of
 * net/unix/af_unix.c).
 */
static int
datagrams_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	enum { LIMIT = 10 };	/* the kernel's default */
	size_t n;

	if (makequeue_bytes(m, fd->open, &n) > 0 && make_note(m, t, fd, "the "
	    "senders of unread datagrams are not restored") == -1)
		return -1;
	return n <= LIMIT + 1 ? 0 : make_note(m, t, fd, "its %zu unread "
	    "datagrams need net.unix.max_dgram_qlen of %zu or more where it is "
	    "restored", n, n - 1);
}

/*
 * Record that the senders' credentials in the queue of a UNIX socket cannot be
 * restored, and that datagrams lose the addresses of their senders unless the
 * socket and its sender are connected to each other. Descriptor fd of t refers
 * to the socket. Return 0, or -1 with errstr set.
 */
int
makequeue_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	enum { NOBODY = 65534 };	/* the kernel's UID and GID for an
					   unknown sender */
	const struct makeopen *f = fd->open, *peer = makefind_peer(m, f);
	const struct openline *l;
	size_t n;

	if (f->v[OK_SOCKET][SOCK_TYPE] == TYPE_DGRAM &&
	    (peer == NULL || makefind_peer(m, peer) != f) &&
	    datagrams_note(m, t, fd) == -1)
		return -1;
	/* numbers of the line: PACKET UID GID PID */
	l = makekeys_lines(f, OK_SENDER, &n);
	return SEEK(l, n, x->v[1] != NOBODY || x->v[2] != NOBODY ||
	    x->v[3] != 0) == NULL ? 0 : make_refuse(m, t, fd, WHY_CREDENTIALS,
	    "the sender's credentials of data queued in a socket");
}

/*
 * Record a reason for each file that cannot be restored and is only queued in a
 * socket, so that no process has it. Return 0, or -1 with errstr set.
 */
int
makequeue_refuse(struct criumake *m)
{
	const struct makeopen *f;
	size_t i;

	for (i = 0; i < m->nopen; i++) {
		f = m->open[i];
		if (f->passing && f->why != NULL && make_refuse(m, f->user,
		    NULL, f->kind, "a descriptor queued in a socket: %s",
		    f->why) == -1)
			return -1;
	}
	return 0;
}

/*
 * Append packet number nth in the queue of socket f to image b. data has the
 * packet's n bytes. *next is the index of the first descriptor not written yet.
 * Advance *next past the packet's descriptors. The caller must have given all
 * files their IDs in files.img.
 */
static int
packet_write(struct criumake *m, const struct makeopen *f, uint64_t nth,
    const uint8_t *data, uint64_t n, size_t *next, struct buf *b)
{
	Criu__SocketPacket e = CRIU__SOCKET_PACKET__INIT;
	Criu__ScmEntry scm = CRIU__SCM_ENTRY__INIT, *one = &scm;
	const struct openline *l;
	size_t len, k, passed;

	l = makekeys_lines(f, OK_PASSED, &passed);
	for (k = *next; k < passed && l[k].v[PASSED_PACKET] == nth; k++)
		scm.n_rights++;
	scm.type = RIGHTS;
	scm.rights = pool_new(&m->texts, scm.n_rights, sizeof *scm.rights);
	if (scm.rights == NULL)
		return -1;
	for (k = 0; k < scm.n_rights; k++)
		scm.rights[k] = makefind_open(m,
		    l[*next + k].v[PASSED_ID])->id;
	*next += scm.n_rights;
	e.id_for = f->id;
	e.scm = &one;
	e.n_scm = scm.n_rights > 0;
	do {
		len = f->v[OK_SOCKET][SOCK_TYPE] == TYPE_STREAM && n > PIECE ?
		    PIECE : (size_t)n;
		e.length = (uint32_t)len;
		criuimg_add(b, &e.base);
		e.n_scm = 0;
		buf_add(b, data, len);
		data += len;
		n -= len;
	} while (n > 0);
	return 0;
}

/*
 * Read the line at d->data[*off], which has the length of the next packet of
 * socket f. Set *n to the length, and *off to the offset of the packet. Return
 * 0, or -1 with errstr set.
 */
static int
packet_next(const struct makeopen *f, const struct recfile *d, size_t *off,
    uint64_t *n)
{
	char line[24];
	size_t len;

	for (len = 0; len < sizeof line - 1 && *off < d->len &&
	    d->data[*off] != '\n'; len++)
		line[len] = (char)d->data[(*off)++];
	line[len] = '\0';
	if ((*off)++ >= d->len || !number_parse(line, 'd', n) ||
	    *n > d->len - *off)
		return errstr_set("socket/%" PRIu64 ": byte %zu: expected a "
		    "length, a newline and that many bytes", f->v[OK_INO][0],
		    *off - 1);
	return 0;
}

/*
 * Return the number of bytes in the queue of UNIX socket f. Set *packets to the
 * number of its packets.
 */
uint64_t
makequeue_bytes(const struct criumake *m, const struct makeopen *f,
    size_t *packets)
{
	struct recfile d;
	uint64_t n, sum = 0;
	size_t off;

	*packets = 0;
	if (!makefind_data(m, "socket", f->v[OK_INO][0], &d))
		return 0;
	for (off = 0; off < d.len && packet_next(f, &d, &off, &n) == 0;
	    off += (size_t)n, ++*packets)
		sum += n;
	return sum;
}

/*
 * Append the queue of UNIX socket f to sk-queues.img. The queue consists of
 * packets, or of pieces of a stream. The caller must have written the entries
 * of f and of the descriptors in the queue.
 */
static int
queue_write(struct criumake *m, const struct makeopen *f)
{
	const struct openline *l;
	struct recfile d;
	struct buf *b;
	uint64_t n, nth;
	size_t off, next, passed;

	if (!makefind_data(m, "socket", f->v[OK_INO][0], &d) || d.len == 0)
		return 0;
	if ((b = make_common(m, CRIU_SK_QUEUES, "sk-queues.img")) ==
	    NULL)
		return -1;
	next = 0;
	for (nth = 0, off = 0; off < d.len; nth++) {
		if (packet_next(f, &d, &off, &n) == -1 ||
		    packet_write(m, f, nth, d.data + off, n, &next, b) == -1)
			return -1;
		off += (size_t)n;
	}
	l = makekeys_lines(f, OK_PASSED, &passed);
	return next == passed ? 0 : errstr_set("socket/%" PRIu64 ": only %"
	    PRIu64 " packets, but there are descriptors for packet %" PRIu64,
	    f->v[OK_INO][0], nth, l[next].v[PASSED_PACKET]);
}

/*
 * Write sk-queues.img. The caller must have written all files. Return 0, or -1
 * with errstr set.
 */
int
makequeue_write(struct criumake *m)
{
	const struct makeopen *f;
	size_t i;

	for (i = 0; i < m->nturn; i++)
		if (m->turn[i]->id != 0 && queue_write(m, m->turn[i]) == -1)
			return -1;
	for (i = 0; i < m->nopen; i++) {
		f = m->open[i];
		if (f->id != 0 && !f->turn && f->type == KIND_UNIX &&
		    queue_write(m, f) == -1)
			return -1;
	}
	return 0;
}
