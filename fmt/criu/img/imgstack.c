/*
 * Functions common to image directories on disk (imgdir.c) and in an archive
 * (imgtar.c), which may be stacked on others.
 */
#include "img.h"
#include "vec.h"

#include <unistd.h>

/*
 * Create an image directory from its path and its descriptor fd, which may be
 * -1. Take ownership of both, and release them on failure. Fail if path is
 * NULL, with errstr as it is. Return the directory, or NULL with errstr set.
 */
struct imgdir *
imgdir_new(int fd, char *path)
{
	struct imgdir *d;

	if (path == NULL || (d = mem_new(1, sizeof *d)) == NULL) {
		fd_drop(fd);
		free(path);
		return NULL;
	}
	d->fd = fd;
	d->path = path;
	return d;
}

/*
 * Open the parents that directory top, which may be NULL, is stacked on. parent
 * is called for each directory d of the stack; depth is the number of
 * directories from top to d. It returns 0 with d->parent set, or NULL if there
 * is no parent; 0 with the reason in d->why if the parent cannot be opened; or
 * -1 with errstr set on any other error. Return top, or NULL with errstr set.
 */
struct imgdir *
imgdir_stack(struct imgdir *top, imgparent_fn parent)
{
	struct imgdir *d;
	size_t depth;

	for (d = top, depth = 1; d != NULL; d = d->parent, depth++)
		if (parent(top, d, depth) == -1) {
			imgdir_free(top);
			return NULL;
		}
	return top;
}

/*
 * Free directory d and its parents; d may be NULL.
 */
void
imgdir_free(struct imgdir *d)
{
	struct imgdir *parent;

	for (; d != NULL; d = parent) {
		parent = d->parent;
		fd_drop(d->fd);
		free(d->path);
		free(d->why);
		free(d->at);
		free(d);
	}
}

/*
 * Return true if a file with this name is an image.
 */
bool
img_isname(const char *name)
{
	size_t n;

	n = strlen(name);
	return n >= 4 && strcmp(name + n - 4, ".img") == 0;
}
