/*
 * A file that is written without a name, or under a name beside its own where
 * the file system knows no other way, and gets its own name when it is whole
 * and on the disk.
 */
#include "io.h"
#include "vec.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 100 };		/* names that are taken may be guessed */

/* the name beside its own that a file has just now; for signal handlers */
static const char *volatile unfinished;
static volatile int unfinished_dir;

/*
 * A name beside its own.
 */
static int
newfile_tmpname(struct newfile *f)
{
	static unsigned int serial;

	unfinished = NULL;
	free(f->tmp);
	/* 200 bytes of it leave room for the rest: a name has 255 */
	f->tmp = str_printf(".%.200s.%ld.%u", f->name, (long)getpid(),
	    serial++);
	return f->tmp == NULL ? -1 : 0;
}

/*
 * Take away a file that will not be finished.  May be called by a signal
 * handler before it ends the program.
 */
void
output_cleanup(void)
{
	helper_quit();
	if (unfinished != NULL)
		(void)unlinkat(unfinished_dir, unfinished, 0);
}

/*
 * The file has a name beside its own now, and keeps it until newfile_unname.
 */
static void
newfile_named(const struct newfile *f)
{
	unfinished_dir = f->dir;
	unfinished = f->tmp;
}

/*
 * The file has its own name now, or none.
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
 * A file without a name vanishes by itself if we do.  Not all file systems
 * can make one.
 */
static int
newfile_create(struct newfile *f)
{
	int i;

	f->fd = openat(f->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (f->fd != -1)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
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
 * Return 1 if what a file's name leads to, found to be st, is replaced by the
 * file; 0 if it was opened, as f->fd; -1 with errstr if it is neither.  A link
 * is replaced and never followed, but who has one to something else than a file
 * would wait for us there.
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
		return errstr_set("%s: a symbolic link to something else than "
		    "a file is not followed", f->path);
	case S_IFIFO:
	case S_IFCHR:
	case S_IFBLK:
		f->fd = outname_device(at, st, f->path);
		return f->fd == -1 ? -1 : 0;
	case S_IFDIR:
		errno = EISDIR;
		return errstr_sys("%s", f->path);
	default:
		errno = ENXIO;	/* as open(2) of a socket */
		return errstr_sys("%s", f->path);
	}
}

/*
 * Look at what has the name: likewise.
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
	if (at != -1)
		close(at);
	return rc;
}

/*
 * A copy of a descriptor that who started us has opened: not one of ours,
 * which are all closed on exec.
 */
static int
newfile_handed(struct newfile *f, int fd)
{
	int flags;

	f->dir = -1;
	flags = fcntl(fd, F_GETFD);
	if (flags == -1 || flags & FD_CLOEXEC) {
		errno = EBADF;
		return errstr_sys("%s", f->path);
	}
	if (isatty(fd))
		return errstr_set("%s: a terminal is not written to", f->path);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return f->fd == -1 ? errstr_sys("%s", f->path) : 0;
}

/*
 * Have the names in a directory on the disk, as far as it may be read and the
 * file system can.  Return 0, or -1 with errno.
 */
static int
dir_sync(int dir)
{
	int e, fd, rc;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	rc = fsync(fd) == -1 && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
	e = errno;
	close(fd);
	errno = e;
	return rc;
}

/*
 * Give the finished file its name, through one that tells that it is not
 * finished.
 */
static int
newfile_link(struct newfile *f)
{
	char fd[64];
	int rc;

	if (f->tmp == NULL) {
		snprintf(fd, sizeof fd, "/proc/self/fd/%d", f->fd);
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
 * Have signals that end us wait: whoever cleans up must know what there is.
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
 * Make a file f that will be called path, readable by its owner alone.  A
 * device or a fifo of that name that is ours or root's is opened instead, and
 * what we were handed is used as it is: outname.c.  A fifo is waited for, until
 * a signal ends us.  Return 0, or -1 with the error string set.
 */
int
newfile_open(struct newfile *f, const char *path)
{
	sigset_t old;
	int handed, rc;

	memset(f, 0, sizeof *f);
	f->fd = f->dir = -1;
	if ((f->path = strdup(path)) == NULL)
		rc = errstr_set("out of memory");
	else if ((handed = outname_handed(path)) != -1)
		rc = newfile_handed(f, handed);
	else if (helper_there()) {
		f->fd = helper_ask('N', path, &rc);
		f->isnew = rc == 1;
		f->outside = f->fd != -1;
		rc = f->outside ? 0 : -1;
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
 * Return true if nothing is left of what is written to f, unless it is
 * finished.
 */
bool
newfile_isnew(const struct newfile *f)
{
	return f->outside ? f->isnew : f->dir != -1;
}

/*
 * Give file f its name: all of it is written.  Return 0, or -1 with errno on
 * failure.
 */
int
newfile_finish(struct newfile *f)
{
	sigset_t old;
	int e, rc;

	if (f->outside) {
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
 * Close file f; if it is not finished, nothing is left of it.  What close(2)
 * could tell, fsync(2) has told.
 */
void
newfile_close(struct newfile *f)
{
	int rc;

	if (f->tmp != NULL)
		(void)unlinkat(f->dir, f->tmp, 0);
	newfile_unname(f);
	if (f->fd != -1)
		(void)close(f->fd);
	if (f->outside)
		(void)helper_ask('D', NULL, &rc);
	if (f->dir != -1)
		(void)close(f->dir);
	free(f->path);
}
