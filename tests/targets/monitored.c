/*
 * Memory that is registered with userfaultfd(2) and unregistered all the time.
 * The monitor is a thread of the same process, and fork(2) waits for it.  If
 * that is not permitted, it prints "lacks monitor".
 */
#include "target.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>

static int fd;

static void *
monitor(void *arg)
{
	struct uffd_msg msg;

	while (read(fd, &msg, sizeof msg) != 0)
		if (msg.event == UFFD_EVENT_FORK)
			(void)close((int)msg.arg.fork.ufd);
	return arg;
}

int
main(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct uffdio_api api = { .api = UFFD_API,
	    .features = UFFD_FEATURE_EVENT_FORK };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;
	char *p;

	p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	/* neighbors with other permissions never merge */
	if (mprotect(p, PAGE, PROT_NONE) == -1 ||
	    mprotect(p + 3 * PAGE, PAGE, PROT_NONE) == -1)
		err(1, "mprotect");
	memset(p + PAGE, 1, 2 * PAGE);
	reg.range.start = (uintptr_t)p + PAGE;
	reg.range.len = 2 * PAGE;
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd == -1 || ioctl(fd, UFFDIO_API, &api) == -1 ||
	    pthread_create(&thread, NULL, monitor, NULL) != 0)
		puts("lacks monitor");
	puts("ready");
	fflush(stdout);
	while (poll(&in, 1, 1) == 0) {
		(void)ioctl(fd, UFFDIO_REGISTER, &reg);
		(void)poll(&in, 1, 1);
		(void)ioctl(fd, UFFDIO_UNREGISTER, &reg.range);
	}
	return 0;
}
