/*
 * A process of one shape, to be measured: shape WHAT N FILE has N idle threads;
 * is N processes with a megabyte each, which the first one has forked; has N
 * mappings, every other one with a page; or has N megabytes of shared memory,
 * in which no two pages are equal.  It prints the process IDs, its own first,
 * and sleeps.  After SIGUSR2 it writes a line to FILE: how long fork(2) takes,
 * in microseconds.
 */
#include "bench.h"

#include <sys/prctl.h>

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, STACK = 65536, MB = 1 << 20 };

static void
on_asked(int sig)
{
	(void)sig;
}

static void *
rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void
threads(size_t n)
{
	pthread_attr_t attr;
	pthread_t t;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK);
	while (--n > 0)
		if (pthread_create(&t, &attr, rest, NULL) != 0)
			errx(1, "cannot make a thread");
}

static void
processes(size_t n)
{
	pid_t pid;
	char *p;

	if ((p = malloc(MB)) == NULL)
		err(1, NULL);
	memset(p, 1, MB);
	while (--n > 0) {
		if ((pid = fork()) == -1)
			err(1, "fork");
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			p[n % MB] = 2;
			(void)rest(NULL);
		}
		printf(" %d", pid);
	}
}

static void
mappings(size_t n)
{
	size_t i;
	char *p;

	p = memory_map(n * PAGE, MAP_PRIVATE);
	for (i = 0; i < n; i++) {
		if (i % 2 == 0)
			p[i * PAGE] = 1;
		else if (mprotect(p + i * PAGE, PAGE, PROT_READ) == -1)
			err(1, "mprotect");
	}
}

static void
shared(size_t n)
{
	size_t i;
	char *p;

	p = memory_map(n * MB, MAP_SHARED);
	for (i = 0; i < n * MB / PAGE; i++) {
		memset(p + i * PAGE, (int)i & 255, PAGE);
		memcpy(p + i * PAGE, &i, sizeof i);
	}
}

int
main(int argc, char *argv[])
{
	struct sigaction sa = { .sa_handler = on_asked };
	size_t n;
	int fd, i;

	n = argc == 4 ? (size_t)strtol(argv[2], NULL, 10) : 0;
	if (n == 0)
		errx(2, "usage: shape threads|processes|mappings|shared n "
		    "file");
	/* close inherited descriptors: a checkpoint would have them */
	for (i = 3; i < 1024; i++)
		(void)close(i);
	if ((fd = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600)) == -1)
		err(1, "%s", argv[3]);
	/* buffer all of it: children print nothing */
	(void)setvbuf(stdout, NULL, _IOFBF, MB);
	printf("%d", getpid());
	if (strcmp(argv[1], "threads") == 0)
		threads(n);
	else if (strcmp(argv[1], "processes") == 0)
		processes(n);
	else if (strcmp(argv[1], "mappings") == 0)
		mappings(n);
	else
		shared(n);
	(void)sigaction(SIGUSR2, &sa, NULL);
	printf("\n");
	(void)fflush(stdout);
	for (;;) {
		pause();
		dprintf(fd, "%ju\n", (uintmax_t)fork_us());
	}
}
