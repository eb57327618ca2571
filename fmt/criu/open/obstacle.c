/*
 * Return why an open file cannot be restored: files with names, pipes, UNIX
 * sockets, and files of the kernel that have no name, such as an eventfd.
 */
#include "bisect.h"
#include "open.h"

#include <fcntl.h>

/*
 * Return the reason why pipe f cannot be restored, or NULL if it can.
 */
const char *
makepipe_obstacle(struct criumake *m, const struct makeopen *f)
{
	struct recfile data;

	if (f->v[OK_ALONE][0] != 0 || makestdio_isoutside(m, f))
		return NULL;
	if (!(f->ends & PIPE_READ))
		return "a pipe whose reader is not in the snapshot";
	if (!(f->ends & PIPE_WRITE))
		return "a pipe whose writer is not in the snapshot";
	return f->packets && makefind_data(m, "pipe", f->v[OK_INO][0], &data) &&
	    data.len > 0 ? "a pipe with unread packets (O_DIRECT)" : NULL;
}

/*
 * Return the reason why UNIX socket f, which has no peer, cannot be restored,
 * or NULL if it can.
 */
static const char *
single_obstacle(const struct criumake *m, const struct makeopen *f)
{
	const uint64_t *s = f->v[OK_SOCKET];

	if (s[SOCK_STATE] != STATE_ESTABLISHED ||
	    s[SOCK_TYPE] == TYPE_DGRAM || s[SOCK_SHUTDOWN] == SHUT_BOTH)
		return NULL;
	if (makefind_accepter(m, f) == NULL)
		return "a connection not yet accepted by a listener outside "
		    "the snapshot";
	return f->v[OK_UNREAD][0] == 0 ? NULL :
	    "a connection not yet accepted that has unread bytes";
}

/*
 * Return the reason why UNIX socket f cannot be restored, or NULL if it can.
 */
const char *
makeunix_obstacle(struct criumake *m, const struct makeopen *f)
{
	enum { MAX_NAME = 108 };	/* UNIX_PATH_MAX from linux/un.h */
	const uint64_t *s = f->v[OK_SOCKET];
	const struct makeopen *peer;
	char dir[PATH_MAX];
	const char *why;

	if (!makeopen_has(f, OK_SOCKET) || !makeopen_has(f, OK_INO))
		return "a socket that is not fully recorded";
	if (!makeopen_dir(f, dir, sizeof dir))
		return "a socket bound to a path relative to an unknown "
		    "directory";
	if (makeunix_isrenamed(f) && strlen(f->path) >= MAX_NAME)
		return "a socket bound to a path that was renamed to one that "
		    "is too long";
	if ((why = makequeue_obstacle(m, f)) != NULL)
		return why;
	if (s[SOCK_PEER] == 0)
		return single_obstacle(m, f);
	peer = makefind_peer(m, f);
	if (peer != NULL && peer->used && peer->why != NULL)
		return "a socket whose other end cannot be restored";
	if (makeunix_external(m, f) || makestdio_isoutside(m, f))
		return NULL;
	if (peer == NULL || !makeopen_written(peer))
		return "a socket whose other end is not in the snapshot";
	if (makefind_peer(m, peer) == f)
		return NULL;
	if (s[SOCK_TYPE] != TYPE_DGRAM || peer->namelen == 0)
		return "a socket whose other end is not in the snapshot";
	/* The kernel would not let f connect to the peer again: unix_may_send()
	   in its net/unix/af_unix.c. */
	return peer->v[OK_SOCKET][SOCK_PEER] == 0 ? NULL :
	    "a socket whose other end is connected to a third socket";
}

/*
 * Return a descriptor of t that refers to the open file whose number in the
 * record is key. Choose the descriptor numbered preferred if it refers to that
 * file, otherwise the lowest that does. Return NULL if there is none.
 */
static const struct makefd *
fd_find(const struct maketask *t, uint64_t key, uint64_t preferred)
{
	const struct makefd *f;

	f = makefind_fd(t, key, preferred);
	return f != NULL && f->fd == preferred ? f : makefind_fd(t, key, 0);
}

/*
 * Return the reason why epoll set f cannot be restored, or NULL if it can. The
 * process in which criu creates the set must have a descriptor for each file in
 * the set. Set the descriptor numbers in the set to those in that process.
 */
const char *
makeepoll_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct makefd *fd;
	struct openline *first, *t;
	size_t n;

	(void)m;
	first = makekeys_lines(f, OK_TARGET, &n);
	for (t = first; t < first + n; t++) {
		fd = t->v[TARGET_ID] == NOFILE ? NULL : fd_find(f->user,
		    t->v[TARGET_ID], t->v[TARGET_FD]);
		if (fd == NULL)
			return "an epoll set with a file for which the process "
			    "has no descriptor";
		if (fd->open->why != NULL)
			return "an epoll set with a file that cannot be "
			    "restored";
		if (fd->fd != t->v[TARGET_FD] && SEEK(first, n, x != t &&
		    x->v[TARGET_ID] == t->v[TARGET_ID] &&
		    x->v[TARGET_FD] == fd->fd) != NULL)
			return "an epoll set that has a file twice, once by a "
			    "closed descriptor";
		t->v[TARGET_FD] = fd->fd;
	}
	return NULL;
}

