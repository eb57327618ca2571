/*
 * Locks on files, and leases, as CRIU images: filelocks.img.  The record has
 * them in the fdinfo of each descriptor.
 */
#include "open.h"

#include <inttypes.h>

/*
 * Add a lock that process t has by a descriptor.  criu knows the kinds by a
 * bit each, and a lease that is being broken by another (its file-lock.h).
 */
static int
lock_add(struct criumake *m, const struct maketask *t, uint64_t fd,
    const struct filelock *l)
{
	enum { BREAKING = 4 };
	static const uint32_t flag[] = {
		[LOCK_POSIX] = 1, [LOCK_FLOCK] = 2, [LOCK_OFD] = 4,
		[LOCK_LEASE] = 8
	};
	Criu__FileLock e = CRIU__FILE_LOCK__INIT;
	struct buf *b;

	m->need |= CRIU_FILE_LOCKS;
	b = make_common(m, CRIU_FILELOCKS, "filelocks.img");
	if (b == NULL)
		return -1;
	e.flag = flag[l->kind];
	e.type = (uint32_t)l->type | (l->breaking ? BREAKING : 0);
	e.pid = (int32_t)t->pid;
	e.fd = (int32_t)fd;
	e.start = (int64_t)l->start;
	e.len = (int64_t)l->len;
	criuimg_add(b, &e.base);
	return 0;
}

/*
 * Add the locks that a descriptor of t tells of: those of the process that it
 * has by this open file description, and, once, those of that itself.
 */
static int
fd_locks(struct criumake *m, const struct maketask *t, const struct makefd *fd)
{
	struct filelock l;
	struct recfile f;
	struct scan text;
	char name[32];
	int rc;

	snprintf(name, sizeof name, "fdinfo/%" PRIu64, fd->fd);
	linuxrec_find(&t->rec, name, &f);
	text = scan_begin(f.data, f.len);
	for (rc = 0; rc == 0 && filelock_next(&text, &l);)
		if (l.kind == LOCK_OTHER)
			rc = make_refuse(m, t, fd, WHY_LOCKS, "a lock of a "
			    "kind that criu does not know");
		else if (l.kind == LOCK_POSIX || !fd->open->locked)
			rc = lock_add(m, t, fd->fd, &l);
	fd->open->locked = true;
	return rc;
}

/*
 * Add the locks of process t to filelocks.img.  Descriptors that are one open
 * file description tell of the same locks: the first one counts.  Return 0, or
 * -1 with errstr.
 */
int
makelocks_write(struct criumake *m, struct maketask *t)
{
	const struct makefd *fd;
	size_t i;

	for (i = 0; t->files == t && i < t->nfd; i++) {
		fd = &t->fd[i];
		if (fd->open->why == NULL &&
		    makefind_fd(t, fd->open->key, 0) == fd &&
		    fd_locks(m, t, fd) == -1)
			return -1;
	}
	return 0;
}
