/*
 * Which of the open files can be restored.
 */
#include "calls.h"
#include "open.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum {				/* of include/net/tcp_states.h, sys/socket.h */
	STATE_ESTABLISHED = 1, STATE_CLOSE = 7, STATE_LISTEN = 10,
	TYPE_DGRAM = 2, SHUT_BOTH = 3
};

/*
 * Return which ends of a pipe or FIFO f is, if it is restored.
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
 * Find out which ends are restored of each inode.
 */
static void
ends_find(struct criumake *m)
{
	unsigned int ends;
	size_t i, k;

	for (i = 0; i < m->nopen;) {
		ends = 0;
		for (k = i; k < m->nopen && makefind_inodecmp(m->byino[i],
		    m->byino[k]) == 0; k++)
			ends |= ends_of(m->byino[k]);
		for (; i < k; i++)
			m->byino[i]->ends = ends;
	}
}

/*
 * Return why a pipe cannot be restored, or NULL.
 */
const char *
makepipe_hinders(struct criumake *m, const struct makeopen *f)
{
	if (f->v[OK_ALONE][0] != 0 || makestandard_leaves(m, f))
		return NULL;
	if (!(f->ends & PIPE_READ))
		return "a pipe that is read by who is not in the snapshot";
	if (!(f->ends & PIPE_WRITE))
		return "a pipe that is written by who is not in the snapshot";
	return NULL;
}

/*
 * Return why a UNIX socket that is connected to none cannot be restored, or
 * NULL.
 */
static const char *
single_hinders(const struct criumake *m, const struct makeopen *f)
{
	const uint64_t *s = f->v[OK_SOCKET];
	const struct openline *caller;
	const struct makeopen *o;
	size_t n;

	caller = makekeys_lines(f, OK_CALLER, &n);
	for (; n > 0; n--, caller++) {
		if (caller->v[0] == 0)
			return "a connection that was closed waits to be "
			    "accepted";
		o = makefind_inode(m, KIND_UNIX, caller->v[0]);
		if (o == NULL || !o->used)
			return "a connection of who is not in the snapshot "
			    "waits to be accepted";
		if (o->why != NULL)
			return "a connection that cannot be restored waits to "
			    "be accepted";
	}
	if (s[SOCK_STATE] != STATE_ESTABLISHED ||
	    s[SOCK_TYPE] == TYPE_DGRAM || s[4] == SHUT_BOTH)
		return NULL;
	o = makefind_accepter(m, f);
	if (o == NULL || !makeopen_written(o))
		return "a connection that waits to be accepted by who is not "
		    "in the snapshot";
	return f->v[OK_UNREAD][0] == 0 ? NULL :
	    "a connection that waits to be accepted, with bytes to be read";
}

/*
 * Return why a UNIX socket cannot be restored, or NULL.
 */
const char *
makeunix_hinders(struct criumake *m, const struct makeopen *f)
{
	const uint64_t *s = f->v[OK_SOCKET];
	const struct makeopen *peer;
	char dir[PATH_MAX];
	const char *why;

	if (!makeopen_has(f, OK_SOCKET) || !makeopen_has(f, OK_INO))
		return "a socket that little is known of";
	if (!makeopen_dir(f, dir, sizeof dir))
		return "a socket whose name leads from who knows where";
	if ((why = makequeue_hinders(m, f)) != NULL)
		return why;
	if (s[SOCK_PEER] == 0)
		return single_hinders(m, f);
	peer = makefind_peer(m, f);
	if (peer != NULL && peer->used && peer->why != NULL)
		return "a socket whose other end cannot be restored";
	if (makeunix_external(m, f) || makestandard_leaves(m, f))
		return NULL;
	if (peer == NULL || !makeopen_written(peer))
		return "a socket whose other end is not in the snapshot";
	if (makefind_peer(m, peer) == f)
		return NULL;
	if (s[SOCK_TYPE] != TYPE_DGRAM || peer->namelen == 0)
		return "a socket whose other end is not in the snapshot";
	/* nobody can connect to it any more: unix_may_send of the kernel's
	   net/unix/af_unix.c */
	return peer->v[OK_SOCKET][SOCK_PEER] == 0 ? NULL :
	    "a socket that is connected to one that is connected to another";
}

/*
 * Return a descriptor of t that leads to the open file of a number of the
 * record, descriptor wish if that does; or NULL.
 */
static const struct makefd *
fd_find(const struct maketask *t, uint64_t key, uint64_t wish)
{
	const struct makefd *f;

	f = makefind_fd(t, key, wish);
	return f != NULL && f->fd == wish ? f : makefind_fd(t, key, 0);
}

/*
 * Return why an epoll set cannot be restored, or NULL.  What it waits for
 * must be open in the process that is to make it, whose descriptors its
 * targets are given.
 */
const char *
makeepoll_hinders(struct criumake *m, const struct makeopen *f)
{
	const struct makefd *fd;
	struct openline *t;
	size_t n;

	(void)m;
	for (t = makekeys_lines(f, OK_TARGET, &n); n > 0; n--, t++) {
		fd = t->v[TARGET_ID] == NOFILE ? NULL : fd_find(f->user,
		    t->v[TARGET_ID], t->v[TARGET_FD]);
		if (fd == NULL)
			return "an epoll set with a file that the process has "
			    "no descriptor of";
		if (fd->open->why != NULL)
			return "an epoll set with a file that cannot be "
			    "restored";
		t->v[TARGET_FD] = fd->fd;
	}
	return NULL;
}

