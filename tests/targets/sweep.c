/*
 * A program that writes all the time: sweep MEGABYTES.  In each pass it writes
 * the number of the pass to each page, in order, so that at any instant all
 * pages have the same number, or the first ones have the next number.  Before
 * "ready" it prints
 *
 *	sweep ADDR LEN
 */
#include "target.h"

#include <sys/mman.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct page {
	_Atomic uint64_t pass;
	uint64_t index;		/* makes pages differ */
};

static size_t npages;
static char *memory;
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
	}
	return NULL;
}

int
main(int argc, char *argv[])
{
	pthread_t t;
	size_t i;

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
	if (pthread_create(&t, NULL, sweep, NULL) != 0)
		errx(1, "no thread");
	ready_await();
	over = true;
	(void)pthread_join(t, NULL);
	report("wrong", wrong);
	return 0;
}
