/*
 * Open regular files whose names others choose: a target process, or the maker
 * of a snapshot. Opening anything else can have effects: a device may rewind,
 * a fifo wakes its writer. And a name can be made to refer to another file
 * between two calls.
 *
 * So the name is resolved once, with O_PATH, which opens nothing (openat(2));
 * the file found is checked; and that file is opened through its descriptor's
 * link in proc(5), not by name.
 */
#include "io.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Open a regular file for reading. The argument at is its O_PATH descriptor,
 * which stays open. Do not wait for a lease (fcntl(2)) to end. If permitted, do
 * not change the access time. Return a descriptor, or -1 with errno set; errno
 * is 0 if it is not a regular file.
 */
int
regular_reopen(int at)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct statx sx;
	int fd;

	if (statx(at, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
	    &sx) == -1)
		return -1;
	if (!S_ISREG(sx.stx_mode)) {
		errno = 0;
		return -1;
	}
	fd = beneath_reopen(at, flags | O_NOATIME);
	if (fd == -1 && errno == EPERM)	/* O_NOATIME works only on our own
					   files */
		fd = beneath_reopen(at, flags);
	return fd;
}

/*
 * Open the regular file that O_PATH descriptor at refers to, as
 * regular_reopen() does, and close at. path is for messages. Return a
 * descriptor, or -1 with errstr set.
 */
int
regular_take(int at, const char *path)
{
	int fd;

	fd = regular_reopen(at);
	fd_drop(at);
	return fd != -1 ? fd : errno == 0 ? errstr_set("%s: not a regular file",
	    path) : errstr_sys("%s", path);
}

/*
 * Open the regular file at path for reading, as regular_reopen() does. Return a
 * descriptor, or -1 with errstr set.
 */
int
regular_open(const char *path)
{
	int at;

	at = open(path, O_PATH | O_CLOEXEC);
	return at == -1 ? errstr_sys("%s", path) : regular_take(at, path);
}

/*
 * Return 1 if file fd, which is open for reading, is an ELF file, or 0 if it is
 * not. Return -1 with errno set if it cannot be read.
 */
int
regular_iself(int fd)
{
	char magic[SELFMAG];
	ssize_t n;

	n = pread(fd, magic, SELFMAG, 0);
	return n == -1 ? -1 : n == SELFMAG &&
	    memcmp(magic, ELFMAG, SELFMAG) == 0;
}
