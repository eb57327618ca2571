/*
 * Leaks the same at each byte of its standard input: chunks of two sizes,
 * others in the arena of a thread, a descriptor and a mapping.  Also frees
 * chunks, which go to fast bins, lists and thread caches.  Then it prints the
 * results of mallinfo2(3) and malloc_info(3):
 *
 *	mallinfo ARENA IN_USE FREE FAST_CHUNKS FREE_CHUNKS
 *	<malloc ...
 *	told N
 *
 * With the argument "damaged" it then writes past the end of a chunk; with
 * "brk" it also moves the break with sbrk(2).
 */
#include "target.h"

#include <sys/mman.h>

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>

/* leaked chunks do not fit into freed ones */
enum { SMALL = 1000, LARGE = 3000, OTHER = 520, KEPT = 40 };

static sem_t begin, done;
static void *volatile sink;

/*
 * Leak n chunks of this size.
 */
static void
leak(int n, size_t size)
{
	int i;

	for (i = 0; i < n; i++) {
		sink = malloc(size);
		memset(sink, 'x', size);
	}
}

/*
 * Free every other chunk, so that no free chunk has a free neighbor.
 */
static void
churn(void *kept[KEPT], size_t size)
{
	int i;

	for (i = 0; i < KEPT; i++)
		if (kept[i] == NULL)
			kept[i] = malloc(size);
	for (i = 0; i < KEPT; i += 2) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

static void *
thread(void *arg)
{
	void *kept[KEPT] = { NULL };

	for (;;) {
		while (sem_wait(&begin) == -1)
			continue;
		leak(50, OTHER);
		churn(kept, 48);
		sem_post(&done);
	}
	return arg;
}

/*
 * Print what the C library knows of its heaps; since glibc 2.33.
 */
static void
tell(int n)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
	struct mallinfo2 mi = mallinfo2();

	printf("mallinfo %zu %zu %zu %zu %zu\n", mi.arena, mi.uordblks,
	    mi.fordblks, mi.smblks, mi.ordblks);
	malloc_info(0, stdout);
#endif
	printf("told %d\n", n);
	fflush(stdout);
}

int
main(int argc, char *argv[])
{
	static void *small[KEPT], *large[KEPT];
	static char buf[16384];
	pthread_t t;
	uint64_t *p;
	int n;
	char c;

	setvbuf(stdout, buf, _IOFBF, sizeof buf);
	sem_init(&begin, 0, 0);
	sem_init(&done, 0, 0);
	if (pthread_create(&t, NULL, thread, NULL) != 0)
		errx(1, "pthread_create");
	p = malloc(512);
	ready();
	for (n = 1; read(STDIN_FILENO, &c, 1) == 1 && c != 'q'; n++) {
		if (argc > 1 && strcmp(argv[1], "brk") == 0) {
			if (sbrk(100000) == (void *)-1)
				err(1, "sbrk");
			leak(300, SMALL);	/* the heap grows after it */
		}
		leak(100, SMALL);
		leak(10, LARGE);
		churn(small, 32);
		churn(large, 200);
		if (open("/dev/null", O_RDONLY) == -1)
			err(1, "open");
		sink = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS, -1, 0);
		memset(sink, 1, 65536);
		sem_post(&begin);
		while (sem_wait(&done) == -1)
			continue;
		tell(n);
		if (argc > 1 && strcmp(argv[1], "damaged") == 0)
			p[65] = 0x4141414141414141;
	}
	return 0;
}
