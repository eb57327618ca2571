/*
 * Huge pages of hugetlbfs, private and shared, the second of two written; or a
 * line "lacks hugetlb" if too few are free.  When asked, it writes to a present
 * page again, which must not need a new one.
 */
#include "target.h"

#include <sys/mman.h>

#ifndef MFD_HUGETLB
#define MFD_HUGETLB	0x0004
#endif

enum { HUGE = 2 << 20 };

static char *
huge(const char *name, int flags, int fd, uint64_t seed)
{
	char *p;

	p = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	region(name, p + HUGE + 4 * PAGE, 8 * PAGE, seed);
	return p;
}

int
main(void)
{
	char *p[2];
	long bad;
	int fd, i;

	p[0] = huge("private", MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1,
	    1);
	fd = memfd_create("huge", MFD_HUGETLB);
	p[1] = fd == -1 || ftruncate(fd, 2 * HUGE) == -1 ? NULL :
	    huge("shared", MAP_SHARED, fd, 2);
	if (p[0] == NULL || p[1] == NULL)
		printf("lacks hugetlb\n");
	ready_await();
	for (bad = 0, i = 0; i < 2 && p[0] != NULL && p[1] != NULL; i++) {
		bad += pattern_check(p[i] + HUGE + 4 * PAGE, 8 * PAGE,
		    (uint64_t)i + 1);
		p[i][HUGE] = 1;
	}
	report("changed", bad);
	return 0;
}
