/*
 * A stack that the kernel lets grow, and a mapping that is not to be in dumps
 * and is made anew, all the time.
 */
#include "target.h"

#include <sys/mman.h>

#include <poll.h>
#include <stdbool.h>

enum { MOST = 128 };		/* pages that the stack grows by */

/*
 * Reserve room for a stack, and return its end, of which a page is there.
 */
static char *
stack_make(void)
{
	const size_t room = 1024L * PAGE;
	char *p, *top;

	p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED || munmap(p, room) == -1)
		err(1, "mmap");
	top = p + room - PAGE;
	p = mmap(top - PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	return top;
}

int
main(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char *top, *p;
	long depth;

	top = stack_make();
	printf("stack %jx\nready\n", (uintmax_t)(uintptr_t)top);
	fflush(stdout);
	for (depth = 2; poll(&in, 1, 1) == 0; depth++) {
		*(volatile char *)(top - depth * PAGE) = 1;
		p = mmap(NULL, 3L * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || madvise(p, 3L * PAGE, MADV_DONTDUMP) ==
		    -1)
			err(1, "mmap");
		*p = 1;
		(void)poll(&in, 1, 1);
		(void)munmap(p, 3L * PAGE);
		if (depth < MOST)
			continue;
		/* all but its first page */
		(void)munmap(top - depth * PAGE, (size_t)(depth - 1) * PAGE);
		depth = 1;
	}
	return 0;
}
