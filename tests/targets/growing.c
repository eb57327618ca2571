/*
 * A stack that the kernel extends, and mappings that are replaced all the time:
 * one that is not in dumps, and one that alternates between that and merging
 * with its neighbor.  growing [N] has N other mappings.
 */
#include "target.h"

#include <sys/mman.h>

#include <poll.h>
#include <stdbool.h>

enum { MOST = 128 };		/* pages that the stack grows by */

/*
 * Reserve room for a stack, map its last page, and return its end.
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

static void
memory_make(void *at, size_t n)
{
	if (mmap(at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "mmap");
}

/*
 * Reserve room for a page next to mapped pages; return its address.
 */
static char *
neighbour_make(void)
{
	char *p;

	p = mmap(NULL, 8L * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	    0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	memory_make(p + 2L * PAGE, 4L * PAGE);
	return p + PAGE;
}

/*
 * Replace the mapping of page p: it merges with its neighbors, or, if joins is
 * false, is not in dumps.
 */
static void
page_renew(char *p, bool joins)
{
	(void)munmap(p, PAGE);
	memory_make(p, PAGE);
	if (!joins && madvise(p, PAGE, MADV_DONTDUMP) == -1)
		err(1, "madvise");
	*p = 1;
}

/*
 * Make n mappings of a page each; every other one has its page present.
 */
static void
mappings_make(size_t n)
{
	char *p;
	size_t i;

	p = mmap(NULL, (n + 1) * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < n; i += 2) {
		if (mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_WRITE) == -1)
			err(1, "mprotect");
		p[i * PAGE] = 1;
	}
}

int
main(int argc, char *argv[])
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char *top, *p, *page;
	long depth;

	if (argc > 1)
		mappings_make((size_t)strtol(argv[1], NULL, 10));
	top = stack_make();
	page = neighbour_make();
	printf("stack %jx\njoins %jx\nready\n", (uintmax_t)(uintptr_t)top,
	    (uintmax_t)(uintptr_t)page);
	fflush(stdout);
	for (depth = 2; poll(&in, 1, 1) == 0; depth++) {
		*(volatile char *)(top - depth * PAGE) = 1;
		page_renew(page, false);
		p = mmap(NULL, 3L * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || madvise(p, 3L * PAGE, MADV_DONTDUMP) ==
		    -1)
			err(1, "mmap");
		*p = 1;
		(void)poll(&in, 1, 1);
		page_renew(page, true);
		(void)munmap(p, 3L * PAGE);
		if (depth < MOST)
			continue;
		/* all but its first page */
		(void)munmap(top - depth * PAGE, (size_t)(depth - 1) * PAGE);
		depth = 1;
	}
	return 0;
}
