/*
 * Open files as CRIU images: an entry in files.img for each, and what is in
 * pipes and sockets.
 */
#include "open.h"

#include <inttypes.h>
#include <stdlib.h>

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

static int
pipe_write(struct criumake *m, const struct makeopen *f, Criu__FileEntry e,
    Criu__Fown *fown)
{
	Criu__Pipe p = CRIU__PIPE__INIT;

	p.id = f->id;
	p.pipe_id = (uint32_t)f->v[OK_INO][0];
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.fown = fown;
	e.pipe = &p;
	criuimg_add(m->files, &e.base);
	return pipe_data(m, f, CRIU_PIPES_DATA, "pipes-data.img");
}

static int
fifo_write(struct criumake *m, const struct makeopen *f, Criu__FileEntry e)
{
	Criu__Fifo p = CRIU__FIFO__INIT;

	p.id = f->id;
	p.has_pipe_id = p.has_regf_id = true;
	p.pipe_id = (uint32_t)f->v[OK_INO][0];
	p.regf_id = ++m->lastid;
	e.fifo = &p;
	if (makereg_open(m, f, p.regf_id, true) == -1)
		return -1;
	criuimg_add(m->files, &e.base);
	return pipe_data(m, f, CRIU_FIFO_DATA, "fifo-data.img");
}

static void
eventfd_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	Criu__Eventfd p = CRIU__EVENTFD__INIT;

	p.id = f->id;
	p.has_flags = p.has_counter = true;
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.counter = f->v[OK_COUNT][0];
	p.fown = fown;
	e.efd = &p;
	criuimg_add(m->files, &e.base);
}

static int
epoll_write(struct criumake *m, const struct makeopen *f, Criu__FileEntry e,
    Criu__Fown *fown)
{
	Criu__Epoll p = CRIU__EPOLL__INIT;
	Criu__EpollTarget *t, **tp;
	size_t i;

	t = calloc(f->ntarget + 1, sizeof *t);
	tp = calloc(f->ntarget + 1, sizeof *tp);
	for (i = 0; t != NULL && tp != NULL && i < f->ntarget; i++) {
		criu__epoll_target__init(&t[i]);
		t[i].id = f->id;
		t[i].tfd = (uint32_t)f->target[i].fd;
		t[i].events = (uint32_t)f->target[i].events;
		t[i].data = f->target[i].data;
		tp[i] = &t[i];
	}
	p.id = f->id;
	p.has_flags = true;
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.fown = fown;
	p.tfd = tp;
	p.n_tfd = i;
	e.epfd = &p;
	criuimg_add(m->files, &e.base);
	i = t == NULL || tp == NULL;
	free(t);
	free(tp);
	return i ? errstr_set("out of memory") : 0;
}

static void
signalfd_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	Criu__Signalfd p = CRIU__SIGNALFD__INIT;

	p.id = f->id;
	p.has_flags = p.has_sigmask = true;
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.sigmask = f->v[OK_MASK][0];
	p.fown = fown;
	e.sgfd = &p;
	criuimg_add(m->files, &e.base);
}

/*
 * A periodic timer that has expired and was not read yet has nothing left,
 * which would stop it: let it begin its interval.
 */
static void
timerfd_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	Criu__Timerfd p = CRIU__TIMERFD__INIT;
	uint64_t left;

	left = f->v[OK_LEFT][0];
	if (left == 0 && f->v[OK_TICKS][0] > 0)
		left = f->v[OK_INTERVAL][0];

	p.id = f->id;
	p.has_flags = p.has_clockid = p.has_ticks = p.has_settime_flags =
	    p.has_vsec = p.has_vnsec = p.has_isec = p.has_insec = true;
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.clockid = (uint32_t)f->v[OK_CLOCK][0];
	p.ticks = f->v[OK_TICKS][0];
	p.settime_flags = (uint32_t)f->v[OK_SETTIME][0];
	p.vsec = left / NSEC;
	p.vnsec = left % NSEC;
	p.isec = f->v[OK_INTERVAL][0] / NSEC;
	p.insec = f->v[OK_INTERVAL][0] % NSEC;
	p.fown = fown;
	e.tfd = &p;
	criuimg_add(m->files, &e.base);
}

static int
memfd_write(struct criumake *m, const struct makeopen *f, Criu__FileEntry e,
    Criu__Fown *fown)
{
	Criu__MemfdFile p = CRIU__MEMFD_FILE__INIT;
	struct makeshm *o;

	o = makeshm_get(m, f->v[OK_DEV][0], f->v[OK_INO][0], f->user);
	if (o == NULL)
		return -1;
	o->open = f;
	if (makeopen_has(f, OK_HUGEPAGES))
		o->huge = f->v[OK_HUGEPAGES][0];
	p.id = f->id;
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.pos = f->v[OK_POS][0];
	p.inode_id = (uint32_t)(o - m->shm) + 1;
	p.fown = fown;
	e.memfd = &p;
	criuimg_add(m->files, &e.base);
	return 0;
}

/*
 * Add an open file to files.img, with what belongs to it elsewhere.
 */
static int
open_write(struct criumake *m, struct makeopen *f)
{
	Criu__FileEntry e = CRIU__FILE_ENTRY__INIT;
	Criu__Fown fown;

	f->id = e.id = ++m->lastid;
	makeopen_fown(m, f, &fown);
	e.type = makejudge_type(f);
	switch (e.type) {
	case FD_PIPE:
		return pipe_write(m, f, e, &fown);
	case FD_FIFO:
		return fifo_write(m, f, e);
	case FD_UNIXSK:
		makeunix_write(m, f, e, &fown);
		return 0;
	case FD_PIDFD:
		makepidfd_write(m, f, e, &fown);
		return 0;
	case FD_INOTIFY:
		return makeinotify_write(m, f, e, &fown);
	case FD_FANOTIFY:
		return makefanotify_write(m, f, e, &fown);
	case FD_NS:
		makens_write(m, f, e);
		return 0;
	case FD_TTY:
		return maketty_write(m, f, e, &fown);
	case FD_PACKETSK:
		return makepacket_write(m, f, e, &fown);
	case FD_NETLINKSK:
		makenetlink_write(m, f, e, &fown);
		return 0;
	case FD_INETSK:
		return makeinet_write(m, f, e, &fown);
	case FD_EVENTFD:
		eventfd_write(m, f, e, &fown);
		return 0;
	case FD_EVENTPOLL:
		return epoll_write(m, f, e, &fown);
	case FD_TIMERFD:
		timerfd_write(m, f, e, &fown);
		return 0;
	case FD_SIGNALFD:
		signalfd_write(m, f, e, &fown);
		return 0;
	case FD_MEMFD:
		return memfd_write(m, f, e, &fown);
	default:
		return makereg_open(m, f, f->id, false);
	}
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
