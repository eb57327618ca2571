/*
 * Opening a file for reading whose name another chooses: a target, or who
 * made a snapshot.  To open what is no regular file may do something: a
 * device rewinds or arms, a fifo wakes its writer.  And who chooses the name
 * can have it lead elsewhere between one look and the next.
 *
 * So the name is looked up once, with O_PATH, which opens nothing
 * (openat(2)); what it led to is looked at; and that, no name, is opened
 * through the link that proc(5) has for the descriptor.
 */
#include "io.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Open what a descriptor, at, was opened for with O_PATH, if it is a regular
 * file, for reading, without waiting for a lease (fcntl(2)) to end, and without
 * touching its times where that is allowed. at stays open.  Return a
 * descriptor, or -1 with errno, which is 0 where it is no regular file.
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
	if (fd == -1 && errno == EPERM)	/* it is not ours: open(2) */
		fd = beneath_reopen(at, flags);
	return fd;
}

/*
 * Open the regular file of that path for reading, as regular_reopen.  Return a
 * descriptor, or -1 with errstr.
 */
int
regular_open(const char *path)
{
	int at, e, fd;

	if ((at = open(path, O_PATH | O_CLOEXEC)) == -1)
		return errstr_sys("%s", path);
	fd = regular_reopen(at);
	e = errno;
	close(at);
	errno = e;
	if (fd == -1)
		return e == 0 ? errstr_set("%s: not a regular file", path) :
		    errstr_sys("%s", path);
	return fd;
}

/*
 * Look whether the file that is open for reading as fd is an ELF file.  Return
 * 1 if it is; 0 if not; -1 with errno if it cannot be read.
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
