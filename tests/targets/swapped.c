/*
 * A process with a file that is mapped many times, and whose name refers to a
 * FIFO half of the time: a child exchanges the two all the time:
 *
 *	swapped DIR
 *
 * It reports how often another process opened or closed the FIFO.
 */
#include "target.h"

#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/fs.h>

#include <fcntl.h>

enum { MAPPED = 1000 };

/*
 * Map a page of a file many times; the mappings do not merge.
 */
static void
file_map(const char *path)
{
	char *p;
	int fd, i;

	fd = open(path, O_RDWR | O_CREAT, 0644);
	p = mmap(NULL, 2 * MAPPED * PAGE, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (fd == -1 || ftruncate(fd, PAGE) == -1 || p == MAP_FAILED)
		err(1, "%s", path);
	for (i = 0; i < MAPPED; i++)
		if (mmap(p + 2 * i * PAGE, PAGE, PROT_READ, MAP_PRIVATE |
		    MAP_FIXED, fd, 0) == MAP_FAILED)
			err(1, "mmap");
	close(fd);
}

static pid_t
swap_begin(void)
{
	pid_t pid;

	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid != 0)
		return pid;
	end_with_parent();
	for (;;)
		if (syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, "fifo",
		    RENAME_EXCHANGE) == -1)
			err(1, "rename");
}

int
main(int argc, char *argv[])
{
	char buf[65536];
	pid_t pid;
	ssize_t n;
	int fd;

	if (argc != 2)
		errx(2, "usage: swapped dir");
	if (chdir(argv[1]) == -1 || mkfifo("fifo", 0600) == -1)
		err(1, "%s", argv[1]);
	file_map("file");
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd == -1 || inotify_add_watch(fd, "fifo", IN_OPEN |
	    IN_CLOSE) == -1)
		err(1, "inotify");
	pid = swap_begin();
	ready();
	await();
	(void)kill(pid, SIGKILL);
	n = read(fd, buf, sizeof buf);
	report("events", n == -1 ? 0 : n / (ssize_t)sizeof(struct
	    inotify_event));
	report("eintr", eintr);
	return 0;
}
