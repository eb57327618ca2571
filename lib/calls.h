/*
 * Kernel calls that C libraries declare differently, or not at all: calls.c.
 */
#ifndef CALLS_H
#define CALLS_H

#include <sys/types.h>

#include <fcntl.h>
#include <stdint.h>

/* access mode of open flags; O_ACCMODE of musl also includes O_PATH */
enum { ACCESS_MODE = O_WRONLY | O_RDWR };

/* a file and its mount */
struct filemount {
	mode_t		 mode;
	dev_t		 dev;
	uint64_t	 ino;
	int64_t		 mount;	/* mount ID as in proc_pid_mountinfo(5); -1:
				   unknown */
};

int		 call_closefrom(unsigned int first);
int		 call_ioctl(int fd, unsigned long request, void *arg);
int		 call_filemount(int dir, const char *path, struct filemount *f);

#endif
