/*
 * Write the descriptors of each process (fdinfo-N.img), its locks and leases,
 * which the record has in fdinfo/FD (filelocks.img), and its working and root
 * directories (fs-N.img).
 */
#include "open.h"

/*
 * Write fdinfo-N.img with the descriptors of process t.
 */
static int
fdinfo_write(struct criumake *m, struct maketask *t)
{
	Criu__Fdinfo e = CRIU__FDINFO__INIT;
	struct made *im;
	size_t i;

	im = make_image(m, CRIU_FDINFO, "fdinfo-%u.img", maketask_id(t));
	if (im == NULL)
		return -1;
	for (i = 0; i < t->nfd; i++) {
		if (t->fd[i].open->why != NULL)
			continue;
		e.id = t->fd[i].open->id;
		e.fd = (uint32_t)t->fd[i].fd;
		e.flags = t->fd[i].cloexec;
		e.type = makekind_get(t->fd[i].open)->fd;
		criuimg_add(&im->b, &e.base);
	}
	return 0;
}

/*
 * Append lock l to filelocks.img. Process t holds it through descriptor fd.
 * criu has a bit for each kind of lock, and one for a lease that is being
 * broken (its file-lock.h).
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
 * Append the locks in the fdinfo of descriptor fd of t to filelocks.img. POSIX
 * locks belong to the process: append them for each process. Other locks belong
 * to the open file: append them only once.
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
			    "kind that criu does not support");
		else if (l.kind == LOCK_POSIX || !fd->open->locked)
			rc = lock_add(m, t, fd->fd, &l);
	fd->open->locked = true;
	return rc;
}

/*
 * Append the locks of process t to filelocks.img. If several descriptors refer
 * to one open file, use only the first of them: all list the same locks.
 */
static int
locks_write(struct criumake *m, struct maketask *t)
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

/*
 * Add a deleted directory to files.img, and set *id to its ID. The link called
 * name in t's record pointed to the directory, at path. Return 1 on success, 0
 * if too little is recorded about the directory, or -1 with errstr set.
 */
static int
gone_get(struct criumake *m, struct maketask *t, const char *name,
    const char *path, uint32_t *id)
{
	char file[32];
	uint64_t v[7];
	int rc;

	if (makemount_dead(m, t->mounts, path) != 0)
		return makereg_path(m, t->mounts, path, id) == -1 ? -1 : 1;
	snprintf(file, sizeof file, "%s-deleted", name);
	rc = maketask_one(t, file, "omdddii", "mode dev ino uid gid atime "
	    "mtime", v);
	if (rc != 1)
		return rc;
	return makereg_path(m, t->mounts, path, id) == -1 ||
	    makeghost_add(m, *id, NULL, &(struct makeinode){
	    .mode = (uint32_t)v[0], .dev = v[1], .ino = v[2],
	    .uid = (uint32_t)v[3], .gid = (uint32_t)v[4], .timed = true,
	    .atime = v[5], .mtime = v[6],
	    .pathlen = strlen(path) }) == -1 ? -1 : 1;
}

/*
 * Add the current or root directory of t to files.img, and set *id to its ID.
 * name is the name of the link to it in t's record: cwd or root. If the
 * directory cannot be added, record that t cannot be restored.
 */
static int
dir_get(struct criumake *m, struct maketask *t, const char *name, uint32_t *id)
{
	const char *why;
	char *path;
	size_t n;
	int rc;

	path = maketask_text(t, name);
	n = path == NULL ? 0 : path_stem(path);
	rc = path == NULL ? 0 : makemount_hides(m, t, name, &why);
	if (rc != 0)
		return rc == -1 ? -1 : make_never(m, t, "its %s is %s, "
		    "%s: cannot be restored", name, path, why);
	if (n > 0 && *path == '/' && path[n] != '\0') {
		path[n] = '\0';
		rc = gone_get(m, t, name, path, id);
		path[n] = ' ';
	} else if (n > 0 && *path == '/')
		rc = makereg_path(m, t->mounts, path, id) == -1 ? -1 : 1;
	if (rc == 0)
		rc = make_never(m, t, "its %s is %s: cannot be restored", name,
		    n == 0 ? "not known" : path);
	return rc == -1 ? -1 : 0;
}

/*
 * Write fs-N.img of process t. Also write fdinfo-N.img and the locks of t,
 * unless t shares the descriptors of another process. Return 0, or -1 with
 * errstr set.
 */
int
makefd_write(struct criumake *m, struct maketask *t)
{
	Criu__Fs fs = CRIU__FS__INIT;
	uint64_t umask;

	if (dir_get(m, t, "cwd", &fs.cwd_id) == -1 ||
	    dir_get(m, t, "root", &fs.root_id) == -1)
		return -1;
	if (maketask_status(t, "Umask", 8, &umask, 1) == 1) {
		fs.has_umask = true;
		fs.umask = (uint32_t)umask;
	}
	if (make_message(m, CRIU_FS, &fs.base, "fs-%u.img", t->pid) == -1)
		return -1;
	return t->files != t ? 0 : fdinfo_write(m, t) == -1 ? -1 :
	    locks_write(m, t);
}
