/*
 * Names that lead where they say.  A directory may belong to people whom
 * nobody trusts: a link in it leads elsewhere, and what has a name now may be
 * something else when it is opened.
 */
#include "io.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Open path, below the directory that is open as dir, as openat2(2) does, with
 * its RESOLVE_ flags resolve and the flags of open(2), none of which makes a
 * file; close-on-exec.  Return a descriptor, the caller's, or -1 with errno:
 * ENOSYS where the kernel is older than 5.6.
 */
int
beneath_resolve(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned int)(flags | O_CLOEXEC),
	    .resolve = resolve };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/*
 * Cut the first name off a path that goes on below, into name, of NAME_MAX +
 * 1 bytes.  Return the rest, "" at the end, or NULL with errno.
 */
static const char *
name_cut(const char *path, char *name)
{
	size_t n;

	n = strcspn(path, "/");
	errno = n > NAME_MAX ? ENAMETOOLONG : *path == '\0' ? ENOENT : EXDEV;
	if (n == 0 || n > NAME_MAX)
		return NULL;
	memcpy(name, path, n);
	name[n] = '\0';
	return strcmp(name, "..") == 0 ? NULL : path + n + strspn(path + n,
	    "/");
}

/*
 * Open a path name by name, each in the directory before.
 */
static int
path_walk(int dir, const char *path)
{
	char name[NAME_MAX + 1];
	int at, e, fd;

	for (fd = dir; ; ) {
		at = fd;
		fd = -1;
		path = name_cut(path, name);
		if (path != NULL)
			fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC |
			    (*path == '\0' ? 0 : O_DIRECTORY));
		e = errno;
		if (at != dir)
			close(at);
		errno = e;
		if (fd == -1 || *path == '\0')
			return fd;
	}
}

/*
 * Open with O_PATH what path names below the directory that is open as dir: no
 * symbolic link is followed on the way, nor at its end, where it is opened
 * itself, and neither "/" nor ".." leads out.  It is closed on exec.  Return a
 * descriptor, the caller's, or -1 with errno: ELOOP for a link, EXDEV for a way
 * out.
 */
int
beneath_open(int dir, const char *path)
{
	int fd;

	fd = beneath_resolve(dir, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH |
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	/* EPERM: so seccomp(2) answers for some to calls it does not know */
	if (fd != -1 || (errno != ENOSYS && errno != EPERM))
		return fd;
	return path_walk(dir, path);
}

/*
 * Open with other flags, those of open(2), what is open as fd, perhaps with
 * O_PATH: this file and no other, whatever has its name now.  Return a
 * descriptor, the caller's, or -1 with errno.
 */
int
beneath_reopen(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/*
 * Return true if the name in the directory dir, which was opened as fd, is no
 * symbolic link, or one that may be followed, as fs.protected_symlinks of
 * proc_sys_fs(5) has it: our own or root's, or of whom that belongs to which
 * it leads to.
 */
bool
link_istrusted(int dir, const char *name, int fd)
{
	struct stat link, to;

	if (fstatat(dir, name, &link, AT_SYMLINK_NOFOLLOW) == -1 ||
	    fstat(fd, &to) == -1)
		return false;
	return !S_ISLNK(link.st_mode) || link.st_uid == 0 ||
	    link.st_uid == geteuid() || link.st_uid == to.st_uid;
}
