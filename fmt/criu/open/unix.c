/*
 * Write entries for UNIX sockets to files.img.
 */
#include "open.h"
#include "bisect.h"

enum { EXTERNAL = 1 };		/* USK_EXTERN from criu's sk-unix.c */

/*
 * Set the file permissions in p to those of the path that socket f is bound to,
 * and its mount namespace if that is not the root process's. If the path is
 * relative, also set the directory that it is relative to. Do nothing if f is
 * not bound to a path.
 */
static int
socket_file(struct criumake *m, const struct makeopen *f, Criu__UnixSocket *p)
{
	Criu__FilePerms *perms;
	char *dir;

	if (f->namelen == 0 || f->name[0] == '\0')
		return 0;
	if ((dir = pool_new(&m->msgs, PATH_MAX, 1)) == NULL)
		return -1;
	(void)makeopen_dir(f, dir, PATH_MAX);
	/* only if necessary: criu cannot change the mount namespace of a
	   process with a session helper (init_pstree_helper() in its
	   pstree.c) */
	if (f->user->mounts != m->root->mounts)
		makemount_path(m, f->user->mounts, "/", &p->has_mnt_id,
		    &p->mnt_id);
	if (*dir != '\0')
		p->name_dir = dir;
	p->has_deleted = p->deleted = f->v[OK_DELETED][0] != 0;
	if (!makeopen_has(f, OK_MODE))
		return 0;
	if ((perms = MSG_PART(&m->msgs, p, file_perms)) == NULL)
		return -1;
	perms->mode = (uint32_t)f->v[OK_MODE][0];
	perms->uid = makeusers_uid(m, f->v[OK_UID][0]);
	perms->gid = makeusers_gid(m, f->v[OK_GID][0]);
	return 0;
}

/*
 * Return true if the file that socket f is bound to has a different name than
 * the absolute path to which f was bound: it was renamed after that. Return
 * false for an accepted connection, which criu does not bind (bind_unix_sk() in
 * its sk-unix.c).
 */
bool
makeunix_isrenamed(const struct makeopen *f)
{
	const char *last = f->path == NULL ? NULL : strrchr(f->path, '/');
	const uint64_t *s = f->v[OK_SOCKET];
	size_t n, len;

	if (last == NULL || f->namelen == 0 || f->name[0] != '/' ||
	    f->v[OK_DELETED][0] != 0 || (s[SOCK_TYPE] != TYPE_DGRAM &&
	    s[SOCK_STATE] == STATE_ESTABLISHED))
		return false;
	n = strnlen((const char *)f->name, f->namelen);
	len = strlen(last);
	return len > n || memcmp(f->name + n - len, last, len) != 0;
}

/*
 * Return true if f is connected to a socket that is not in the snapshot.
 */
bool
makeunix_isoutside(const struct criumake *m, const struct makeopen *f)
{
	const struct makeopen *peer = makefind_peer(m, f);

	return f->v[OK_SOCKET][SOCK_PEER] != 0 &&
	    (peer == NULL || !peer->used);
}

/*
 * Return true if f is connected to a socket outside the snapshot, and criu can
 * connect it to that socket again. f is then a datagram socket, and the name of
 * the other socket is an absolute path or an abstract name.
 */
bool
makeunix_external(const struct criumake *m, const struct makeopen *f)
{
	return f->v[OK_SOCKET][SOCK_TYPE] == TYPE_DGRAM && f->peerlen > 1 &&
	    (f->peer[0] == '/' || f->peer[0] == '\0') &&
	    makeunix_isoutside(m, f);
}

/*
 * Return the number of connections that wait to be accepted by listening UNIX
 * socket f and are not restored. Such a connection was closed, or its client is
 * outside the snapshot or is not restored.
 */
