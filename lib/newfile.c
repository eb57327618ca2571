/*
 * A file that is written without a name, or under a name beside its own where
 * the file system knows no other way, and gets its own name when it is whole
 * and on the disk.
 */
#include "newfile.h"
#include "snap.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* the name beside its own that a file has just now; for signal handlers */
static const char *volatile unfinished;

static char *
dir_of(const char *path)
{
	const char *slash;

	slash = strrchr(path, '/');
	if (slash == NULL)
		return strdup(".");
	if (slash == path)
		return strdup("/");
	return strndup(path, (size_t)(slash - path));
}

/*
 * A name beside path that is not taken.
 */
static int
newfile_tmpname(struct newfile *f)
{
	static unsigned int serial;

	unfinished = NULL;
	free(f->tmp);
	/* 200 bytes of it leave room for the rest: a name has 255 */
	if (asprintf(&f->tmp, "%s/.%.200s.%ld.%u", f->dir,
	    strrchr(f->path, '/') == NULL ? f->path :
	    strrchr(f->path, '/') + 1, (long)getpid(), serial++) == -1) {
		f->tmp = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

/*
 * Take away a file that will not be finished.  May be called by a signal
 * handler before it ends the program.
 */
void
output_cleanup(void)
{
	if (unfinished != NULL)
		(void)unlink(unfinished);
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
	struct stat st;

	if (*f->path == '\0') {
		errno = ENOENT;
		return errstr_sys("\"\"");
	}
	if (stat(f->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		free(f->dir);
		f->dir = NULL;
		f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
		return f->fd == -1 ? errstr_sys("%s", f->path) : 0;
	}
	f->fd = open(f->dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (f->fd != -1)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return errstr_sys("%s", f->path);
	if (newfile_tmpname(f) == -1)
		return -1;
	f->fd = open(f->tmp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (f->fd == -1) {
		newfile_unname(f);
		return errstr_sys("%s", f->path);
	}
	unfinished = f->tmp;
	return 0;
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
			rc = linkat(AT_FDCWD, fd, AT_FDCWD, f->tmp,
			    AT_SYMLINK_FOLLOW);
		} while (rc == -1 && errno == EEXIST);
		if (rc == -1) {
			newfile_unname(f);
			return -1;
		}
		unfinished = f->tmp;
	}
	if (rename(f->tmp, f->path) == -1)
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
 * Make a file that will be called path, readable by its owner alone; a device
 * or a fifo of that name is opened instead.
 */
int
newfile_open(struct newfile *f, const char *path)
{
	sigset_t old;
	int rc;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	if ((f->path = strdup(path)) == NULL ||
	    (f->dir = dir_of(path)) == NULL)
		rc = errstr_set("out of memory");
	else {
		signals_hold(&old);
		rc = newfile_create(f);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (rc == -1)
		newfile_close(f);
	return rc;
}

/*
 * All of it is written: give it its name.  -1 with errno.
 */
int
newfile_finish(struct newfile *f)
{
	sigset_t old;
	int e, rc;

	if (f->dir == NULL)
		return 0;
	if (fsync(f->fd) == -1)
		return -1;
	signals_hold(&old);
	rc = newfile_link(f);
	e = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = e;
	return rc;
}

/*
 * Close the file; if it is not finished, nothing is left of it.  What close(2)
 * could tell, fsync(2) has told.
 */
void
newfile_close(struct newfile *f)
{
	if (f->tmp != NULL)
		(void)unlink(f->tmp);
	newfile_unname(f);
	if (f->fd != -1)
		(void)close(f->fd);
	free(f->path);
	free(f->dir);
}
