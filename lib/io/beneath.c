/*
 * Open names without being misled. A directory may belong to an untrusted
 * user: a symbolic link in it can point elsewhere, and a name can be replaced
 * between a check and an open.
 */
#include "io.h"

#include <sys/syscall.h>

#include <linux/openat2.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * Open path below directory dir with openat2(2). resolve has RESOLVE_ flags.
 * flags are those of open(2), and must not create a file. Return a
 * close-on-exec descriptor that the caller owns, or -1 with errno set: ENOSYS
 * before Linux 5.6.
 */
int
beneath_resolve(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned int)(flags | O_CLOEXEC),
	    .resolve = resolve };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/*
 * Copy the first component of path to name, which has room for NAME_MAX + 1
 * bytes. Return the rest of path, which is "" after the last component. Return
 * NULL with errno set if the component is empty, too long, or "..".
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
 * Open path below directory dir with O_PATH, component by component, without
 * following symbolic links.
 */
static int
path_walk(int dir, const char *path)
{
	char name[NAME_MAX + 1];
	int at, fd;

	for (fd = dir; ; ) {
		at = fd;
		fd = -1;
		path = name_cut(path, name);
		if (path != NULL)
			fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC |
			    (*path == '\0' ? 0 : O_DIRECTORY));
		fd_drop(at == dir ? -1 : at);
		if (fd == -1 || *path == '\0')
			return fd;
	}
}

/*
 * Open path below directory dir with O_PATH and close-on-exec. Symbolic links
 * are not followed. If the last component is a link, the link itself is opened.
 * Neither "/" nor ".." can leave dir. Return a descriptor that the caller owns,
 * or -1 with errno set: ELOOP for a link on the way, EXDEV for a path that
 * leaves dir.
 */
int
beneath_open(int dir, const char *path)
{
	int fd;

	fd = beneath_resolve(dir, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH |
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	/* some seccomp(2) filters fail unknown calls with EPERM */
	if (fd != -1 || (errno != ENOSYS && errno != EPERM))
		return fd;
	return path_walk(dir, path);
}

/*
 * Reopen the file behind fd, which may be an O_PATH descriptor. flags are those
 * of open(2). This works even if the file's name now refers to something else.
 * Return a descriptor that the caller owns, or -1 with errno set.
 */
int
beneath_reopen(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/*
 * Return true if name in directory dir may be followed. fd is the file that was
 * opened by that name. A symbolic link must belong to us, to root, or to the
 * owner of its target. This is the rule of fs.protected_symlinks in
 * proc_sys_fs(5).
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
