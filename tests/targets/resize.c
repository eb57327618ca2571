/*
 * Shared memory that is truncated again and again, and soon restored: while the
 * word is 1, all of it is there.
 */
#include "target.h"

#include <sys/mman.h>

#include <poll.h>
#include <stdatomic.h>

enum { LEN = 4 * MAX_PAGE };

static atomic_ulong whole;

int
main(void)
{
	static char pages[LEN];
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char *p;
	int fd;

	if ((fd = memfd_create("resize", 0)) == -1)
		err(1, "memfd");
	p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	pattern_fill(pages, LEN, 1);
	printf("resize %#jx %d %#jx\n", (uintmax_t)(uintptr_t)p, LEN,
	    (uintmax_t)(uintptr_t)&whole);
	ready();
	do {
		whole = 0;
		if (ftruncate(fd, 0) == -1 || ftruncate(fd, LEN / 2) == -1 ||
		    usleep(200) == -1 || pwrite(fd, pages, LEN, 0) != LEN)
			err(1, "memfd");
		whole = 1;
	} while (poll(&in, 1, 1) == 0);
	report("changed", pattern_check(p, LEN, 1));
	return 0;
}
