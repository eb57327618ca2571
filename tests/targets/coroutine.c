/*
 * The first thread waits on the small stack of a coroutine.  Another thread
 * reads the memory below that stack again and again, and counts how often it
 * was wrong.  The first thread's own stack was used to its end before.
 */
#include "target.h"

#include <sys/mman.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

enum { DATA = 65536, STACK = 2048, DEPTH = 1 << 20, SEED = 7 };

static char *data;		/* the coroutine's stack follows */
static atomic_bool over;
static atomic_long changed;
static ucontext_t on_stack, on_coroutine;

static void *
watch(void *unused)
{
	while (!over) {
		if (pattern_check(data, DATA, SEED) != 0)
			changed++;
		(void)usleep(1);
	}
	return unused;
}

static void
coroutine(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	while (poll(&in, 1, -1) == -1)
		eintr++;
}

/*
 * Use the stack far down.
 */
static char __attribute__((noinline))
stack_grow(int c)
{
	char deep[DEPTH];
	volatile char *p = deep;
	int i;

	for (i = 0; i < DEPTH; i++)
		p[i] = (char)c;
	return p[c];
}

/*
 * Write to all of the stack's mapping, to its end.
 */
static void
stack_use(void)
{
	char line[512];
	unsigned long start;
	FILE *f;

	(void)stack_grow(1);
	if ((f = fopen("/proc/self/maps", "r")) == NULL)
		err(1, "/proc/self/maps");
	while (fgets(line, sizeof line, f) != NULL)
		if (strstr(line, "[stack]") != NULL &&
		    sscanf(line, "%lx", &start) == 1)
			memset((void *)start, 1, DEPTH / 2);
	fclose(f);
}

int
main(void)
{
	pthread_t t;
	char *guard;

	guard = mmap(NULL, (size_t)(MAX_PAGE + DATA + STACK),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (guard == MAP_FAILED ||
	    mprotect(guard, MAX_PAGE, PROT_NONE) == -1)
		err(1, "mmap");
	data = guard + MAX_PAGE;
	pattern_fill(data, DATA, SEED);
	stack_use();
	(void)poll(NULL, 0, 0);	/* resolve poll now: it needs more stack */
	if (pthread_create(&t, NULL, watch, NULL) != 0)
		errx(1, "pthread_create");
	getcontext(&on_coroutine);
	on_coroutine.uc_stack.ss_sp = data + DATA;
	on_coroutine.uc_stack.ss_size = STACK;
	on_coroutine.uc_link = &on_stack;
	makecontext(&on_coroutine, coroutine, 0);
	ready();
	swapcontext(&on_stack, &on_coroutine);
	over = true;
	pthread_join(t, NULL);
	await();
	report("eintr", eintr);
	report("changed", changed);
	return 0;
}
