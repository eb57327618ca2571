/*
 * What waits in UNIX sockets as a CRIU image: sk-queues.img, with the
 * descriptors that were sent along.
 */
#include "criumake.h"
#include "vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 32768,		/* bytes of a stream that are sent at once */
	STREAM = 1,		/* SOCK_STREAM */
	RIGHTS = 1		/* SCM_RIGHTS */
};

/*
 * Let the open files be used that wait in sockets that are, and so on in those
 * that wait themselves.
 */
void
makequeue_use(struct criumake *m)
{
	struct makeopen *f, *o;
	size_t i, k;
	bool again;

	do {
		again = false;
		for (i = 0; i < m->nopen; i++) {
			f = m->open[i];
			for (k = 0; f->used && k < f->npassed; k++) {
				o = makefind_open(m, f->passed[k].id);
				if (o == NULL || o->used)
					continue;
				o->used = o->passing = again = true;
				o->user = f->user;
			}
		}
	} while (again);
}

/*
 * Return whether all that send to socket f are there when criu comes to what
 * waits in it: one of them is to send that again.
 */
static bool
is_sent(const struct criumake *m, const struct makeopen *f)
{
	const struct makeopen *o;
	size_t i;

	o = makefind_peer(m, f);
	if (o != NULL && makefind_peer(m, o) == f)
		return o->there;
	for (i = 0; i < m->nopen; i++) {
		o = m->open[i];
		if (makeopen_written(o) && makeopen_is(o, "unix") &&
		    makefind_peer(m, o) == f && !o->there)
			return false;
	}
	return true;
}

/*
 * Find the order in which descriptors can be restored that wait in sockets.
 * criu goes through what waits from the first to the last, and who sends it
 * again must be known by then: a process has it, or it has been sent itself
 * (prepare_scms of its sk-queue.c).
 */
int
makequeue_order(struct criumake *m)
{
	enum { DEEP = 16 };	/* sockets in each other */
	struct makeopen *f, *o;
	size_t i, k, round;

	m->nturn = 0;
	for (i = 0; i < m->nopen; i++) {
		m->open[i]->turn = false;
		m->open[i]->there = !m->open[i]->passing;
	}
	for (round = 0; round < DEEP; round++)
		for (i = 0; i < m->nopen; i++) {
			f = m->open[i];
			if (f->npassed == 0 || f->turn || !f->there ||
			    !makeopen_written(f) || !is_sent(m, f))
				continue;
			if (VEC_ROOM(m->turn, m->nturn) == -1)
				return -1;
			m->turn[m->nturn++] = f;
			f->turn = true;
			for (k = 0; k < f->npassed; k++) {
				o = makefind_open(m, f->passed[k].id);
				if (o != NULL)
					o->there = true;
			}
		}
	return 0;
}

/*
 * Return whether nobody can send to socket f, which no process has, but one
 * that criu makes for that, of the process that has f.
 */
static bool
is_deserted(const struct criumake *m, const struct makeopen *f)
{
	enum { ESTABLISHED = 1, DGRAM = 2 };
	const uint64_t *s = f->v[OK_SOCKET];
	size_t i;

	if (s[SOCK_TYPE] != DGRAM)
		return s[SOCK_STATE] == ESTABLISHED && s[SOCK_PEER] == 0;
	for (i = 0; i < m->nopen; i++)
		if (makeopen_written(m->open[i]) &&
		    makeopen_is(m->open[i], "unix") &&
		    makefind_peer(m, m->open[i]) == f)
			return false;
	return true;
}

/*
 * Return why what waits in socket f cannot be restored, or NULL.
 */
const char *
makequeue_hinders(const struct criumake *m, const struct makeopen *f)
{
	const struct makeopen *o;
	size_t i;

	if (f->passing && is_deserted(m, f))
		return "a socket without another end, which no process has";
	for (i = 0; i < f->npassed; i++) {
		o = makefind_open(m, f->passed[i].id);
		if (o == NULL)
			return "a socket in which a descriptor waits that "
			    "nothing is known of";
		if (o->why != NULL)
			return "a socket in which a descriptor waits that "
			    "cannot be restored";
	}
	if (f->npassed > 0 && !f->turn)
		return "a socket in which a descriptor waits, and whose other "
		    "end waits likewise";
	return NULL;
}

