/*
 * The table of the kinds of open files: how criu restores each, and the
 * functions that handle what its keys do not say. Decide which open files can
 * be restored.
 */
#include "calls.h"
#include "bisect.h"
#include "open.h"

#include <fcntl.h>

#define ENTRY(field) offsetof(Criu__FileEntry, field)

static const struct makekind kinds[KIND_MAX] = {
	[KIND_OTHER] = { 0, WHY_OTHER,
	    .never = "a file of a kind that criu cannot open" },
	[KIND_DEVICE] = { 0, WHY_DEVICE, .never = "a device" },
	[KIND_IO_URING] = { 0, WHY_IO_URING, .never = "io_uring" },
	[KIND_MQUEUE] = { 0, WHY_MQUEUE, .never = "a POSIX message queue" },
	[KIND_REG] = { FD_REG, WHY_OTHER, makenamed_obstacle, makenamed_note },
	[KIND_DIR] = { FD_REG, WHY_OTHER, makenamed_obstacle },
	[KIND_CHR] = { FD_REG, WHY_OTHER, makenamed_obstacle },
	[KIND_LINK] = { FD_REG, WHY_OTHER, makenamed_obstacle },
	[KIND_FIFO] = { FD_FIFO, WHY_PIPE, makefifo_obstacle, NULL,
	    ENTRY(fifo), makefifo_write },
	[KIND_PIPE] = { FD_PIPE, WHY_PIPE, makepipe_obstacle, NULL,
	    ENTRY(pipe), makepipe_write },
	[KIND_UNIX] = { FD_UNIXSK, WHY_UNIX, makeunix_obstacle, makeunix_note,
	    ENTRY(usk), makeunix_write },
	[KIND_INET] = { FD_INETSK, WHY_TCP, makeinet_obstacle, makeinet_note,
	    ENTRY(isk), makeinet_write },
	[KIND_NETLINK] = { FD_NETLINKSK, WHY_NETLINK, makenetlink_obstacle,
	    makesocket_note, ENTRY(nlsk), makenetlink_write },
	[KIND_PACKET] = { FD_PACKETSK, WHY_PACKET, makepacket_obstacle,
	    makesocket_note, ENTRY(psk), makepacket_write },
	[KIND_TTY] = { FD_TTY, WHY_TTY, maketty_obstacle, maketty_note,
	    ENTRY(tty), maketty_write },
	[KIND_INOTIFY] = { FD_INOTIFY, WHY_INOTIFY, makeinotify_obstacle,
	    makeinotify_note, ENTRY(ify), makeinotify_write },
	[KIND_FANOTIFY] = { FD_FANOTIFY, WHY_FANOTIFY, makefanotify_obstacle,
	    makefanotify_note, ENTRY(ffy), makefanotify_write },
	[KIND_EVENTFD] = { FD_EVENTFD, WHY_EVENTFD, makeeventfd_obstacle, NULL,
	    ENTRY(efd) },
	[KIND_EPOLL] = { FD_EVENTPOLL, WHY_EPOLL, makeepoll_obstacle, NULL,
	    ENTRY(epfd), makeepoll_write },
	[KIND_TIMERFD] = { FD_TIMERFD, WHY_OTHER, NULL, NULL,
	    ENTRY(tfd), maketimerfd_write },
	[KIND_SIGNALFD] = { FD_SIGNALFD, WHY_OTHER, NULL, NULL, ENTRY(sgfd) },
	[KIND_MEMFD] = { FD_MEMFD, WHY_SHM, makememfd_obstacle, NULL,
	    ENTRY(memfd), makememfd_write },
	[KIND_NAMESPACE] = { FD_NS, WHY_NAMESPACES, makens_obstacle, NULL,
	    ENTRY(nsf), makens_write },
	[KIND_PIDFD] = { FD_PIDFD, WHY_PIDFD, makepidfd_obstacle, NULL,
	    ENTRY(pidfd), makepidfd_write }
};

/*
 * Return the table entry for the kind of open file f.
 */
const struct makekind *
makekind_get(const struct makeopen *f)
{
	return &kinds[f->type];
}

/*
 * Return which ends of a pipe or FIFO the open file f has: PIPE_READ,
 * PIPE_WRITE, or PIPE_BOTH. Return 0 if f is not restored.
 */
static unsigned int
ends_of(const struct makeopen *f)
{
	if (!makeopen_written(f))
		return 0;
	switch (f->v[OK_FLAGS][0] & ACCESS_MODE) {
	case O_RDONLY:
		return PIPE_READ;
	case O_WRONLY:
		return PIPE_WRITE;
	default:
		return PIPE_BOTH;
	}
}

/*
 * Set the members "ends" and "packets" of each open file to those of its pipe
 * or FIFO that are restored.
 */
static void
ends_find(struct criumake *m)
{
	enum { DIRECT = 0x14000 };	/* O_DIRECT on amd64 or arm64; where
					   the bit is O_DIRECTORY, no pipe has
					   it */
	const struct makeopen *f;
	unsigned int ends;
	bool packets;
	size_t i, k;

	for (i = 0; i < m->nopen;) {
		ends = 0;
		packets = false;
		for (k = i; k < m->nopen && makefind_inodecmp(m->byino[i],
		    m->byino[k]) == 0; k++) {
			f = m->byino[k];
			ends |= ends_of(f);
			packets |= (f->v[OK_FLAGS][0] & DIRECT) != 0;
		}
		for (; i < k; i++) {
			m->byino[i]->ends = ends;
			m->byino[i]->packets = packets;
		}
	}
}

/*
 * Return the reason why open file f cannot be restored, or NULL if it can.
 */
