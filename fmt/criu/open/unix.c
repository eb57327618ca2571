/*
 * UNIX sockets as CRIU images: their entries in files.img.
 */
#include "open.h"

#include <inttypes.h>
#include <limits.h>

enum {
	ESTABLISHED = 1, LISTEN = 10,	/* of include/net/tcp_states.h */
	DGRAM = 2,
	EXTERNAL = 1		/* USK_EXTERN of criu's sk-unix.c */
};

/*
 * Set the file of a socket that has a path for its name, and its rights.  dir
 * is where a relative path leads from, or empty.
 */
static void
socket_file(const struct criumake *m, const struct makeopen *f,
    Criu__UnixSocket *p, Criu__FilePerms *perms, char *dir)
{
	criu__file_perms__init(perms);
	if (f->namelen == 0 || f->name[0] == '\0')
		return;
	perms->mode = (uint32_t)f->v[OK_MODE][0];
	perms->uid = makeusers_uid(m, f->v[OK_UID][0]);
	perms->gid = makeusers_gid(m, f->v[OK_GID][0]);
	if (makeopen_has(f, OK_MODE))
		p->file_perms = perms;
	if (*dir != '\0')
		p->name_dir = dir;
	p->has_deleted = p->deleted = f->v[OK_DELETED][0] != 0;
}

/*
 * Return whether f is connected to a socket that is not in the snapshot.
 */
bool
makeunix_leaves(const struct criumake *m, const struct makeopen *f)
{
	const struct makeopen *peer = makefind_peer(m, f);

	return f->v[OK_SOCKET][SOCK_PEER] != 0 &&
	    (peer == NULL || !peer->used);
}

/*
 * Return whether f is connected to a socket that is not in the snapshot, and
 * can be connected to it again, or who has its name then: one of datagrams,
 * with a name that means the same everywhere.
 */
bool
makeunix_external(const struct criumake *m, const struct makeopen *f)
{
	return f->v[OK_SOCKET][SOCK_TYPE] == DGRAM && f->peerlen > 1 &&
	    (f->peer[0] == '/' || f->peer[0] == '\0') && makeunix_leaves(m, f);
}

/*
 * Note to what descriptor fd of t, which is restored, is connected by name.
 * Return 0, or -1 with errstr.
 */
int
makeunix_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const bool path = f->peerlen > 0 && f->peer[0] != '\0';

	if (!makeunix_external(m, f))
		return 0;
	m->need |= CRIU_EXT_UNIX_SK;
	return make_note(m, "process %" PRIu64 ", descriptor %" PRIu64 ": is "
	    "connected to %s%.*s when it is restored", t->proc->pid, fd->fd,
	    path ? "" : "@", (int)f->peerlen - !path,
	    (const char *)f->peer + !path);
}

/*
 * Add the socket that f is connected to and that is not in the snapshot, once
 * for all that are connected to it.
 */
static void
external_write(struct criumake *m, const struct makeopen *f)
{
	Criu__FileEntry e = CRIU__FILE_ENTRY__INIT;
	Criu__UnixSocket p = CRIU__UNIX_SOCKET__INIT;
	Criu__SocketOptions o = CRIU__SOCKET_OPTIONS__INIT;
	Criu__Fown fown;
	size_t i;

	for (i = 0; i < m->nopen; i++)
		if (m->open[i] != f && m->open[i]->id != 0 &&
		    m->open[i]->type == KIND_UNIX &&
		    m->open[i]->v[OK_SOCKET][SOCK_PEER] ==
		    f->v[OK_SOCKET][SOCK_PEER])
			return;
	makeopen_fown(m, NULL, &fown);
	o.has_so_sndbuf = o.has_so_rcvbuf = o.has_so_snd_tmo_sec =
	    o.has_so_snd_tmo_usec = o.has_so_rcv_tmo_sec =
	    o.has_so_rcv_tmo_usec = true;
	e.type = FD_UNIXSK;
	e.id = p.id = ++m->lastid;
	p.has_ino = p.has_type = p.has_state = p.has_flags = p.has_uflags =
	    p.has_backlog = p.has_peer = p.has_name = true;
	p.ino = (uint32_t)f->v[OK_SOCKET][SOCK_PEER];
	p.type = (uint32_t)f->v[OK_SOCKET][SOCK_TYPE];
	p.state = LISTEN;
	p.uflags = EXTERNAL;
	p.name.data = f->peer;
	p.name.len = f->peerlen;
	p.fown = &fown;
	p.opts = &o;
	e.usk = &p;
	criuimg_add(m->files, &e.base);
}

/*
 * Add UNIX socket f to files.img, whose entry e is begun and fown is to whom it
 * sends signals, and before it what it is connected to if that is not in the
 * snapshot.
 */
void
makeunix_write(struct criumake *m, const struct makeopen *f, Criu__FileEntry e,
    Criu__Fown *fown)
{
	Criu__UnixSocket p = CRIU__UNIX_SOCKET__INIT;
	Criu__SocketOptions o;
	Criu__FilePerms perms;
	const uint64_t *s = f->v[OK_SOCKET];
	const struct makeopen *accepter;
	char dir[PATH_MAX];

	if (makeunix_leaves(m, f))
		external_write(m, f);
	p.id = f->id;
	p.has_ino = p.has_type = p.has_state = p.has_flags = p.has_uflags =
	    p.has_backlog = p.has_peer = p.has_name = p.has_shutdown = true;
	p.ino = (uint32_t)f->v[OK_INO][0];
	p.type = (uint32_t)s[0];
	p.state = (uint32_t)s[1];
	p.peer = (uint32_t)s[2];
	/* criu connects it to that again */
	if (p.peer == 0 && s[1] == ESTABLISHED &&
	    (accepter = makefind_accepter(m, f)) != NULL)
		p.peer = (uint32_t)accepter->v[OK_INO][0];
	p.backlog = (uint32_t)s[3];
	p.shutdown = (uint32_t)s[4];
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.name.data = f->name;
	p.name.len = f->namelen;
	p.fown = fown;
	p.opts = &o;
	makesocket_options(f, &o);
	(void)makeopen_dir(f, dir, sizeof dir);
	socket_file(m, f, &p, &perms, dir);
	e.usk = &p;
	criuimg_add(m->files, &e.base);
}
