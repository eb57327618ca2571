/*
 * Files that get their name only when they are complete and on the disk. Until
 * then they have no name, or a temporary one if the file system cannot do that.
 */
#include "io.h"
#include "vec.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { TRIES = 100 };		/* maximum number of attempts to find an unused
				   temporary name */

/* temporary name of the unfinished file, for signal handlers */
static const char *volatile unfinished;
static volatile int unfinished_dir;

/*
 * Set f->tmp to a new temporary name in the directory of f.
 */
static int
newfile_tmpname(struct newfile *f)
{
	static unsigned int serial;

	unfinished = NULL;
	free(f->tmp);
	/* a name has at most 255 bytes; 200 leave room for the rest */
	f->tmp = str_printf(".%.200s.%ld.%u", f->name, (long)getpid(),
	    serial++);
	return f->tmp == NULL ? -1 : 0;
}

/*
 * Remove the unfinished file. Signal handlers may call this before they end the
 * program.
 */
void
output_cleanup(void)
{
	helper_quit();
	if (unfinished != NULL)
		(void)unlinkat(unfinished_dir, unfinished, 0);
}

/*
 * Record for output_cleanup() that f now has a temporary name.
 */
static void
newfile_named(const struct newfile *f)
{
	unfinished_dir = f->dir;
	unfinished = f->tmp;
}

/*
 * Record that f now has its final name or no name. Keep errno.
 */
static void
newfile_unname(struct newfile *f)
{
	int e;

	e = errno;
	unfinished = NULL;
	free(f->tmp);
	f->tmp = NULL;
	errno = e;
}

/*
 * Write to s, which has room for size bytes, the path in /proc through which
 * newfile_link() gives file f its first name. Return s.
 */
static const char *
newfile_proc(const struct newfile *f, char *s, size_t size)
{
	snprintf(s, size, "/proc/self/fd/%d", f->fd);
	return s;
}

/*
 * Create file f without a name, so that it vanishes if our process ends. If the
 * file system does not support that, or if /proc is not mounted, give it a
 * temporary name.
 */
static int
newfile_create(struct newfile *f)
{
	char fd[64];
	int i;

	f->fd = openat(f->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (f->fd != -1 && faccessat(AT_FDCWD, newfile_proc(f, fd, sizeof fd),
	    F_OK, 0) == 0)
		return 0;
	if (f->fd != -1) {
		close(f->fd);
		f->fd = -1;
	} else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return errstr_sys("%s", f->path);
	for (i = 0; f->fd == -1 && i < TRIES; i++) {
		if (newfile_tmpname(f) == -1)
			return -1;
		f->fd = openat(f->dir, f->tmp, O_CREAT | O_EXCL | O_WRONLY |
		    O_CLOEXEC, 0600);
		if (f->fd == -1 && errno != EEXIST)
			break;
	}
	if (f->fd == -1) {
		newfile_unname(f);
		return errstr_sys("%s", f->path);
	}
	newfile_named(f);
	return 0;
}

/*
 * Decide what to do with the existing file at f->path. The argument at is its
 * O_PATH descriptor, and st its status. A symbolic link is replaced, never
 * followed. A link to something other than a file is an error, since users of
 * such a link expect the output at its target. Return 1 if the new file is to
 * replace the existing one. Return 0 if the existing one was opened as f->fd.
 * Return -1 with errstr set on errors.
 */
static int
newfile_find(struct newfile *f, int at, const struct stat *st)
{
	struct stat to;

	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		return 1;
	case S_IFLNK:
		if (fstatat(f->dir, f->name, &to, 0) == 0 ?
		    S_ISREG(to.st_mode) : errno == ENOENT)
			return 1;
		return errstr_set("%s: symbolic link to something other than "
		    "a file; not followed", f->path);
	case S_IFIFO:
	case S_IFCHR:
	case S_IFBLK:
		f->fd = outname_device(at, st, f->path);
		return f->fd == -1 ? -1 : 0;
	default:	/* open(2) gives the second error for a socket */
		errno = S_ISDIR(st->st_mode) ? EISDIR : ENXIO;
		return errstr_sys("%s", f->path);
	}
}

/*
 * Look for an existing file at f->path. Return 1 if there is none, otherwise
 * the result of newfile_find().
 */
