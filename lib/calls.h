/*
 * Calls of the kernel that C libraries declare in different ways, or not at
 * all: calls.c.
 */
#ifndef CALLS_H
#define CALLS_H

#include <sys/types.h>

#include <fcntl.h>
#include <stdint.h>

/* how a descriptor may be used; O_ACCMODE of musl has O_PATH, too */
enum { ACCESS_MODE = O_WRONLY | O_RDWR };

/* a file, and where it is mounted */
struct filemount {
	mode_t		 mode;
	dev_t		 dev;
	uint64_t	 ino;
	int64_t		 mount;	/* as in proc_pid_mountinfo(5); -1: not told */
};

int		 call_closefrom(unsigned int first);
int		 call_ioctl(int fd, unsigned long request, void *arg);
int		 call_filemount(int dir, const char *path, struct filemount *f);

#endif
