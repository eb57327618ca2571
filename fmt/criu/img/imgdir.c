/*
 * A directory of images, which may come from anyone: what is in it is read
 * only if it is a regular file that lies there itself.  A symbolic link would
 * lead to a file that is ours to read and not theirs; a FIFO blocks, and a
 * device may do something when it is opened.
 *
 * One link has a meaning: "parent", which criu makes in images that are
 * stacked on others.  It is followed if it can be trusted (link_istrusted).
 *
 * All directories of a stack are opened at once, before anything is read.
 */
#include "img.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Return whether a directory, opened as fd, is one of those stacked on it.
 */
static bool
is_above(const struct imgdir *top, const struct imgdir *last, int fd)
{
	struct stat a, b;

	if (fstat(fd, &a) == -1)
		return false;
	for (;; top = top->parent) {
		if (fstat(top->fd, &b) == 0 && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return true;
		if (top == last)
			return false;
	}
}

/*
 * Open the parent of the last directory of a stack: 1; 0 where there is
 * none, or none that can be had, which d->why tells then; or -1.
 */
static int
parent_open(struct imgdir *top, struct imgdir *d, size_t depth)
{
	char *path;
	int fd;

	fd = openat(d->fd, "parent", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 && errno == ENOENT)
		return 0;
	if (asprintf(&path, "%s/parent", d->path) == -1)
		path = NULL;
	else if (fd == -1)
		errstr_sys("%s", path);
	else if (is_above(top, d, fd))
		errstr_set("%s: its parents lead back to itself", path);
	else if (depth >= MAX_STACK)
		errstr_set("%s: more than %d parents", path, MAX_STACK);
	else if (!link_istrusted(d->fd, "parent", fd))
		errstr_set("%s: a link of one user to a directory of another "
		    "is not followed", path);
	else {
		d->parent = imgdir_new(fd, path);
		return d->parent == NULL ? -1 : 1;
	}
	if (fd != -1)
		close(fd);
	free(path);
	if (path == NULL || (d->why = strdup(snap_errstr())) == NULL)
		return errstr_set("out of memory");
	return 0;
}

/*
 * Open the directory path, which was named to us, and those that it is stacked
 * on.  Return it; or NULL with errstr on an error, but not where a parent
 * cannot be had: who needs it is told by d->why.
 */
struct imgdir *
imgdir_open(const char *path)
{
	struct imgdir *top, *d;
	size_t depth;
	int fd, rc;

	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1) {
		errstr_sys("%s", path);
		return NULL;
	}
	if ((top = imgdir_new(fd, strdup(path))) == NULL)
		return NULL;
	depth = 1;
	for (d = top; (rc = parent_open(top, d, depth)) == 1; d = d->parent)
		depth++;
	if (rc == 0)
		return top;
	imgdir_free(top);
	return NULL;
}

/*
 * Call fn(arg, name) for all regular files of directory d, until it returns -1.
 * What has a name of an image and is something else is an error: it would be
 * missing.  Return 0, or -1 with errstr.
 */
int
imgdir_list(const struct imgdir *d, imgdir_fn fn, void *arg)
{
	const struct dirent *e;
	struct stat st;
	DIR *list;
	int fd, rc;

	if (d->tar != NULL)
		return imgtar_list(d, fn, arg);
	fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (list = fdopendir(fd)) == NULL) {
		errstr_sys("%s", d->path);
		if (fd != -1)
			close(fd);
		return -1;
	}
	rc = 0;
	while (rc == 0 && (e = readdir(list)) != NULL) {
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			rc = fn(arg, e->d_name);
		else if (img_isname(e->d_name))
			rc = errstr_set("%s/%s: not a regular file", d->path,
			    e->d_name);
	}
	closedir(list);
	return rc;
}

/*
 * Open a regular file of a directory, to be read: 1; 0 where there is none;
 * or -1.  *fd is the caller's.
 */
static int
file_open(const struct imgdir *d, const char *name, int *fd)
{
	int at, e;

	at = beneath_open(d->fd, name);
	e = errno;
	if (at == -1) {
		errstr_sys("%s/%s", d->path, name);
		return e == ENOENT ? 0 : -1;
	}
	*fd = regular_reopen(at);
	e = errno;
	close(at);
	errno = e;
	if (*fd == -1)
		return e == 0 ? errstr_set("%s/%s: not a regular file",
		    d->path, name) : errstr_sys("%s/%s", d->path, name);
	return 1;
}

/*
 * Open the file of that name in directory d as a stream, which is the caller's.
 * Return 1, with *in set to it; 0 where there is none; or -1 with errstr.
 */
int
imgdir_input(const struct imgdir *d, const char *name, struct input **in)
{
	char *path;
	int fd, rc;

	*in = NULL;
	if (asprintf(&path, "%s/%s", d->path, name) == -1)
		return errstr_set("out of memory");
	if (d->tar != NULL)
		rc = imgtar_input(d, name, path, in);
	else if ((rc = file_open(d, name, &fd)) == 1) {
		*in = input_fd(path, fd);
		rc = *in == NULL ? -1 : 1;
	}
	free(path);
	return rc;
}

/*
 * Have the file of that name in directory d as a source of snapshot s, or as a
 * part of one, in *src.  Return as imgdir_input.
 */
int
imgdir_source(const struct imgdir *d, const char *name, struct snap *s,
    struct imgsource *src)
{
	char *path;
	int fd, rc;

	if (d->tar != NULL)
		return imgtar_source(d, name, s, src);
	if ((rc = file_open(d, name, &fd)) != 1)
		return rc;
	if (asprintf(&path, "%s/%s", d->path, name) == -1) {
		close(fd);
		return errstr_set("out of memory");
	}
	src->src = source_file(s, fd, path, KB);
	free(path);
	if (src->src == NULL)
		return -1;
	src->loc = 0;
	src->size = source_size(src->src);
	return 1;
}
