/*
 * 500 mappings, by turns writable and read-only, so that the kernel does not
 * merge them; each has one present page in the middle.
 */
#include "target.h"

#include <sys/mman.h>

#define SIZE	(16 * PAGE)

enum { MAPS = 500 };

int
main(void)
{
	char name[16], *p;
	int i;

	p = mmap(NULL, MAPS * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(p, MAPS * SIZE, MADV_NOHUGEPAGE);
	for (i = 0; i < MAPS; i++) {
		snprintf(name, sizeof name, "map%d", i);
		region(name, p + i * SIZE + 8 * PAGE, PAGE, (uint64_t)i + 1);
		if (i % 2 == 1 && mprotect(p + i * SIZE, SIZE, PROT_READ) ==
		    -1)
			err(1, "mprotect");
	}
	ready_await();
	return 0;
}
