/*
 * Another name of a file whose name was deleted: somewhere on its mount, for
 * which directories are read, its own first, then those below it, then those
 * of the directory above, and so on up to the root of the mount.
 *
 * Who owns the directories may be hostile: no symbolic link is followed, no
 * mount is crossed, and the search ends when so many entries were looked at,
 * or so much time went by.
 */
#include "calls.h"
#include "linksearch.h"
#include "io/io.h"
#include "clock.h"
#include "vec.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <linux/openat2.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH_MOST = 50000 };	/* entries of directories for a file */

struct search {
	const struct linkwish *wish;	/* borrowed, as the next */
	struct linkbudget *budget; /* of all searches; borrowed */
	size_t		 left;	/* entries that this one may look at */
	char		**dir;	/* owned; still to be read, below the first */
	size_t		 ndir;
	const char	*skip;	/* borrowed; has been read; or NULL */
	char		*path;	/* owned; found, below the first directory */
	int		 fd;	/* owned; the directory it is in */
};

/*
 * Take an entry from the budgets.  Return false if it may not be looked at.
 */
static bool
budget_take(struct search *s)
{
	if (s->left == 0 || s->budget->left == 0 ||
	    now_ms() >= s->budget->until)
		return false;
	s->left--;
	s->budget->left--;
	return true;
}

/*
 * Open something below a directory, without touching its times where that is
 * allowed.
 */
static int
open_below(int at, const char *path, int flags, uint64_t resolve)
{
	uint64_t how = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	int fd;

	if (flags & O_PATH)
		return beneath_resolve(at, path, flags, 0, how);
	fd = beneath_resolve(at, path, flags | O_NOATIME, 0, how);
	return fd == -1 && errno == EPERM ?
	    beneath_resolve(at, path, flags, 0, how) : fd;
}

/*
 * Return true if the name in the directory that is open as dir is one of the
 * file with device dev and inode ino.
 */
bool
link_leads(int dir, const char *name, uint64_t dev, uint64_t ino)
{
	struct statx sx;
	bool is;
	int fd;

	fd = open_below(dir, name, O_PATH | O_NOFOLLOW,
	    RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	if (fd == -1)
		return false;
	is = statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO,
	    &sx) == 0 && sx.stx_ino == ino &&
	    makedev(sx.stx_dev_major, sx.stx_dev_minor) == dev;
	close(fd);
	return is;
}

/*
 * Remember a directory to be read.
 */
static int
dir_push(struct search *s, char *path)
{
	if (strlen(path) >= PATH_MAX || (s->skip != NULL &&
	    strcmp(path, s->skip) == 0)) {
		free(path);
		return 0;
	}
	if (VEC_ROOM(s->dir, s->ndir) == -1) {
		free(path);
		return -1;
	}
	s->dir[s->ndir++] = path;
	return 0;
}

/*
 * Look at an entry of a directory, rel below the first.  Return 1 if it is the
 * one that is wanted, 0 if not, or -1 when there is no memory.
 */
static int
entry_look(struct search *s, int dir, const char *rel, const struct dirent *d)
{
	const struct linkwish *w = s->wish;
	char *path;

	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
	    strchr(d->d_name, '\n') != NULL)
		return 0;
	if (asprintf(&path, "%s%s%s", rel, *rel != '\0' ? "/" : "",
	    d->d_name) == -1)
		return -1;
	if (d->d_type != DT_DIR && (w->layered || d->d_ino == w->ino) &&
	    link_leads(dir, d->d_name, w->dev, w->ino)) {
		s->path = path;
		return 1;
	}
	if (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN)
		return dir_push(s, path);
	free(path);
	return 0;
}

/*
 * Read a directory, rel below the first, which is open as fd.  Return
 * likewise.
 */
static int
dir_read(struct search *s, int fd, const char *rel)
{
	struct dirent *d;
	DIR *dir;
	int rc;

	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return 0;
	}
	for (rc = 0; rc == 0 && budget_take(s) &&
	    (d = readdir(dir)) != NULL;)
		rc = entry_look(s, fd, rel, d);
	if (rc == 1)
		s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	closedir(dir);
	return rc;
}

/*
 * Read all directories from the one on that is open as base.  Return likewise.
 */
static int
tree_read(struct search *s, int base)
{
	size_t i;
	int fd, rc;

	if ((fd = open_below(base, ".", O_RDONLY | O_DIRECTORY,
	    RESOLVE_BENEATH)) == -1)
		return 0;
	rc = dir_read(s, fd, "");
	for (i = 0; i < s->ndir && rc == 0 && budget_take(s); i++)
		if ((fd = open_below(base, s->dir[i], O_RDONLY | O_DIRECTORY,
		    RESOLVE_BENEATH | RESOLVE_NO_XDEV)) != -1)
			rc = dir_read(s, fd, s->dir[i]);
	for (i = 0; i < s->ndir; i++)
		free(s->dir[i]);
	free(s->dir);
	s->dir = NULL;
	s->ndir = 0;
	return rc;
}

static bool
on_mount(int fd, uint64_t mount)
{
	struct filemount f;

	return call_filemount(fd, "", &f) == 0 && f.mount != -1 &&
	    (uint64_t)f.mount == mount;
}

/*
 * Search for another name of file w, as far as budget, which becomes less, has
 * it.  Return its path, the caller's, and set *fd to the directory that it is
 * in; or return NULL.
 */
char *
link_search(const struct linkwish *w, struct linkbudget *budget, int *fd)
{
	struct search s = { .wish = w, .budget = budget, .left = EACH_MOST,
	    .fd = -1 };
	char *dir, *cut, *path;
	int base, rc;
	bool read;

	if ((dir = strdup(w->path)) == NULL)
		return NULL;
	for (rc = 0; rc == 0 && budget_take(&s) &&
	    (cut = strrchr(dir, '/')) != NULL; ) {
		*cut = '\0';
		base = open_below(w->root, *dir == '\0' ? "/" : dir,
		    O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT);
		if ((read = base != -1 && on_mount(base, w->mount)))
			rc = tree_read(&s, base);
		/* the name of what has been read, where it is read next */
		cut = read ? strrchr(dir, '/') : NULL;
		s.skip = cut == NULL ? NULL : cut + 1;
		if (base != -1)
			close(base);
	}
	path = NULL;
	if (rc == 1 && asprintf(&path, "%s/%s", dir, s.path) == -1)
		path = NULL;
	if (path == NULL && s.fd != -1)
		close(s.fd);
	*fd = path == NULL ? -1 : s.fd;
	free(s.path);
	free(dir);
	return path;
}