static int
newfile_look(struct newfile *f)
{
	struct stat st;
	int at, rc;

	if ((f->dir = outname_dir(f->path, &f->name)) == -1)
		return -1;
	at = openat(f->dir, f->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (at == -1 && errno == ENOENT)
		return 1;
	rc = at == -1 || fstat(at, &st) == -1 ? errstr_sys("%s", f->path) :
	    newfile_find(f, at, &st);
	fd_drop(at);
	return rc;
}

/*
 * Set f->fd to a copy of descriptor fd, which our parent must have opened.
 * Reject our own descriptors, all of which are close-on-exec.
 */
static int
newfile_inherited(struct newfile *f, int fd)
{
	f->dir = -1;
	/* this is also true of -1, the result for a closed descriptor */
	if (fcntl(fd, F_GETFD) & FD_CLOEXEC) {
		errno = EBADF;
		return errstr_sys("%s", f->path);
	}
	if (isatty(fd))
		return errstr_set("%s: is a terminal; not written to", f->path);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return f->fd == -1 ? errstr_sys("%s", f->path) : 0;
}

/*
 * Sync directory dir to disk, if we may read it and the file system supports
 * that. Return 0, or -1 with errno set.
 */
static int
dir_sync(int dir)
{
	int fd, rc;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	rc = fsync(fd) == -1 && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
	fd_drop(fd);
	return rc;
}

/*
 * Give the finished file f its name by renaming it. If it has no name yet,
 * first give it a temporary name.
 */
static int
newfile_link(struct newfile *f)
{
	char fd[64];
	int rc;

	if (f->tmp == NULL) {
		newfile_proc(f, fd, sizeof fd);
		do {
			if (newfile_tmpname(f) == -1)
				return -1;
			rc = linkat(AT_FDCWD, fd, f->dir, f->tmp,
			    AT_SYMLINK_FOLLOW);
		} while (rc == -1 && errno == EEXIST);
		if (rc == -1) {
			newfile_unname(f);
			return -1;
		}
		newfile_named(f);
	}
	if (renameat(f->dir, f->tmp, f->dir, f->name) == -1)
		return -1;
	newfile_unname(f);
	return 0;
}

/*
 * Block the signals that would end us, and save the old mask in *old. Call this
 * before the name of a file changes: until the change is recorded,
 * output_cleanup() could miss it.
 */
static void
signals_hold(sigset_t *old)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ending, old);
}

/*
 * Create file f, which only its owner can read; its name will be path. If path
 * is a device or fifo that belongs to us or root, open that instead. If path
 * names a descriptor passed to us (see outname.c), use that descriptor. Opening
 * a fifo waits for a reader, or until a signal ends us. Return 0, or -1 with
 * errstr set.
 */
int
newfile_open(struct newfile *f, const char *path)
{
	sigset_t old;
	int inherited, rc;

	memset(f, 0, sizeof *f);
	f->fd = f->dir = -1;
	if ((f->path = strdup(path)) == NULL)
		rc = errstr_set("out of memory");
	else if ((inherited = outname_inherited(path)) != -1)
		rc = newfile_inherited(f, inherited);
	else if (helper_there()) {
		f->fd = helper_ask('N', path, &rc);
		f->isnew = rc == 1;
		f->by_helper = f->fd != -1;
		rc = f->by_helper ? 0 : -1;
	} else if ((rc = newfile_look(f)) == 1) {
		signals_hold(&old);
		rc = newfile_create(f);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	} else if (rc == 0) {
		close(f->dir);
		f->dir = -1;
	}
	if (rc == -1)
		newfile_close(f);
	return rc;
}

/*
 * Return true if f is a new file: one that vanishes if it is closed without
 * newfile_finish().
 */
bool
newfile_isnew(const struct newfile *f)
{
	return f->by_helper ? f->isnew : f->dir != -1;
}

/*
 * Sync file f, which is completely written, and give it its name. Return 0, or
 * -1 with errno set.
 */
int
newfile_finish(struct newfile *f)
{
	sigset_t old;
	int e, rc;

	if (f->by_helper) {
		(void)helper_ask('F', NULL, &rc);
		return rc;
	}
	if (f->dir == -1)
		return 0;
	if (fsync(f->fd) == -1)
		return -1;
	signals_hold(&old);
	rc = newfile_link(f);
	if (rc == 0)
		rc = dir_sync(f->dir);
	e = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = e;
	return rc;
}

/*
 * Close file f, and remove it if it is not finished. Ignore errors of close(2),
 * since fsync(2) has reported them.
 */
void
newfile_close(struct newfile *f)
{
	int rc;

	if (f->tmp != NULL)
		(void)unlinkat(f->dir, f->tmp, 0);
	newfile_unname(f);
	fd_drop(f->fd);
	if (f->by_helper)
		(void)helper_ask('D', NULL, &rc);
	fd_drop(f->dir);
	free(f->path);
}
