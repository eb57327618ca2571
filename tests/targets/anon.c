/*
 * Private memory with each kind of protection, and untouched pages after it.
 */
#include "target.h"

#include <sys/mman.h>

enum { PAGES = 16, KINDS = 5 };

static const struct {
	const char	*name;
	int		 prot;
} kind[KINDS] = {
	{ "readwrite", PROT_READ | PROT_WRITE },
	{ "readonly", PROT_READ },
	{ "none", PROT_NONE },
	{ "writeonly", PROT_WRITE },
	{ "execonly", PROT_EXEC },
};

int
main(void)
{
	char *p[KINDS], *q, *z, *h;
	long bad;
	int i;

	for (i = 0; i < KINDS; i++) {
		p[i] = mmap(NULL, 64 * PAGES * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p[i] == MAP_FAILED)
			err(1, "mmap");
		region(kind[i].name, p[i], PAGES * PAGE, (uint64_t)i + 1);
		region("island", p[i] + 32 * PAGES * PAGE, PAGE, 10);
		place("absent", "behind", p[i] + 40 * PAGES * PAGE,
		    20 * PAGES * PAGE, "");
		if (mprotect(p[i], 64 * PAGES * PAGE, kind[i].prot) == -1)
			err(1, "mprotect");
	}
	/* zero pages: one written with zeros, one only read */
	z = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(z, 0, PAGE);
	(void)*(volatile char *)(z + PAGE);
	place("zeros", "zeros", z, 2 * PAGE, "");
	/* a huge page, if the system gives one, partly written */
	h = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	h += -(uintptr_t)h & ((2 << 20) - 1);
	(void)madvise(h, 2 << 20, MADV_HUGEPAGE);
	region("huge", h + 100 * PAGE, PAGES * PAGE, 20);
	q = malloc(100000);
	region("heap", q, 100000 / 8 * 8, 21);
	ready_await();
	for (bad = 0, i = 0; i < KINDS; i++) {
		if (mprotect(p[i], 64 * PAGES * PAGE, PROT_READ) == -1)
			err(1, "mprotect");
		bad += pattern_check(p[i], PAGES * PAGE, (uint64_t)i + 1);
	}
	report("changed", bad);
	return 0;
}
