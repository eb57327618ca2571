/*
 * A process and its COPIES children, which share memory copy-on-write; each
 * child has changed one page.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define REST	((PAGES - COPIES) * PAGE)

enum { COPIES = 4, PAGES = 512 };

int
main(void)
{
	char name[24], *p, *rest;
	int i, status, to[2], told[2];
	pid_t pid[COPIES];
	long bad;

	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || pipe(to) == -1 || pipe(told) == -1)
		err(1, "mmap");
	rest = p + COPIES * PAGE;
	region("first", p, COPIES * PAGE, 1);
	region("common", rest, REST, 2);
	for (i = 0; i < COPIES; i++) {
		fflush(stdout);
		if ((pid[i] = fork()) == -1)
			err(1, "fork");
		if (pid[i] != 0)
			continue;
		end_with_parent();
		close(to[1]);
		snprintf(name, sizeof name, "own%d", i);
		printf("of %d\n", getpid());
		region(name, p + i * PAGE, PAGE, 10 + (uint64_t)i);
		printf("region common %#jx %d 2\n",
		    (uintmax_t)(uintptr_t)rest, REST);
		fflush(stdout);
		close(told[1]);
		while (read(to[0], name, 1) == -1)
			eintr++;
		bad = pattern_check(p + i * PAGE, PAGE, 10 + (uint64_t)i) +
		    pattern_check(rest, REST, 2);
		_exit(eintr > 0 || bad > 0);
	}
	close(to[0]);
	/* wait until the children have printed */
	close(told[1]);
	if (read(told[0], name, 1) != 0)
		err(1, "children");
	ready();
	await();
	close(to[1]);
	for (bad = 0, i = 0; i < COPIES; i++)
		bad += waitpid(pid[i], &status, 0) != pid[i] || status != 0;
	report("eintr", eintr);
	report("children", bad);
	report("changed", pattern_check(p, COPIES * PAGE, 1) +
	    pattern_check(rest, REST, 2));
	return 0;
}
