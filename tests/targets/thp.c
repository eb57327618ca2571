/*
 * 68 MiB in transparent huge pages, or a line "lacks hugepages".  At each "w"
 * it writes to each small page of the first 64 MiB, frees one small page of
 * each huge page of the rest, and prints "written".
 */
#include "target.h"

#include <sys/mman.h>

enum { HUGE = 2 << 20, LEN = 64 << 20, ALL = LEN + 2 * HUGE };

/*
 * Return how many kilobytes of this process are in huge pages.
 */
static long
huge_kb(void)
{
	char line[256];
	long kb = 0;
	FILE *f;

	if ((f = fopen("/proc/self/smaps_rollup", "r")) == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		(void)sscanf(line, "AnonHugePages: %ld", &kb);
	fclose(f);
	return kb;
}

int
main(void)
{
	char c, *p;
	ssize_t n;
	int i;

	p = mmap(NULL, ALL + HUGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	p += HUGE - (uintptr_t)p % HUGE;
	(void)madvise(p, ALL, MADV_HUGEPAGE);
	region("huge", p, LEN, 1);
	memset(p + LEN, 1, ALL - LEN);
	if (huge_kb() < ALL / 1024)
		printf("lacks hugepages\n");
	ready();
	while ((n = read(STDIN_FILENO, &c, 1)) == 1 ? c == 'w' : n == -1 &&
	    errno == EINTR) {
		eintr += n == -1;
		for (i = 0; i < LEN; i += MIN_PAGE)
			*(volatile char *)(p + i) = p[i];
		for (; i < ALL; i += HUGE)
			(void)madvise(p + i, (size_t)PAGE, MADV_DONTNEED);
		printf("written\n");
		fflush(stdout);
	}
	report("eintr", eintr);
	report("changed", pattern_check(p, LEN, 1));
	return 0;
}
