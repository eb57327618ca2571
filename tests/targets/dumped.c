/*
 * Mappings of a data file, given as argument, with the pattern of seed 1.  No
 * page is present.  coredump_filter (core(5)) and, for one of them,
 * MADV_DONTDUMP decide which are in a core.
 */
#include "target.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <stdbool.h>

enum { FILEPAGES = 8, APART = 2 * FILEPAGES };

static const struct {
	const char	*name;
	int		 prot;
	int		 flags;
	bool		 dontdump;
} mapping[] = {
	{ "private", PROT_READ | PROT_WRITE, MAP_PRIVATE, false },
	{ "shared", PROT_READ | PROT_WRITE, MAP_SHARED, false },
	{ "readonly", PROT_READ, MAP_SHARED, false },
	{ "dontdump", PROT_READ, MAP_PRIVATE, true },
};

enum { MAPPINGS = sizeof mapping / sizeof *mapping };

int
main(int argc, char *argv[])
{
	static char buf[FILEPAGES * MAX_PAGE];
	const size_t len = (size_t)(FILEPAGES * PAGE);
	char *room, *p;
	int fd, i;

	if (argc != 2)
		errx(2, "usage: dumped file");
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	pattern_fill(buf, len, 1);
	if (fd == -1 || write(fd, buf, len) != (ssize_t)len)
		err(1, "%s", argv[1]);
	explicit_bzero(buf, len);
	room = mmap(NULL, MAPPINGS * APART * PAGE, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < MAPPINGS; i++) {
		p = mmap(room + i * APART * PAGE, len, mapping[i].prot,
		    mapping[i].flags | MAP_FIXED, fd, 0);
		if (p == MAP_FAILED || (mapping[i].dontdump && madvise(p,
		    len, MADV_DONTDUMP) == -1))
			err(1, "%s", mapping[i].name);
		printf("file %s %#jx %zu 1 0\n", mapping[i].name,
		    (uintmax_t)(uintptr_t)p, len);
	}
	ready_await();
	return 0;
}
