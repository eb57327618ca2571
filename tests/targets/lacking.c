/*
 * Memory that fork(2) does not copy, in a process that would notice a child: it
 * handles SIGCHLD, and its waits must find no child.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif

enum { PAGES = 16 };

static volatile sig_atomic_t told;

static void
on_child(int sig)
{
	(void)sig;
	told++;
}

static char *
memory(const char *name, int flags, int advice, uint64_t seed)
{
	char *p;

	p = mmap(NULL, 4 * PAGES * PAGE, PROT_READ | PROT_WRITE,
	    flags | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	region(name, p + PAGE, PAGES * PAGE, seed);
	region(name, p + 30 * PAGE, PAGE, seed + 1);
	place("absent", name, p + 40 * PAGE, 20 * PAGE, "");
	if (advice != 0 && madvise(p, 4 * PAGES * PAGE, advice) == -1)
		err(1, "madvise");
	return p;
}

/*
 * One page that is wiped on fork, among many mappings of a page each, so that
 * snap examines several at once.
 */
static void
wiped_among(void)
{
	enum { MAPPINGS = 3000 };
	char *p;
	int i;

	p = mmap(NULL, MAPPINGS * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	region("among", p + 1000 * PAGE, PAGE, 9);
	for (i = 1; i < MAPPINGS; i += 2)
		if (mprotect(p + i * PAGE, PAGE, PROT_READ) == -1)
			err(1, "mprotect");
	if (madvise(p + 1000 * PAGE, PAGE, MADV_WIPEONFORK) == -1)
		err(1, "madvise");
}

/*
 * Guards in a mapping without other pages, which fork(2) does not copy; Linux
 * 6.13 and newer.
 */
static void
guards(void)
{
	char *p;

	p = mmap(NULL, 1024 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || madvise(p, 1024 * PAGE, MADV_DONTFORK) == -1)
		err(1, "mmap");
	if (madvise(p + 8 * PAGE, 4 * PAGE, MADV_GUARD_INSTALL) == 0)
		place("missing", "guards", p + 8 * PAGE, 4 * PAGE, "guard");
}

/*
 * One page at the end of a gigabyte that fork(2) does not copy.
 */
static void
last_of_many(const char *name, int advice, uint64_t seed)
{
	const size_t size = (size_t)1 << 30;
	char *p;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED || madvise(p, size, MADV_NOHUGEPAGE) == -1)
		err(1, "mmap");
	region(name, p + size - PAGE, PAGE, seed);
	if (madvise(p, size, advice) == -1)
		err(1, "madvise");
}

int
main(void)
{
	char *p[4];
	long bad, found;
	int i;

	if (signal(SIGCHLD, on_child) == SIG_ERR)
		err(1, "signal");
	p[0] = memory("dontfork", MAP_PRIVATE, MADV_DONTFORK, 1);
	p[1] = memory("wipeonfork", MAP_PRIVATE, MADV_WIPEONFORK, 3);
	p[2] = memory("shared", MAP_SHARED, 0, 5);
	p[3] = memory("both", MAP_SHARED, MADV_DONTFORK, 7);
	wiped_among();
	last_of_many("lastwiped", MADV_WIPEONFORK, 11);
	last_of_many("lastleft", MADV_DONTFORK, 12);
	guards();
	ready_await();
	for (bad = 0, i = 0; i < 4; i++)
		bad += pattern_check(p[i] + PAGE, PAGES * PAGE,
		    (uint64_t)i * 2 + 1);
	report("changed", bad);
	report("told", told);
	found = waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
	found += waitpid(-1, NULL, WNOHANG | __WALL) != -1 || errno != ECHILD;
	report("children", found);
	return 0;
}
