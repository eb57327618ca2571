/*
 * Where something is to be written.  The directory may be one in which
 * everybody can make names, and who knows ours has made it before us: a link,
 * a fifo that he reads, a directory of his.
 */
#include "io.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Open a directory, as path has it: links on the way are followed, except
 * those of proc(5), which lead where no path does.
 */
static int
dir_open(int at, const char *path, int flags)
{
	int fd;

	fd = beneath_resolve(at, path, flags | O_DIRECTORY,
	    RESOLVE_NO_MAGICLINKS);
	if (fd == -1 && (errno == ENOSYS || errno == EPERM))
		fd = openat(at, path, flags | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

static int
dir_fail(const char *path)
{
	if (errno != ELOOP)
		return errstr_sys("%s", path);
	return errstr_set("%s: the way there leads through a link of proc(5), "
	    "or through too many links", path);
}

/*
 * Open the directory that a path is in, with O_PATH, and set *name to what
 * comes after it, within path: not empty, nor "." or "..".  Return a
 * descriptor, the caller's, or -1 with the error string set.
 */
int
outname_dir(const char *path, const char **name)
{
	const char *slash;
	char *dir;
	int fd;

	slash = strrchr(path, '/');
	*name = slash == NULL ? path : slash + 1;
	errno = *path == '\0' ? ENOENT : EISDIR;
	if (**name == '\0' || strcmp(*name, ".") == 0 ||
	    strcmp(*name, "..") == 0)
		return errstr_sys("%s", *path == '\0' ? "\"\"" : path);
	dir = slash == NULL ? strdup(".") :
	    strndup(path, (size_t)(slash == path ? 1 : slash - path));
	if (dir == NULL)
		return errstr_set("out of memory");
	if ((fd = dir_open(AT_FDCWD, dir, O_PATH)) == -1)
		dir_fail(path);
	free(dir);
	return fd;
}

/*
 * Return whether a name in a directory that everybody may write to was made by
 * somebody else than us, root, or who owns the directory.  The rule is that of
 * fs.protected_symlinks in proc_sys_fs(5).
 */
static bool
is_strange(int dir, const char *name)
{
	struct stat d, st;

	return fstat(dir, &d) == 0 && d.st_mode & S_ISVTX &&
	    d.st_mode & (S_IWGRP | S_IWOTH) &&
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_uid != geteuid() && st.st_uid != 0 &&
	    st.st_uid != d.st_uid;
}

/*
 * Open the directory path to write files into, also through a link, and with
 * made, unless that is NULL, make it if there is none: *made is a descriptor of
 * the directory that it was made in, the caller's, or -1.  Return a descriptor,
 * the caller's, or -1 with the error string set and errno: ENOENT if there is
 * no such directory, although there could be.
 */
int
outname_opendir(const char *path, int *made)
{
	const char *name;
	int at, e, fd;
	bool is_new;

	if (made != NULL)
		*made = -1;
	name = strrchr(path, '/');
	name = name == NULL ? path : name + 1;
	if (*name == '\0' || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0) {
		fd = dir_open(AT_FDCWD, path, O_RDONLY);
		return fd == -1 ? dir_fail(path) : fd;
	}
	if ((at = outname_dir(path, &name)) == -1) {
		errno = EACCES;
		return -1;
	}
	is_new = made != NULL && mkdirat(at, name, 0700) == 0;
	errno = EACCES;
	if (!is_new && is_strange(at, name)) {
		fd = errstr_set("%s: another user has made it, in a directory "
		    "that all may write to: not written to", path);
	} else {
		fd = dir_open(at, name, is_new ? O_RDONLY | O_NOFOLLOW :
		    O_RDONLY);
		if (fd == -1)
			dir_fail(path);
	}
	e = errno;
	if (is_new)
		*made = at;
	else
		close(at);
	errno = e;
	return fd;
}

/*
 * Return the number of the descriptor that a path means, one that who started
 * us has opened for us (/dev/stdout, /dev/fd/3), or -1 if it is no such path.
 */
int
outname_handed(const char *path)
{
	static const char *const dir[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *bad;
	size_t i, n;
	int fd;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (i = 0; i < sizeof dir / sizeof *dir; i++) {
		n = strlen(dir[i]);
		if (strncmp(path, dir[i], n) != 0 ||
		    path[n + strspn(path + n, "0123456789")] != '\0')
			continue;
		fd = (int)strtonum(path + n, 0, INT_MAX, &bad);
		if (bad == NULL)
			return fd;
	}
	return -1;
}

/*
 * Return true if it swallows what is written, whoever owns it.  Where the user
 * numbers of a container have no root, nobody does.
 */
static bool
is_sink(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 &&
	    (minor(st->st_rdev) == 3 || minor(st->st_rdev) == 5 ||
	    minor(st->st_rdev) == 7);	/* null, zero, full: null(4), full(4) */
}

/*
 * Open for writing the fifo or device called path, which is open with O_PATH as
 * at and was found to be st: one that is ours or root's, and has no second
 * name, which somebody could have made.  Wait for a reader, or a signal.
 * Return a descriptor, the caller's, or -1 with the error string set.
 */
int
outname_device(int at, const struct stat *st, const char *path)
{
	const char *what;
	int fd;

	what = S_ISFIFO(st->st_mode) ? "fifo" : "device";
	if (st->st_uid != geteuid() && st->st_uid != 0 && !is_sink(st))
		return errstr_set("%s: a %s that belongs to another user is "
		    "not written to (to do it all the same: > %s)", path,
		    what, path);
	if (st->st_nlink > 1)
		return errstr_set("%s: a %s that has another name, too, is "
		    "not written to", path, what);
	if ((fd = beneath_reopen(at, O_WRONLY | O_NOCTTY)) == -1)
		return errstr_sys("%s", path);
	return fd;
}
