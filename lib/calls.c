/*
 * Kernel calls that C libraries declare differently, or not at all. All set
 * errno if they fail.
 */
#include "calls.h"

#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * constants of linux/stat.h, which cannot be included with <sys/stat.h>;
 * <sys/stat.h> of some C libraries lacks them
 */
enum {
	DONT_SYNC = 0x4000,
	WANT_TYPE = 0x1,
	WANT_INO = 0x100,
	WANT_MOUNT = 0x1000
};

struct found {
	uint32_t	 mask;
	uint32_t	 skip1[6];
	uint16_t	 mode;
	uint16_t	 skip2;
	uint64_t	 ino;
	uint64_t	 skip3[12];
	uint32_t	 major, minor;	/* device number of the file system */
	uint64_t	 mount;
	uint64_t	 more[13];
};

_Static_assert(sizeof(struct found) == 256, "size of struct statx");

/*
 * Close all descriptors >= first with close_range(2). A child made by a process
 * with threads may call this safely. Return 0, or -1 with errno set. This fails
 * before Linux 5.9.
 */
int
call_closefrom(unsigned int first)
{
	return (int)syscall(SYS_close_range, first, ~0U, 0);
}

/*
 * Call ioctl(2) and return its result. POSIX and musl declare its request as
 * int, which cannot hold the 32-bit numbers of Linux headers.
 */
int
call_ioctl(int fd, unsigned long request, void *arg)
{
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/*
 * Set *f to describe the file at path, relative to descriptor dir. If path is
 * empty, describe the file open as dir. Linux before 5.8 does not report the
 * mount. Return 0, or -1 with errno set.
 */
int
call_filemount(int dir, const char *path, struct filemount *f)
{
	struct found x;

	if (syscall(SYS_statx, dir, path, AT_EMPTY_PATH | DONT_SYNC,
	    WANT_TYPE | WANT_INO | WANT_MOUNT, &x) == -1)
		return -1;
	*f = (struct filemount){ x.mode, makedev(x.major, x.minor), x.ino,
	    x.mask & WANT_MOUNT ? (int64_t)x.mount : -1 };
	return 0;
}
