/*
 * Pages of all kinds: pages FILE COMMON.  It forks a child with which it shares
 * COMMON pages, then maps the others, and prints the size of each kind in a
 * mapping:
 *
 *	child PID
 *	expect NAME ADDR RSS SHARED ZERO GUARD THP	in kilobytes
 *
 * For each byte that it reads it touches WINDOW pages and prints "touched",
 * until it reads q.
 */
#include "target.h"

#include <sys/mman.h>

#include <fcntl.h>

#define KB	(PAGE / 1024)

enum {
	HUGE = 2 << 20,
	SPARSE = 2400,
	WINDOW = 1000,
	ADVISE_GUARD = 102	/* MADV_GUARD_INSTALL, Linux 6.13 */
};

/*
 * Map memory that does not merge with other mappings.
 */
static char *
new(size_t n, size_t align, int flags, int fd)
{
	char *p;

	p = mmap(NULL, n + 2 * align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	p += align - (uintptr_t)p % align;
	if (mmap(p, n, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) !=
	    p)
		err(1, "mmap");
	return p;
}

/*
 * Map small pages, even if transparent huge pages are the default
 * (/sys/kernel/mm/transparent_hugepage/enabled).
 */
static char *
anon(size_t pages)
{
	char *p;

	p = new(pages * PAGE, PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	(void)madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static void
touch(char *p, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		*(volatile char *)(p + i * PAGE) = (char)(i + 1);
}

static int
look(const char *p, size_t pages)
{
	size_t i;
	int sum;

	for (i = 0, sum = 0; i < pages; i++)
		sum += *(const volatile char *)(p + i * PAGE);
	return sum;
}

static void
expect(const char *name, const void *p, int rss, int shared, int zero,
    int guard, int thp)
{
	printf("expect %s %jx %d %d %d %d %d\n", name,
	    (uintmax_t)(uintptr_t)p, rss * KB, shared * KB, zero * KB,
	    guard * KB, thp * KB);
}

static void
huge(void)
{
	char *p;

	p = new(HUGE, HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	(void)madvise(p, HUGE, MADV_HUGEPAGE);
	*p = 1;
	place("huge", "written", p, HUGE, "");
	p = new(HUGE, HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	(void)madvise(p, HUGE, MADV_HUGEPAGE);
	(void)look(p, 1);
	place("huge", "read", p, HUGE, "");
	p = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p != MAP_FAILED) {
		*p = 1;
		place("huge", "reserved", p, HUGE, "");
	}
}

static void
small(const char *path)
{
	char *p;
	int fd, i;

	p = anon(64);
	touch(p, 50);
	expect("anon", p, 50, 0, 0, 0, 0);
	p = anon(64);
	(void)look(p, 32);
	touch(p, 2);
	expect("zero", p, 2, 0, 30, 0, 0);
	p = anon(64);
	touch(p, 8);
	if (madvise(p + 16 * PAGE, 5 * PAGE, ADVISE_GUARD) == 0)
		expect("guard", p, 8, 0, 0, 5, 0);
	p = new(64 * PAGE, PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
	touch(p, 40);
	expect("shm", p, 40, 0, 0, 0, 0);
	if ((fd = open(path, O_RDWR)) == -1)
		err(1, "%s", path);
	p = new(16 * PAGE, PAGE, MAP_PRIVATE, fd);
	(void)look(p, 16);
	touch(p, 3);
	/* 13 of them are also in the next mapping */
	expect("file", p, 16, 13, 0, 0, 0);
	p = new(16 * PAGE, PAGE, MAP_SHARED, fd);
	(void)look(p, 16);
	expect("again", p, 16, 13, 0, 0, 0);
	p = anon(SPARSE);
	for (i = 0; i < SPARSE; i += 2)
		touch(p + i * PAGE, 1);
	expect("sparse", p, SPARSE / 2, 0, 0, 0, 0);
	p = anon(SPARSE);
	for (i = 0; i < SPARSE; i += 2)
		(void)look(p + i * PAGE, 1);
	expect("sparse-zero", p, 0, 0, SPARSE / 2, 0, 0);
	/* an empty mapping between others */
	(void)new(tera(), PAGE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1);
}

/*
 * Fork a child that lacks parts of its parent's three huge pages: it writes to
 * the first page of one, unmaps half of another, and a page of the last.
 */
static pid_t
forked(void)
{
	char c, *p;
	pid_t pid;
	int fd[2];

	p = new(3 * HUGE, HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	(void)madvise(p, 3 * HUGE, MADV_HUGEPAGE);
	touch(p, 3 * HUGE / PAGE);
	if (pipe(fd) == -1 || (pid = fork()) == -1)
		err(1, "fork");
	if (pid > 0) {
		if (close(fd[1]) == -1 || read(fd[0], &c, 1) != 1 ||
		    close(fd[0]) == -1)
			errx(1, "the child failed");
		return pid;
	}
	end_with_parent();
	*p = 2;
	if (munmap(p + HUGE, HUGE / 2) == -1 ||
	    munmap(p + 3 * HUGE - PAGE, PAGE) == -1 ||
	    write(fd[1], "", 1) != 1)
		err(1, "child");
	for (;;)
		pause();
}

int
main(int argc, char *argv[])
{
	char c, *p, *common;
	size_t n;
	pid_t pid;

	if (argc != 3)
		errx(1, "usage: pages file common");
	n = strtoul(argv[2], NULL, 10);
	common = anon(n + 1);
	pattern_fill(common, n * PAGE, 7);
	pid = forked();
	printf("child %d\n", pid);
	expect("common", common, (int)n, (int)n, 0, 0, 0);
	small(argv[1]);
	huge();
	p = anon(2 * WINDOW);
	touch(p, 2 * WINDOW);
	/* flush the TLB entries of these pages */
	if (mprotect(p, 2 * WINDOW * PAGE, PROT_READ) == -1 ||
	    mprotect(p, 2 * WINDOW * PAGE, PROT_READ | PROT_WRITE) == -1)
		err(1, "mprotect");
	place("window", "half", p, 2 * WINDOW * PAGE, "");
	ready();
	while (read(STDIN_FILENO, &c, 1) == 1 && c != 'q') {
		(void)look(p, WINDOW);
		puts("touched");
		fflush(stdout);
	}
	return 0;
}
