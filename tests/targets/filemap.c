/*
 * Mappings of a data file, given as argument, with the pattern of seed 1: a
 * private one, with some pages modified, one read, the others not touched; and
 * a shared one.
 */
#include "target.h"

#include <sys/mman.h>

#include <fcntl.h>

enum { FILEPAGES = 32 };

int
main(int argc, char *argv[])
{
	static char buf[FILEPAGES * MAX_PAGE];
	const size_t len = (size_t)(FILEPAGES * PAGE);
	char *p, *s;
	int fd, i;

	if (argc != 2)
		errx(2, "usage: filemap file");
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	pattern_fill(buf, len, 1);
	if (fd == -1 || write(fd, buf, len) != (ssize_t)len)
		err(1, "%s", argv[1]);
	/* else snap would replace file pages with references to it */
	explicit_bzero(buf, len);
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	s = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || s == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(p, len, MADV_RANDOM);
	(void)madvise(s, len, MADV_RANDOM);
	for (i = 0; i < FILEPAGES; i++)
		if (i % 4 == 0)
			region("modified", p + i * PAGE, PAGE, 50 +
			    (uint64_t)i);
		else
			printf("file private %#jx %d 1 %d\n",
			    (uintmax_t)(uintptr_t)p + i * PAGE, PAGE, i *
			    PAGE);
	(void)*(volatile char *)(p + PAGE);
	(void)*(volatile char *)(s + PAGE);
	printf("file shared %#jx %zu 1 0\n", (uintmax_t)(uintptr_t)s,
	    len);
	ready_await();
	return 0;
}