/*
 * Return the reason why FIFO f cannot be restored, or NULL if it can. If a
 * process outside the snapshot has its other end, the kernel keeps the unread
 * bytes, and criu would write them a second time; and if its name is deleted,
 * criu would create another FIFO.
 */
const char *
makefifo_obstacle(struct criumake *m, const struct makeopen *f)
{
	const char *why = makenamed_obstacle(m, f);
	struct recfile data;

	if (why != NULL || f->v[OK_ALONE][0] != 0 || f->ends == PIPE_BOTH)
		return why;
	return f->v[OK_DELETED][0] != 0 || (makefind_data(m, "pipe",
	    f->v[OK_INO][0], &data) && data.len > 0) ? "a FIFO with unread "
	    "bytes, or deleted, whose other end is not in the snapshot" : NULL;
}

/*
 * Return true if f is a POSIX message queue in a mount namespace that criu
 * creates. The kernel keeps the queues on a mount of their own, which the new
 * namespace lacks.
 */
bool
makeobstacle_isqueue(const struct criumake *m, const struct makeopen *f)
{
	return f->path != NULL && makemount_lacks(m, f->mount) &&
	    f->user != NULL && makemount_isqueues(m, f->user->mounts, f->path);
}

/*
 * Return the reason why named file f cannot be restored, or NULL if it can.
 */
const char *
makenamed_obstacle(struct criumake *m, const struct makeopen *f)
{
	uint32_t dead;

	if (f->path == NULL || *f->path != '/')
		return "a file whose path is not known";
	if (makeobstacle_isqueue(m, f))
		return "a POSIX message queue in an IPC namespace that is "
		    "newly created";
	if (makemount_lacks(m, f->mount))
		return "a file of another mount namespace";
	if (makemount_covers(m, f->mount, f->path))
		return "a file that another mount covers";
	dead = makemount_dead(m, makemount_in(m, f->mount, f->user), f->path);
	if (f->v[OK_ENDED][0] != 0 && dead == 0)
		return "a file of /proc that no longer exists";
	if (f->v[OK_DELETED][0] == 0 || dead != 0)
		return NULL;
	if (f->type == KIND_LINK && f->leads == NULL)
		return "a deleted symbolic link with an unknown target";
	if (f->type != KIND_REG)
		return NULL;
	return makereg_content(m, f->v[OK_DEV][0], f->v[OK_INO][0]) != NULL ?
	    NULL : "a deleted file whose content is not in the snapshot";
}

/*
 * Record a note if the regular file of descriptor fd of t was opened by a name
 * that is now deleted, and criu opens it by a different one: another name of
 * the file, or for a watched file, the name by which criu creates it. Return 0,
 * or -1 with errstr set.
 */
int
makenamed_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;

	return !f->renamed && !f->watched ? 0 : make_note(m, t, fd,
	    "its deleted name becomes %s%s when it is restored", f->path,
	    f->watched ? ".cr.*.ghost" : "");
}

/*
 * Return the reason why eventfd f cannot be restored, or NULL if it can.
 */
const char *
makeeventfd_obstacle(struct criumake *m, const struct makeopen *f)
{
	(void)m;
	if (f->v[OK_SEMAPHORE][0] != 0)
		return "an eventfd with EFD_SEMAPHORE, which criu does not "
		    "support";
	/* criu sets the count by the argument of eventfd(2) */
	return f->v[OK_COUNT][0] <= UINT32_MAX ? NULL :
	    "an eventfd with a count of more than 32 bits";
}

/*
 * Return the reason why memfd f cannot be restored, or NULL if it can.
 */
const char *
makememfd_obstacle(struct criumake *m, const struct makeopen *f)
{
	return makereg_content(m, f->v[OK_DEV][0], f->v[OK_INO][0]) != NULL ?
	    NULL : "a memfd whose content is not in the snapshot";
}

/*
 * Return the reason why pidfd f cannot be restored, or NULL if it can. A pidfd
 * of a thread cannot be restored: criu opens pidfds before it creates threads.
 */
const char *
makepidfd_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct maketask *t;

	if (!makeopen_has(f, OK_PID) || f->v[OK_PID][0] == 0)
		return "a pidfd of an unknown process";
	if ((int64_t)f->v[OK_PID][0] == -1)	/* the process has ended */
		return NULL;
	t = maketask_find(m, f->v[OK_PID][0]);
	if (f->v[OK_FLAGS][0] & O_EXCL || (t != NULL &&
	    maketask_process(m, f->v[OK_PID][0]) != t))
		return "a pidfd of a thread";
	return t != NULL && t->chosen ? NULL :
	    "a pidfd of a process outside the snapshot";
}
