/*
 * What directories of images on a disk (imgdir.c) and those in an archive
 * (imgtar.c) have in common: they may be stacked on others.
 */
#include "img.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Make a directory of images of the descriptor fd, or of -1, and a path, which
 * are the directory's, and closed and freed on failure.  A path of NULL is that
 * memory has run out.  Return it, or NULL with errstr.
 */
struct imgdir *
imgdir_new(int fd, char *path)
{
	struct imgdir *d;

	if (path == NULL || (d = calloc(1, sizeof *d)) == NULL) {
		if (fd != -1)
			close(fd);
		free(path);
		errstr_set("out of memory");
		return NULL;
	}
	d->fd = fd;
	d->path = path;
	return d;
}

/*
 * Free directory d, and those that it is stacked on; NULL does nothing.
 */
void
imgdir_free(struct imgdir *d)
{
	struct imgdir *parent;

	for (; d != NULL; d = parent) {
		parent = d->parent;
		if (d->fd != -1)
			close(d->fd);
		free(d->path);
		free(d->why);
		free(d->at);
		free(d);
	}
}

/*
 * Return whether the name of a file is that of an image.
 */
bool
img_isname(const char *name)
{
	size_t n;

	n = strlen(name);
	return n >= 4 && strcmp(name + n - 4, ".img") == 0;
}
