/*
 * Open output paths safely. In a directory where everybody can create names,
 * somebody who expects ours may have created it first: as a link, a fifo to
 * read from, or a directory.
 */
#include "io.h"

#include <sys/sysmacros.h>

#include <linux/openat2.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * Open the directory at path, relative to the descriptor at, as openat(2) does.
 * Follow symbolic links, but not those of proc(5) that refer to files without a
 * path. Return a descriptor, or -1 with errno set.
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
	return errstr_set("%s: path contains a link of proc(5), or too many "
	    "symbolic links", path);
}

/*
 * Open with O_PATH the directory that contains path. Set *name to the last
 * component of path, which must not be empty, "." or "..". Return a descriptor
 * that the caller owns, or -1 with errstr set.
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
 * Return true if name in directory dir may have been made by another user to
 * mislead us. This is so if dir is sticky, others can write to it, and name
 * belongs neither to us, nor to root, nor to the owner of dir. This is the rule
 * of fs.protected_symlinks in proc_sys_fs(5).
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
 * Open the directory at path, which may be a symbolic link, to create files in
 * it. If made is not NULL, create the directory if it is missing. Then set
 * *made to a descriptor of its parent, which the caller owns, or to -1 if
 * nothing was created. Return a descriptor that the caller owns, or -1 with
 * errstr set; errno is ENOENT if the directory is missing and could be created.
 */
int
outname_opendir(const char *path, int *made)
{
	const char *name;
	int at, fd;
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
		fd = errstr_set("%s: created by another user in a directory "
		    "that everybody can write to; not written to", path);
	} else {
		fd = dir_open(at, name, is_new ? O_RDONLY | O_NOFOLLOW :
		    O_RDONLY);
		if (fd == -1)
			dir_fail(path);
	}
	if (is_new)
		*made = at;
	fd_drop(is_new ? -1 : at);
	return fd;
}

/*
 * Return the number of the inherited descriptor that path refers to
 * (/dev/stdout, /dev/fd/3), or -1 for any other path.
 */
int
outname_inherited(const char *path)
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
 * Return true if st is the status of a device that discards output. The owner
 * of such a device does not matter: it is root, which may be unmapped in our
 * user namespace.
 */
static bool
is_sink(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 &&
	    (minor(st->st_rdev) == 3 || minor(st->st_rdev) == 5 ||
	    minor(st->st_rdev) == 7);	/* /dev/null, /dev/zero or /dev/full:
					   see null(4) and full(4) */
}

/*
 * Open the fifo or device at path for writing. The argument at is its O_PATH
 * descriptor, and st its status. The file must belong to us or root, or be a
 * device that discards output. It must have only one link, since another user
 * could have made a second. For a fifo, wait for a reader or a signal. Return a
 * descriptor that the caller owns, or -1 with errstr set.
 */
int
outname_device(int at, const struct stat *st, const char *path)
{
	const char *what;
	int fd;

	what = S_ISFIFO(st->st_mode) ? "fifo" : "device";
	if (st->st_uid != geteuid() && st->st_uid != 0 && !is_sink(st))
		return errstr_set("%s: this %s belongs to another user; not "
		    "written to (to write anyway: > %s)", path,
		    what, path);
	if (st->st_nlink > 1)
		return errstr_set("%s: this %s has another hard link; not "
		    "written to", path, what);
	fd = beneath_reopen(at, O_WRONLY | O_NOCTTY);
	return fd == -1 ? errstr_sys("%s", path) : fd;
}
