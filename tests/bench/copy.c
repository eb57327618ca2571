/*
 * The speed of copying memory: copy MEGABYTES [new] copies MEGABYTES with
 * memcpy(3), with a thread for each processor, and prints how many microseconds
 * that took; with new, the destination had no pages before.
 */
#include "bench.h"

#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256 };

struct part {
	pthread_t	 thread;
	char		*to;
	const char	*from;
	size_t		 len;
};

static void *
part_copy(void *arg)
{
	struct part *p = arg;

	memcpy(p->to, p->from, p->len);
	return NULL;
}

int
main(int argc, char *argv[])
{
	static struct part part[MOST];
	size_t i, n, len, cpus;
	char *from, *to;
	uint64_t start;

	len = argc > 1 ? (size_t)strtol(argv[1], NULL, 10) << 20 : 0;
	if (len == 0 || argc > 3)
		errx(2, "usage: copy megabytes [new]");
	from = memory_map(len, MAP_SHARED);
	to = memory_map(len, MAP_SHARED);
	memset(from, 1, len);
	if (argc == 2)
		memset(to, 2, len);
	cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	n = cpus < MOST ? cpus : MOST;
	start = now_us();
	for (i = 0; i < n; i++) {
		part[i].to = to + len / n * i;
		part[i].from = from + len / n * i;
		part[i].len = i + 1 < n ? len / n : len - len / n * i;
		if (pthread_create(&part[i].thread, NULL, part_copy,
		    &part[i]) != 0)
			errx(1, "cannot make a thread");
	}
	for (i = 0; i < n; i++)
		(void)pthread_join(part[i].thread, NULL);
	printf("%ju\n", (uintmax_t)(now_us() - start));
	return 0;
}
