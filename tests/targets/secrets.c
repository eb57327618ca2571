/*
 * Memory that a program excludes from dumps, private and shared, and other
 * memory.  Each has "MARK:" and a word in it, which are nowhere else but in the
 * memory of a child.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <stdbool.h>

enum { PAGES = 8 };

static volatile char one = 1;	/* or the compiler would compute marks */

static void
mark(char *p, const char *word)
{
	static const char hidden[] = "NBSL;";
	size_t i;

	for (i = 0; hidden[i] != '\0'; i++)
		p[i] = (char)(hidden[i] - one);
	memcpy(p + i, word, strlen(word) + 1);
}

static char *
memory(const char *word, int flags, bool dump)
{
	char *p;
	int i;

	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
	    flags | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || (!dump && madvise(p, PAGES * PAGE,
	    MADV_DONTDUMP) == -1))
		err(1, "mmap");
	for (i = 0; i < PAGES; i++)
		mark(p + i * PAGE + 100 + i, word);
	place("at", word, p, PAGES * PAGE, "");
	return p;
}

/*
 * A memfd, mapped privately and read-only.
 */
static void
sealed(void)
{
	char *p;
	int fd;

	fd = memfd_create("sealed", 0);
	if (fd == -1 || ftruncate(fd, PAGES * PAGE) == -1)
		err(1, "memfd_create");
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	mark(p + 100, "sealed");
	munmap(p, PAGES * PAGE);
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED || madvise(p, PAGES * PAGE, MADV_DONTDUMP) == -1)
		err(1, "mmap");
	(void)*(volatile char *)p;
}

int
main(void)
{
	static char *p[4];
	long bad;
	int i, fd[2];
	char c;

	p[0] = memory("private", MAP_PRIVATE, false);
	p[1] = memory("open", MAP_PRIVATE, true);
	p[2] = memory("shared", MAP_SHARED, false);
	p[3] = memory("address", MAP_SHARED, true);
	sealed();
	if (pipe(fd) == -1)
		err(1, "pipe");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		close(fd[1]);
		(void)!read(fd[0], &c, 1);
		_exit(0);
	}
	close(fd[0]);
	ready_await();
	for (bad = 0, i = 0; i < 4; i++)
		bad += p[i][100] != 'L' + one || p[i][(PAGES - 1) * PAGE + 99 +
		    PAGES] != 'L' + one;
	report("changed", bad);
	close(fd[1]);
	wait(NULL);
	return 0;
}
