/*
 * UNIX sockets as CRIU images: their entries in files.img.
 */
#include "criumake.h"

#include <limits.h>

enum {
	ESTABLISHED = 1		/* of include/net/tcp_states.h */
};

/*
 * Set the file of a socket that has a path for its name, and its rights.  dir
 * is where a relative path leads from, or empty.
 */
static void
socket_file(const struct makeopen *f, Criu__UnixSocket *p,
    Criu__FilePerms *perms, char *dir)
{
	criu__file_perms__init(perms);
	if (f->namelen == 0 || f->name[0] == '\0')
		return;
	perms->mode = (uint32_t)f->v[OK_MODE][0];
	perms->uid = (uint32_t)f->v[OK_UID][0];
	perms->gid = (uint32_t)f->v[OK_GID][0];
	if (makeopen_has(f, OK_MODE))
		p->file_perms = perms;
	if (*dir != '\0')
		p->name_dir = dir;
	p->has_deleted = p->deleted = f->v[OK_DELETED][0] != 0;
}

/*
 * Add UNIX socket f to files.img, whose entry e is begun.
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
	socket_file(f, &p, &perms, dir);
	e.usk = &p;
	criuimg_add(m->files, &e.base);
}
