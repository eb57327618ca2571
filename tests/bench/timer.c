/*
 * A process that wakes each millisecond: timer MEGABYTES FILE.  It writes to a
 * page of its memory each time.  It prints its process ID.  After SIGUSR1 it
 * writes a line to FILE: how late it woke since the last request: the median,
 * the 99.9th percentile, and the worst, in microseconds.
 */
#include "bench.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, TICK = 1000000, MOST = 1 << 20 };

static uint32_t late[MOST];	/* by microseconds; the last: or more */
static uint64_t count, worst;
static volatile sig_atomic_t asked;

static void
on_asked(int sig)
{
	(void)sig;
	asked = 1;
}

/*
 * Return the delay in microseconds that one in n times exceeds.
 */
static uint64_t
late_but(uint64_t n)
{
	uint64_t i, above;

	for (above = count, i = 0; i < MOST; i++)
		if ((above -= late[i]) <= count / n)
			break;
	return i;
}

static void
late_tell(int fd)
{
	char line[80];
	int n;

	n = snprintf(line, sizeof line, "%ju %ju %ju\n",
	    (uintmax_t)late_but(2), (uintmax_t)late_but(1000),
	    (uintmax_t)worst);
	if (write(fd, line, (size_t)n) != n)
		err(1, "write");
	memset(late, 0, sizeof late);
	count = worst = 0;
	asked = 0;
}

int
main(int argc, char *argv[])
{
	struct sigaction sa = { .sa_handler = on_asked };
	uint64_t due, us, page;
	struct timespec t;
	size_t n;
	char *p;
	int fd;

	if (argc != 3 || (n = (size_t)strtol(argv[1], NULL, 10) << 20) == 0)
		errx(2, "usage: timer megabytes file");
	if ((fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600)) == -1)
		err(1, "%s", argv[2]);
	p = memory_map(n, MAP_PRIVATE);
	memset(p, 1, n);
	(void)sigaction(SIGUSR1, &sa, NULL);
	printf("%d\n", getpid());
	(void)fflush(stdout);
	for (page = 0, due = now_ns() + TICK;; page++) {
		t.tv_sec = (time_t)(due / 1000000000);
		t.tv_nsec = (long)(due % 1000000000);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t,
		    NULL) == EINTR)
			continue;
		us = (now_ns() - due) / 1000;
		late[us < MOST ? us : MOST - 1]++;
		count++;
		worst = us > worst ? us : worst;
		p[page * PAGE % n]++;
		if (asked)
			late_tell(fd);
		/* missed ticks count as one late tick */
		due += (us * 1000 / TICK + 1) * TICK;
	}
}
