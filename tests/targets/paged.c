/*
 * Memory that the kernel moved to swap, and memory whose soft-dirty bits
 * (pagemap in proc(5)) are set for every other page.  It prints "lacks NAME"
 * for what the kernel does not have.  It reports how many pages came back from
 * swap, and how many soft-dirty bits changed.
 */
#include "target.h"

#include <sys/mman.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

enum { PAGES = 1024 };

#define SWAPPED		((uint64_t)1 << 62)	/* bits of a pagemap entry */
#define SOFT_DIRTY	((uint64_t)1 << 55)

static char *out, *noted;		/* PAGES each */

/*
 * Return the entries of PAGES pages in pagemap.
 */
static const uint64_t *
entries(const char *p)
{
	static uint64_t e[PAGES];
	int fd;

	fd = open("/proc/self/pagemap", O_RDONLY);
	if (fd == -1 || pread(fd, e, sizeof e, (off_t)((uintptr_t)p / PAGE *
	    sizeof *e)) != sizeof e)
		err(1, "pagemap");
	close(fd);
	return e;
}

static int
having(const char *p, uint64_t bit)
{
	const uint64_t *e;
	int i, n;

	for (e = entries(p), n = i = 0; i < PAGES; i++)
		n += (e[i] & bit) != 0;
	return n;
}

static char *
memory(const char *name, uint64_t seed)
{
	char *p;

	/* surrounded by other mappings, so that it never merges */
	p = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + PAGE, PAGES * PAGE, PROT_READ |
	    PROT_WRITE) == -1)
		err(1, "mmap");
	p += PAGE;
	(void)madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	region(name, p, PAGES * PAGE, seed);
	return p;
}

/*
 * Clear the soft-dirty bits, and write to every other page the value that it
 * has.
 */
static void
note(void)
{
	static const char forget[] = "4";
	volatile char *p;
	int fd, i;

	fd = open("/proc/self/clear_refs", O_WRONLY);
	if (fd != -1 && write(fd, forget, 1) != 1)
		warn("clear_refs");
	close(fd);
	for (i = 0; i < PAGES; i += 2) {
		p = noted + i * PAGE;
		*p = *p;
	}
	if (having(noted, SOFT_DIRTY) != PAGES / 2) {
		printf("lacks softdirty %d\n", having(noted, SOFT_DIRTY));
		noted = NULL;
	}
}

int
main(void)
{
	int i, n;

	noted = memory("noted", 1);
	out = memory("out", 2);
	note();
	/* pages in use by another processor are skipped at first */
	for (n = i = 0; n < PAGES && i < timeout(1000); i++) {
		if (madvise(out, PAGES * PAGE, MADV_PAGEOUT) == -1)
			break;
		if ((n = having(out, SWAPPED)) == 0)
			break;
		if (n < PAGES)
			usleep(1000);
	}
	if (n < PAGES)
		printf("lacks swap\n");
	ready_await();
	if (n == PAGES)
		report("broughtback", PAGES - having(out, SWAPPED));
	if (noted != NULL)
		report("softdirty", having(noted, SOFT_DIRTY) - PAGES / 2);
	report("changed", pattern_check(out, PAGES * PAGE, 2));
	return 0;
}