static const char *
open_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct makekind *k = makekind_get(f);

	if (k->never != NULL)
		return k->never;
	if (f->passing && f->v[OK_LOCK][0] != 0)
		return "a file with a lock that no process has open";
	return k->obstacle == NULL ? NULL : k->obstacle(m, f);
}

/*
 * Return the class of the reason why f cannot be restored.
 */
static enum makewhy
open_kind(const struct criumake *m, const struct makeopen *f)
{
	const struct makekind *k = makekind_get(f);

	if (k->fd == FD_INETSK)
		return makeinet_kind(f);
	if (k->fd == FD_REG && makeobstacle_isqueue(m, f))
		return WHY_MQUEUE;
	if ((k->fd == FD_REG || k->fd == FD_FIFO) &&
	    f->v[OK_DELETED][0] != 0)
		return WHY_DELETED;
	return k->why;
}

/*
 * Return the name of an io_uring(7) descriptor for messages. comm is the
 * command name of its process, which a newline may follow, or NULL. If a
 * setting of that program avoids io_uring, the name includes it.
 */
const char *
criu_uring(const char *comm)
{
	static const struct avoided {
		const char	*comm;
		const char	*name;
	} avoided[] = {
		{ "mariadbd", "io_uring (innodb_use_native_aio=0 avoids it)" },
		{ "mysqld", "io_uring (innodb_use_native_aio=0 avoids it)" }
	};
	const size_t n = comm == NULL ? 0 : strcspn(comm, "\n");
	const struct avoided *a = SEEK_IN(avoided, strlen(x->comm) == n &&
	    memcmp(x->comm, comm, n) == 0);

	return a == NULL ? kinds[KIND_IO_URING].never : a->name;
}

/*
 * Record that descriptor fd of process t cannot be restored. The reason is
 * fd->open->why. Precede it with the name of the file's kind, if there is such
 * a name and it differs from the reason.
 */
static int
fd_refuse(struct criumake *m, struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const struct makekind *k = makekind_get(f);
	const char *what;

	what = f->type == KIND_INET ? "an IP socket" :
	    k->why == WHY_OTHER ? NULL : k->never;
	if (f->type == KIND_IO_URING)
		what = criu_uring(maketask_line(t, "comm"));
	if (what != NULL && strcmp(what, f->why) == 0)
		what = NULL;
	t->ring |= f->kind == WHY_IO_URING;
	return make_refuse(m, t, fd, f->kind, "%s%s%s%s%s",
	    what != NULL ? what : "", what != NULL ? ": " : "", f->why,
	    f->path != NULL ? ": " : "", f->path != NULL ? f->path : "");
}

/*
 * Record a note for each thing that the open file of descriptor fd of t loses
 * when it is restored. Do this only once for each open file.
 */
static int
fd_note(struct criumake *m, const struct maketask *t, const struct makefd *fd)
{
	makenote_fn *note;

	if (fd->open->noted)
		return 0;
	fd->open->noted = true;
	if (makestdio_isoutside(m, fd->open))
		return makestdio_note(m, t, fd);
	if (makeopen_orphan(m, fd->open) && make_note(m, t, fd, "the owner "
	    "that gets its signals (F_SETOWN) is not restored") == -1)
		return -1;
	note = makekind_get(fd->open)->note;
	return note == NULL ? 0 : note(m, t, fd);
}

/*
 * Record notes for the open files that are only queued in sockets.
 */
static int
queued_note(struct criumake *m)
{
	struct makefd fd = { .fd = NOFD };
	size_t i;

	for (i = 0; i < m->nopen; i++) {
		fd.open = m->open[i];
		if (fd.open->passing && fd.open->why == NULL &&
		    fd_note(m, fd.open->user, &fd) == -1)
			return -1;
	}
	return 0;
}

/*
 * Decide which open files cannot be restored. An open file that needs one of
 * them cannot be restored either, so repeat this until nothing changes. Then
 * record a reason for each descriptor of these files, and notes for the other
 * descriptors, and for descriptors that are queued in sockets. Return 0, or -1
 * with errstr set.
 */
int
makejudge_opens(struct criumake *m)
{
	enum { ROUNDS = 64 };	/* maximum number of passes; the kernel allows
				   fewer levels of nested epoll sets */
	struct maketask *t;
	const char *why;
	size_t i, k, round;
	bool again;

	for (i = 0; i < m->nopen; i++)
		if (m->open[i]->why != NULL)
			m->open[i]->kind = open_kind(m, m->open[i]);
	makestdio_find(m);
	round = 0;
	do {
		if (++round > ROUNDS)
			return errstr_set("file dependency chain is too "
			    "long");
		ends_find(m);
		if (makequeue_order(m) == -1)
			return -1;
		again = false;
		for (i = 0; i < m->nopen; i++) {
			if (!makeopen_written(m->open[i]) ||
			    (why = open_obstacle(m, m->open[i])) == NULL)
				continue;
			m->open[i]->kind = open_kind(m, m->open[i]);
			m->open[i]->why = pool_string(&m->pool, why);
			if (m->open[i]->why == NULL)
				return -1;
			again = true;
		}
	} while (again);
	if (maketcp_judge(m) == -1)
		return -1;
	for (i = 0; i < m->norder; i++)
		for (t = m->order[i], k = 0; k < t->nfd; k++)
			if (t->fd[k].open->why != NULL ?
			    fd_refuse(m, t, &t->fd[k]) == -1 :
			    fd_note(m, t, &t->fd[k]) == -1)
				return -1;
	return makequeue_refuse(m) == -1 || queued_note(m) == -1 ? -1 :
	    makeinet_rest(m);
}
