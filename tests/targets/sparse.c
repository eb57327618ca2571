/*
 * A terabyte with 100 pages touched, and another one that is inaccessible.
 */
#include "target.h"

#include <sys/mman.h>

int
main(void)
{
	const size_t size = tera();
	char name[16], *p, *q;
	int i;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	q = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED || q == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(p, size, MADV_NOHUGEPAGE);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "page%d", i);
		region(name, p + size / 100 / PAGE * PAGE * (size_t)i, PAGE,
		    (uint64_t)i + 1);
	}
	ready_await();
	return 0;
}
