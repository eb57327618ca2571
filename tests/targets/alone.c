/*
 * Memory that a process shares with its child, and memory that only it has: it
 * wrote to the pages after the fork, the other child has ended, or it mapped
 * them later.  Small pages and, if available, huge ones; otherwise it prints
 * "lacks hugepages".
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <stdbool.h>

enum { LEN = 1 << 20, HUGE = 2 << 20 };

static char *
memory(size_t len, int flags)
{
	char *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1,
	    0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	if (len == LEN)
		(void)madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

/*
 * Return memory for a huge page.
 */
static char *
huge(void)
{
	uintptr_t p;

	p = (uintptr_t)memory(2 * HUGE, MAP_PRIVATE);
	p = (p + HUGE - 1) / HUGE * HUGE;
	(void)madvise((void *)p, HUGE, MADV_HUGEPAGE);
	return (char *)p;
}

static pid_t
child(const int to[2])
{
	pid_t pid;
	char c;

	fflush(stdout);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid != 0)
		return pid;
	end_with_parent();
	close(to[1]);
	while (read(to[0], &c, 1) == -1)
		eintr++;
	_exit(eintr > 0);
}

static bool
has_huge(void)
{
	char line[256];
	long kb = 0;
	FILE *f;

	if ((f = fopen("/proc/self/smaps", "r")) == NULL)
		return false;
	while (kb == 0 && fgets(line, sizeof line, f) != NULL)
		(void)sscanf(line, "AnonHugePages: %ld", &kb);
	fclose(f);
	return kb > 0;
}

int
main(void)
{
	char *mixed;
	int i, status, to[2];
	pid_t pid, gone;

	if (pipe(to) == -1)
		err(1, "pipe");
	region("shared", memory(LEN, MAP_PRIVATE), LEN, 1);
	region("hugeshared", huge(), HUGE, 2);
	region("mixed", mixed = memory(LEN, MAP_PRIVATE), LEN, 3);
	region("mapped", memory(LEN, MAP_SHARED), LEN, 4);
	pid = child(to);
	close(to[0]);
	/* copy every other 128 KB */
	for (i = 0; i < LEN; i += PAGE)
		if (i / (128 * 1024) % 2 == 0)
			*(volatile char *)(mixed + i) = mixed[i];
	region("left", memory(LEN, MAP_PRIVATE), LEN, 5);
	region("hugeleft", huge(), HUGE, 6);
	fflush(stdout);
	if ((gone = fork()) == 0)
		_exit(0);
	if (waitpid(gone, &status, 0) != gone)
		err(1, "child");
	region("own", memory(LEN, MAP_PRIVATE), LEN, 7);
	region("hugeown", huge(), HUGE, 8);
	if (!has_huge())
		printf("lacks hugepages\n");
	printf("child %d\n", pid);
	ready_await();
	close(to[1]);
	report("lost", waitpid(pid, &status, 0) != pid || status != 0);
	return 0;
}
