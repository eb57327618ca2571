/*
 * A program that counts in memory that it checks: counter LOG [THREADS].
 * The threads share out 64 MiB of chunks, each with the pattern of a seed.  In
 * each round a thread checks a quarter of its chunks and gives one of them a
 * new seed, so that a page of an earlier round is wrong.
 */
#include "apart.h"

#include <sys/mman.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
	BYTES = 64 << 20,
	CHUNK = 64 << 10,
	CHUNKS = BYTES / CHUNK,
	THREADS = 16
};

struct part {
	unsigned int first;	/* chunks */
	unsigned int n;
	char name[16];
};

/* not static: debuggers read them */
char motto[16];
uint64_t seeds[CHUNKS];
char *memory;
atomic_uint begun;
static __thread uint64_t count;

static long
part_check(const struct part *p)
{
	unsigned int i;
	long wrong;

	for (wrong = 0, i = (unsigned int)count % 4; i < p->n; i += 4)
		wrong += pattern_check(memory +
		    (size_t)(p->first + i) * CHUNK, CHUNK,
		    seeds[p->first + i]);
	return wrong;
}

static void
chunk_fill(unsigned int i, uint64_t seed)
{
	seeds[i] = seed;
	pattern_fill(memory + (size_t)i * CHUNK, CHUNK, seed);
}

static void *
run(void *arg)
{
	struct part *p = arg;
	unsigned int i;

	for (i = p->first; i < p->first + p->n; i++)
		chunk_fill(i, i + 1);
	begun++;
	for (;;) {
		tick();
		count++;
		chunk_fill(p->first + (unsigned int)(count % p->n),
		    count + CHUNKS);
		tell(p->name, count, part_check(p));
	}
	return NULL;
}

int
main(int argc, char *argv[])
{
	static struct part part[THREADS];
	unsigned int i, n;
	pthread_t t;

	if (argc != 2 && argc != 3)
		errx(2, "usage: counter log [threads]");
	n = argc == 3 ? (unsigned int)strtoul(argv[2], NULL, 10) : 1;
	if (n == 0 || n > THREADS)
		errx(2, "from 1 to %d threads", THREADS);
	apart(argv[1]);
	snprintf(motto, sizeof motto, "%u and counting", n);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	for (i = 0; i < n; i++) {
		part[i].first = CHUNKS / n * i;
		part[i].n = CHUNKS / n;
		snprintf(part[i].name, sizeof part[i].name, "%u", i);
	}
	for (i = 1; i < n; i++)
		if (pthread_create(&t, NULL, run, &part[i]) != 0)
			return 1;
	run(&part[0]);
	return 0;
}