/*
 * Note what of descriptor fd of t, a UNIX socket, is restored without.
 */
int
makequeue_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	return !fd->open->sender ? 0 : make_refuse(m, WHY_CREDENTIALS,
	    "process %" PRIu64 ", descriptor %" PRIu64 ": the credentials of "
	    "who sent what waits in a socket", t->proc->pid, fd->fd);
}

/*
 * Note the files that cannot be restored and that no process has, for they wait
 * in a socket.
 */
int
makequeue_refuse(struct criumake *m)
{
	const struct makeopen *f;
	size_t i;

	for (i = 0; i < m->nopen; i++) {
		f = m->open[i];
		if (f->passing && f->why != NULL && make_refuse(m, f->kind,
		    "process %" PRIu64 ": a descriptor that waits in a "
		    "socket: %s", f->user->proc->pid, f->why) == -1)
			return -1;
	}
	return 0;
}

/*
 * Add a packet of n bytes, the nth of those that wait at socket f, to image b;
 * *next is the first of the descriptors that were not sent yet.  All files have
 * their numbers.
 */
static int
packet_write(struct criumake *m, const struct makeopen *f, uint64_t nth,
    const uint8_t *data, uint64_t n, size_t *next, struct buf *b)
{
	Criu__SocketPacket e = CRIU__SOCKET_PACKET__INIT;
	Criu__ScmEntry scm = CRIU__SCM_ENTRY__INIT, *one = &scm;
	size_t len, k;

	for (k = *next; k < f->npassed && f->passed[k].packet == nth; k++)
		scm.n_rights++;
	scm.type = RIGHTS;
	scm.rights = calloc(scm.n_rights + 1, sizeof *scm.rights);
	if (scm.rights == NULL)
		return errstr_set("out of memory");
	for (k = 0; k < scm.n_rights; k++)
		scm.rights[k] = makefind_open(m, f->passed[*next + k].id)->id;
	*next += scm.n_rights;
	e.id_for = f->id;
	e.scm = &one;
	e.n_scm = scm.n_rights > 0;
	do {
		len = f->v[OK_SOCKET][SOCK_TYPE] == STREAM && n > PIECE ?
		    PIECE : (size_t)n;
		e.length = (uint32_t)len;
		criuimg_add(b, &e.base);
		e.n_scm = 0;
		buf_add(b, data, len);
		data += len;
		n -= len;
	} while (n > 0);
	free(scm.rights);
	return 0;
}

/*
 * Add what waits at UNIX socket f, which is written, as all files are that it
 * has, to sk-queues.img: packets, or the bytes of a stream in pieces.
 */
static int
queue_write(struct criumake *m, const struct makeopen *f)
{
	struct recfile d;
	struct buf *b;
	char line[24];
	uint64_t n, nth;
	size_t off, len, next;

	if (!makefind_data(m, "socket", f->v[OK_INO][0], &d) || d.len == 0)
		return 0;
	if ((b = make_common(m, CRIU_SK_QUEUES, "sk-queues.img")) ==
	    NULL)
		return -1;
	next = 0;
	for (nth = 0, off = 0; off < d.len; nth++) {
		for (len = 0; len < sizeof line - 1 && off < d.len &&
		    d.data[off] != '\n'; len++)
			line[len] = (char)d.data[off++];
		line[len] = '\0';
		if (off++ >= d.len || !number_parse(line, 'd', &n) ||
		    n > d.len - off)
			return errstr_set("socket/%" PRIu64 ": byte %zu: not "
			    "a length, a newline and so many bytes",
			    f->v[OK_INO][0], off - 1);
		if (packet_write(m, f, nth, d.data + off, n, &next, b) == -1)
			return -1;
		off += n;
	}
	return next == f->npassed ? 0 : errstr_set("socket/%" PRIu64 ": %"
	    PRIu64 " packets, and descriptors with packet %" PRIu64,
	    f->v[OK_INO][0], nth, f->passed[next].packet);
}

/*
 * Make sk-queues.img, after all files.
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
		if (f->id != 0 && !f->turn && makeopen_is(f, "unix") &&
		    queue_write(m, f) == -1)
			return -1;
	}
	return 0;
}
