/*
 * A process that reads the clock all the time: pause MEGABYTES FILE.  Its
 * memory is present, and no two pages are equal.  It prints its process ID.
 * After SIGUSR1 it writes to FILE the longest time between two readings since
 * the last request, in microseconds; after SIGUSR2, how long fork(2) takes.
 */
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static volatile sig_atomic_t asked;

static void
on_asked(int sig)
{
	asked = sig;
}

static void
memory_make(size_t n)
{
	uint64_t i;
	char *p;

	p = memory_map(n, MAP_PRIVATE);
	for (i = 0; i < n / PAGE; i++) {
		memset(p + i * PAGE, (int)i & 255, PAGE);
		memcpy(p + i * PAGE, &i, sizeof i);
	}
}

int
main(int argc, char *argv[])
{
	struct sigaction sa = { .sa_handler = on_asked };
	uint64_t last, now, gap;
	char line[32];
	int fd, i, n;

	if (argc != 3)
		errx(2, "usage: pause megabytes file");
	/* close inherited descriptors: a checkpoint would have them */
	for (i = 3; i < 1024; i++)
		(void)close(i);
	if ((fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600)) == -1)
		err(1, "%s", argv[2]);
	memory_make((size_t)strtol(argv[1], NULL, 10) << 20);
	(void)sigaction(SIGUSR1, &sa, NULL);
	(void)sigaction(SIGUSR2, &sa, NULL);
	printf("%d\n", getpid());
	fflush(stdout);
	for (gap = 0, last = now_us();; last = now) {
		now = now_us();
		if (now - last > gap)
			gap = now - last;
		if (!asked)
			continue;
		if (asked == SIGUSR2)
			gap = fork_us();
		n = snprintf(line, sizeof line, "%ju\n", (uintmax_t)gap);
		if (write(fd, line, (size_t)n) != n)
			return 1;
		asked = 0;
		gap = 0;
		now = now_us();
	}
}
