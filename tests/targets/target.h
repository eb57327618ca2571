/*
 * What the targets share.  A target prints lines of what it holds, then
 * "ready", and does its job until it reads a byte or the end of its
 * standard input.  Then it prints lines "report NAME NUMBER" of what it
 * noticed, all 0 where it noticed nothing, and exits.
 *
 *	region NAME ADDR LEN SEED	memory with the pattern of a seed
 *	zeros NAME ADDR LEN		memory that is there and all zero
 *	absent NAME ADDR LEN		never touched, or not to be taken
 *	missing NAME ADDR LEN REASON	there, but not to be had
 *	file NAME ADDR LEN SEED OFFSET	of a data file, unmodified; it has the
 *					pattern, of which this is at OFFSET
 *	object NAME ADDR LEN SEED	in shared memory, put there by another
 *	of PID				the lines behind it are of that process
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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	((int)sysconf(_SC_PAGESIZE))

enum { MIN_PAGE = 4096, MAX_PAGE = 65536 };	/* of any machine */

/*
 * Return how often to look for what takes a millisecond each time: n times, or
 * TIMEFACTOR of the environment as many on a machine that is slow.
 */
static inline int
timeout(int n)
{
	const char *s;

	s = getenv("TIMEFACTOR");
	return s == NULL ? n : n * (int)strtol(s, NULL, 10);
}

static long eintr;		/* of reads of the standard input */

/*
 * The word at index i of the pattern of a seed (SplitMix64).
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
 * How many words differ from the pattern.
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
 * Fill memory and say so.
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
 * How much address space a target takes of which nothing is used: a terabyte,
 * but a gigabyte where the kernel has no PAGEMAP_SCAN (before Linux 6.7), and
 * who looks for pages must read 2 GB of entries to see that there are none.
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
 * Children call this: they end with their parent, whatever ends it.
 */
static inline void
end_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/*
 * Wait to be asked.
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

static inline void
ready_await(void)
{
	ready();
	await();
	report("eintr", eintr);
}

#endif