static uint64_t
unaccepted(struct criumake *m, const struct makeopen *f)
{
	const struct openline *caller;
	const struct makeopen *o;
	uint64_t lost = 0;
	size_t n;

	for (caller = makekeys_lines(f, OK_CALLER, &n); n > 0; n--, caller++) {
		o = caller->v[0] == 0 ? NULL : makefind_inode(m, KIND_UNIX,
		    caller->v[0]);
		lost += o == NULL || !o->used || o->why != NULL;
	}
	return lost;
}

/*
 * Record each thing that a UNIX socket loses when it is restored. If criu
 * connects it again by name, or binds it to another name, also record a note
 * with that name. Descriptor fd of t refers to the socket. Return 0, or -1 with
 * errstr set.
 */
int
makeunix_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const bool path = f->peerlen > 0 && f->peer[0] != '\0';

	if (makeunix_external(m, f)) {
		m->need |= CRIU_EXT_UNIX_SK;
		if (make_note(m, t, fd, "is connected to %s%.*s when it is "
		    "restored", path ? "" : "@", (int)f->peerlen - !path,
		    (const char *)f->peer + !path) == -1)
			return -1;
	}
	if (makeunix_isrenamed(f) && make_note(m, t, fd, "is bound to %s when "
	    "it is restored", f->path) == -1)
		return -1;
	return makeopen_waiting(m, t, fd, unaccepted(m, f)) == -1 ||
	    makeinet_options(m, t, fd) == -1 ? -1 : makequeue_note(m, t, fd);
}

/*
 * Add an entry to files.img for the peer of f, which is outside the snapshot.
 * All sockets that are connected to the peer share one entry.
 */
static void
external_write(struct criumake *m, const struct makeopen *f)
{
	static const uint64_t none[6];
	const uint64_t *s = f->v[OK_SOCKET];
	Criu__UnixSocket p = CRIU__UNIX_SOCKET__INIT;
	Criu__SocketOptions o = CRIU__SOCKET_OPTIONS__INIT;

	if (PSEEK(m->open, m->nopen, x != f && x->id != 0 &&
	    x->type == KIND_UNIX && x->v[OK_SOCKET][SOCK_PEER] ==
	    s[SOCK_PEER]) != NULL)
		return;
	MSG_FILL(&o, "so_sndbuf so_rcvbuf so_snd_tmo_sec so_snd_tmo_usec "
	    "so_rcv_tmo_sec so_rcv_tmo_usec", none);
	MSG_FILL(&p, "ino type state flags uflags backlog peer",
	    ((uint64_t[]){ s[SOCK_PEER], s[SOCK_TYPE], STATE_LISTEN, 0,
	    EXTERNAL, 0, 0 }));
	p.has_name = true;
	p.name.data = f->peer;
	p.name.len = f->peerlen;
	p.opts = &o;
	makeopen_entry(m, NULL, FD_UNIXSK, offsetof(Criu__FileEntry, usk),
	    ++m->lastid, &p.base);
}

/*
 * Fill in msg, the protobuf message of UNIX socket f. If the peer of f is not
 * in the snapshot, add an entry for the peer to files.img first. Return 0, or
 * -1 with errstr set.
 */
int
makeunix_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	ProtobufCMessage *part[OPT_PARTS] = { 0 };
	Criu__UnixSocket *p = msg;
	const struct makeopen *accepter;

	if (makeunix_isoutside(m, f))
		external_write(m, f);
	p->has_uflags = p->has_name = true;
	/* criu connects f to the listening socket again */
	if (p->peer == 0 && p->state == STATE_ESTABLISHED &&
	    (accepter = makefind_accepter(m, f)) != NULL)
		p->peer = (uint32_t)accepter->v[OK_INO][0];
	p->name.data = f->name;
	p->name.len = f->namelen;
	if (makeunix_isrenamed(f)) {
		p->name.data = (uint8_t *)f->path;
		p->name.len = strlen(f->path) + 1;
	}
	part[OPT_SOCKET] = MSG_PART(&m->msgs, p, opts);
	return makesocket_set(m, f, part) == -1 ? -1 : socket_file(m, f, p);
}
