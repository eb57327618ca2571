/*
 * A program that writes all the time: sweep MEGABYTES.  In each pass it writes
 * the number of the pass to each page, in order, so that at any instant all
 * pages have the same number, or the first ones have the next number.  Before
 * "ready" it prints
 *
 *	sweep ADDR LEN
 *
 * From the first "g" on, a thread reads the clock all the time.  At each "g" it
 * prints the longest time between two readings, in microseconds, and resets it:
 *
 *	gap MICROSECONDS PASSES
 */
#include "target.h"

#include <sys/mman.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct page {
	_Atomic uint64_t pass;
	uint64_t index;		/* makes pages differ */
};

static size_t npages;
static char *memory;
static atomic_ullong passes, gap;
static atomic_long wrong;
static atomic_bool over;

static struct page *
page_at(size_t i)
{
	return (struct page *)(void *)(memory + i * PAGE);
}

static void *
sweep(void *arg)
{
	uint64_t pass, was;
	size_t i;

	(void)arg;
	for (pass = 2; !over; pass++) {
		for (i = 0; i < npages; i++) {
			was = atomic_exchange(&page_at(i)->pass, pass);
			if (was != pass - 1 || page_at(i)->index != i)
				wrong++;
		}
		passes++;
	}
	return NULL;
}

static void *
look(void *arg)
{
	struct timespec t;
	uint64_t last, now;

	(void)arg;
	for (last = 0; !over; last = now) {
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		if (last != 0 && now - last > gap)
			gap = now - last;
	}
	return NULL;
}

int
main(int argc, char *argv[])
{
	pthread_t t[2];
	size_t i, n;
	char c;

	if (argc != 2)
		errx(2, "usage: sweep megabytes");
	npages = (size_t)strtoul(argv[1], NULL, 10) * (1 << 20) / PAGE;
	memory = mmap(NULL, npages * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(memory, npages * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < npages; i++) {
		page_at(i)->pass = 1;
		page_at(i)->index = i;
	}
	place("sweep", "", memory, npages * PAGE, "");
	if (pthread_create(&t[0], NULL, sweep, NULL) != 0)
		errx(1, "no thread");
	n = 1;
	ready();
	while (read(STDIN_FILENO, &c, 1) == 1 && c == 'g') {
		if (n == 1 && pthread_create(&t[n++], NULL, look, NULL) != 0)
			errx(1, "no thread");
		printf("gap %llu %llu\n", atomic_exchange(&gap, 0) / 1000,
		    passes);
		fflush(stdout);
	}
	over = true;
	while (n > 0)
		(void)pthread_join(t[--n], NULL);
	report("wrong", wrong);
	return 0;
}