/*
 * Return whether f is a POSIX message queue of the mount namespace that is
 * made, where there are none: the kernel has it on a mount of its own.
 */
static bool
is_queue(const struct criumake *m, const struct makeopen *f)
{
	return f->path != NULL && makemount_lacks(m, f->mount) &&
	    makemount_isqueues(m, f->path);
}

/*
 * Return why a file with a name cannot be restored, or NULL.
 */
const char *
makenamed_hinders(struct criumake *m, const struct makeopen *f)
{
	if (f->path == NULL || *f->path != '/')
		return "a file whose path is not known";
	if (is_queue(m, f))
		return "a POSIX message queue in an IPC namespace that is made";
	if (makemount_lacks(m, f->mount))
		return "a file of another mount namespace";
	if (f->v[OK_DELETED][0] == 0)
		return NULL;
	if (f->type == KIND_LINK && f->leads == NULL)
		return "a deleted symbolic link that leads to who knows where";
	if (f->type != KIND_REG)
		return NULL;
	return makereg_content(m, f->v[OK_DEV][0], f->v[OK_INO][0]) != NULL ?
	    NULL : "a deleted file whose content is not in the snapshot";
}

/*
 * Return why an eventfd cannot be restored, or NULL.
 */
const char *
makeeventfd_hinders(struct criumake *m, const struct makeopen *f)
{
	(void)m;
	return f->v[OK_SEMAPHORE][0] == 0 ? NULL :
	    "an eventfd that is a semaphore, which criu does not know";
}

/*
 * Return why a memfd cannot be restored, or NULL.
 */
const char *
makememfd_hinders(struct criumake *m, const struct makeopen *f)
{
	return makereg_content(m, f->v[OK_DEV][0], f->v[OK_INO][0]) != NULL ?
	    NULL : "a memfd whose content is not in the snapshot";
}

/*
 * Return why an open file cannot be restored, or NULL.
 */
static const char *
open_hinders(struct criumake *m, const struct makeopen *f)
{
	const struct makekind *k = makekind_get(f);

	if (k->never != NULL)
		return k->never;
	if (f->passing && f->v[OK_LOCK][0] != 0)
		return "a file with a lock, which no process has open";
	return k->hinders == NULL ? NULL : k->hinders(m, f);
}

/*
 * Return of which kind the reason is that f cannot be restored.
 */
static enum makewhy
open_kind(const struct criumake *m, const struct makeopen *f)
{
	const struct makekind *k = makekind_get(f);

	if (k->fd == FD_INETSK)
		return makeinet_kind(f);
	if (k->fd == FD_REG && is_queue(m, f))
		return WHY_MQUEUE;
	if ((k->fd == FD_REG || k->fd == FD_FIFO) &&
	    f->v[OK_DELETED][0] != 0)
		return WHY_DELETED;
	return k->why;
}

/*
 * Note a descriptor whose file cannot be restored.  Its type may say more
 * than the record's own sentence.
 */
static int
fd_refuse(struct criumake *m, struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const struct makekind *k = makekind_get(f);
	const char *what;

	what = f->type == KIND_INET ? "a socket of the internet" :
	    k->why == WHY_OTHER ? NULL : k->never;
	if (what != NULL && strcmp(what, f->why) == 0)
		what = NULL;
	t->ring |= f->kind == WHY_IO_URING;
	return make_refuse(m, t, fd, f->kind, "%s%s%s%s%s",
	    what != NULL ? what : "", what != NULL ? ": " : "", f->why,
	    f->path != NULL ? ": " : "", f->path != NULL ? f->path : "");
}

/*
 * Note what of a descriptor that is restored is not as it was: once of all that
 * lead to one file.
 */
static int
fd_note(struct criumake *m, const struct maketask *t, const struct makefd *fd)
{
	makenote_fn *note;

	if (fd->open->noted)
		return 0;
	fd->open->noted = true;
	if (makestandard_leaves(m, fd->open))
		return makestandard_note(m, t, fd);
	note = makekind_get(fd->open)->note;
	return note == NULL ? 0 : note(m, t, fd);
}

/*
 * Find out which of the open files cannot be restored, and note it of each
 * descriptor.  What is left out may be what another needs.  Return 0, or -1
 * with errstr.
 */
int
makejudge_opens(struct criumake *m)
{
	enum { ROUNDS = 64 };	/* more than epoll sets can be nested */
	struct maketask *t;
	const char *why;
	size_t i, k, round;
	bool again;

	for (i = 0; i < m->nopen; i++)
		if (m->open[i]->why != NULL)
			m->open[i]->kind = open_kind(m, m->open[i]);
	makestandard_find(m);
	round = 0;
	do {
		if (++round > ROUNDS)
			return errstr_set("files that need each other, in too "
			    "long a row");
		ends_find(m);
		if (makequeue_order(m) == -1)
			return -1;
		again = false;
		for (i = 0; i < m->nopen; i++) {
			if (!makeopen_written(m->open[i]) ||
			    (why = open_hinders(m, m->open[i])) == NULL)
				continue;
			m->open[i]->kind = open_kind(m, m->open[i]);
			if ((m->open[i]->why = strdup(why)) == NULL)
				return errstr_set("out of memory");
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
	return makequeue_refuse(m) == -1 ? -1 : makeinet_rest(m);
}
