/*
 * Functions for the programs of the bench: the clock, memory, and fork(2).
 */
#ifndef BENCH_H
#define BENCH_H

#include <sys/mman.h>
#include <sys/wait.h>

#include <err.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t
now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t
now_us(void)
{
	return now_ns() / 1000;
}

/*
 * Return n bytes of new memory that can be read and written: MAP_PRIVATE or
 * MAP_SHARED, with pages of 4 KiB: the harder case.
 */
static inline char *
memory_map(size_t n, int flags)
{
	char *p;

	p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1,
	    0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(p, n, MADV_NOHUGEPAGE);
	return p;
}

/*
 * Return how long fork(2) takes in this process, in microseconds.
 */
static inline uint64_t
fork_us(void)
{
	uint64_t start, end;
	pid_t pid;

	start = now_us();
	if ((pid = fork()) == 0)
		_exit(0);
	end = now_us();
	if (pid == -1 || waitpid(pid, NULL, 0) == -1)
		err(1, "fork");
	return end - start;
}

#endif
