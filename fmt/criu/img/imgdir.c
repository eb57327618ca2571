/*
 * Read a directory of images, which may be untrusted. Only regular files in
 * the directory itself are read. A symbolic link might lead to a file that we
 * may read and its owner may not, a FIFO blocks, and opening a device may have
 * side effects.
 *
 * The link "parent" is an exception: criu makes it in a directory that is
 * stacked on another. It is followed if it can be trusted (link_istrusted).
 *
 * All directories of a stack are opened first, before any file is read.
 */
#include "img.h"
#include "vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Return true if fd refers to one of the stacked directories, from the
 * directory top down to the directory last.
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
 * Open the parent of d, the directory that d is stacked on. This is an
 * imgparent_fn.
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
		errstr_set("%s: the parent links form a loop", path);
	else if (depth >= MAX_STACK)
		errstr_set("%s: more than %d parents", path, MAX_STACK);
	else if (!link_istrusted(d->fd, "parent", fd))
		errstr_set("%s: not followed: one user's link leads to "
		    "another user's directory", path);
	else {
		d->parent = imgdir_new(fd, path);
		return d->parent == NULL ? -1 : 0;
	}
	fd_drop(fd);
	free(path);
	if (path == NULL || (d->why = strdup(snap_errstr())) == NULL)
		return errstr_set("out of memory");
	return 0;
}

/*
 * Open the directory at path, and the parents that it is stacked on. A parent
 * that cannot be opened is not an error: the reason is then in the member why
 * of the directory stacked on that parent. Return the directory, or NULL with
 * errstr set.
 */
struct imgdir *
imgdir_open(const char *path)
{
	int fd;

	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1) {
		errstr_sys("%s", path);
		return NULL;
	}
	return imgdir_stack(imgdir_new(fd, str_dup(path)), parent_open);
}

/*
 * Call fn(arg, name) for each regular file in directory d, until fn() returns
 * -1. Fail if something that is not a regular file has the name of an image.
 * Return 0, or -1 with errstr set.
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
		fd_drop(fd);
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
 * Open the regular file called name in directory d for reading. path is for
 * messages. Set *fd to its descriptor, which the caller closes. Return 1 on
 * success, 0 with errstr set if there is no such file, or -1 with errstr set on
 * any other error.
 */
static int
file_open(const struct imgdir *d, const char *name, const char *path, int *fd)
{
	int at;

	if ((at = beneath_open(d->fd, name)) == -1) {
		errstr_sys("%s", path);
		return errno == ENOENT ? 0 : -1;
	}
	*fd = regular_take(at, path);
	return *fd == -1 ? -1 : 1;
}

/*
 * Open the file called name in directory d as a stream. Set *in to the stream,
 * which the caller closes. Return 1 on success, 0 if there is no such file, or
 * -1 with errstr set.
 */
int
imgdir_input(const struct imgdir *d, const char *name, struct input **in)
{
	char *path;
	int fd, rc;

	*in = NULL;
	if ((path = str_printf("%s/%s", d->path, name)) == NULL)
		return -1;
	if (d->tar != NULL)
		rc = imgtar_input(d, name, path, in);
	else if ((rc = file_open(d, name, path, &fd)) == 1) {
		*in = input_fd(path, fd);
		rc = *in == NULL ? -1 : 1;
	}
	free(path);
	return rc;
}

/*
 * Make the file called name in directory d a source of snapshot s, and set *src
 * to describe it. If d is in an archive, the source is the whole archive.
 * Return 1 on success, 0 if there is no such file, or -1 with errstr set.
 */
int
imgdir_source(const struct imgdir *d, const char *name, struct snap *s,
    struct imgsource *src)
{
	char *path;
	int fd, rc;

	if (d->tar != NULL)
		return imgtar_source(d, name, s, src);
	if ((path = str_printf("%s/%s", d->path, name)) == NULL)
		return -1;
	if ((rc = file_open(d, name, path, &fd)) == 1) {
		src->src = source_file(s, fd, path, KB);
		rc = src->src == NULL ? -1 : 1;
	}
	free(path);
	src->loc = 0;
	src->size = rc == 1 ? source_size(src->src) : 0;
	return rc;
}
