/*
 * Functions for all targets.  A target prints lines about its memory, then
 * "ready", and works until it reads a byte or the end of its standard input.
 * Then it prints lines "report NAME NUMBER", where NUMBER is 0 if nothing is
 * wrong, and exits.
 *
 *	region NAME ADDR LEN SEED	memory with the pattern of a seed
 *	zeros NAME ADDR LEN		memory that is present and all zero
 *	absent NAME ADDR LEN		not touched, or not to be taken
 *	missing NAME ADDR LEN REASON	present, but cannot be read
 *	file NAME ADDR LEN SEED OFFSET	unmodified, of a data file with the
 *					pattern, from OFFSET on
 *	object NAME ADDR LEN SEED	shared memory that another one wrote
 *	of PID				the following lines are of that process
 */
#ifndef TARGET_H
#define TARGET_H

#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	((int)sysconf(_SC_PAGESIZE))

enum { MIN_PAGE = 4096, MAX_PAGE = 65536 };	/* of all machines */

/*
 * Return how often to poll something every millisecond: n times, multiplied by
 * TIMEFACTOR of the environment.
 */
static inline int
timeout(int n)
{
	const char *s;

	s = getenv("TIMEFACTOR");
	return s == NULL ? n : n * (int)strtol(s, NULL, 10);
}

static long eintr;		/* interrupted reads of standard input */

/*
 * Return word i of the pattern of a seed (SplitMix64).
 */
static inline uint64_t
pattern_word(uint64_t seed, uint64_t i)
{
	uint64_t z;

	z = (seed << 32) + (i + 1) * 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline void
pattern_fill(void *p, size_t len, uint64_t seed)
{
	uint64_t w;
	size_t i;

	for (i = 0; i < len / 8; i++) {
		w = pattern_word(seed, i);
		memcpy((char *)p + i * 8, &w, 8);
	}
}

/*
 * Return how many words differ from the pattern.
 */
static inline long
pattern_check(const void *p, size_t len, uint64_t seed)
{
	uint64_t w;
	size_t i;
	long bad;

	for (bad = 0, i = 0; i < len / 8; i++) {
		memcpy(&w, (const char *)p + i * 8, 8);
		bad += w != pattern_word(seed, i);
	}
	return bad;
}

/*
 * Fill memory with a pattern, and print the line.
 */
static inline void
region(const char *name, void *p, size_t len, uint64_t seed)
{
	pattern_fill(p, len, seed);
	printf("region %s %#jx %zu %ju\n", name, (uintmax_t)(uintptr_t)p, len,
	    (uintmax_t)seed);
}

static inline void
place(const char *what, const char *name, const void *p, size_t len,
    const char *reason)
{
	printf("%s %s %#jx %zu%s%s\n", what, name, (uintmax_t)(uintptr_t)p,
	    len, *reason == '\0' ? "" : " ", reason);
}

/*
 * Return how much unused address space a target reserves: a terabyte, or a
 * gigabyte if the kernel has no PAGEMAP_SCAN (before Linux 6.7), where finding
 * the pages of a terabyte takes reading 2 GB of entries.
 */
static inline size_t
tera(void)
{
	int fd, known;

	fd = open("/proc/self/pagemap", O_RDONLY);
	known = fd != -1 && (ioctl(fd, 0xc0606610, NULL) != -1 ||
	    errno != ENOTTY);
	close(fd);
	return (size_t)1 << (known ? 40 : 30);
}

static inline void
ready(void)
{
	puts("ready");
	fflush(stdout);
}

/*
 * Called by children: they end with their parent, however that ends.
 */
static inline void
end_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/*
 * Wait for a byte or the end of standard input.
 */
static inline void
await(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == -1 && errno == EINTR)
		eintr++;
}

static inline void
report(const char *name, long n)
{
	printf("report %s %ld\n", name, n);
	fflush(stdout);
}

/*
 * Return true if the calling process is traced.
 */
static inline bool
is_traced(void)
{
	char line[128];
	int tracer;
	FILE *f;

	if ((f = fopen("/proc/self/status", "r")) == NULL)
		err(1, "status");
	for (tracer = 0; fgets(line, sizeof line, f) != NULL;)
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	fclose(f);
	return tracer != 0;
}

static inline void
ready_await(void)
{
	ready();
	await();
	report("eintr", eintr);
}

#endif
