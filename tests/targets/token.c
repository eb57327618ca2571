/*
 * Processes that pass a token through shared memory: token N.  The holder
 * counts, first in its own memory, then in the shared memory, and passes the
 * token on.  At any instant one process holds it; those before it have counted
 * once more than those after it; and its own count is at most one more than its
 * shared one.  Lines before "ready":
 *
 *	shared ADDR		the holder, then the count of each: words
 *	member I PID ADDR	the word in its own memory
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <sched.h>
#include <stdatomic.h>

enum { MEMBERS = 16 };

static struct shared {
	_Atomic uint64_t holder;
	_Atomic uint64_t count[MEMBERS];
	_Atomic uint64_t over;
	_Atomic uint64_t wrong;
} *shared;

static _Atomic uint64_t mine[MAX_PAGE / 8]
    __attribute__((aligned(MAX_PAGE)));

static void
member(uint64_t i, uint64_t n)
{
	while (!shared->over) {
		if (shared->holder != i) {
			sched_yield();
			continue;
		}
		if (shared->count[i] != mine[0])
			shared->wrong++;
		mine[0]++;
		shared->count[i] = mine[0];
		shared->holder = (i + 1) % n;
	}
}

int
main(int argc, char *argv[])
{
	pid_t pid[MEMBERS] = { 0 };
	uint64_t n, i;

	n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (n < 2 || n > MEMBERS)
		errx(2, "usage: token n");
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	printf("shared %p\n", (void *)shared);
	shared->holder = n;
	for (i = 0; i < n; i++) {
		fflush(stdout);
		if ((pid[i] = fork()) == -1)
			err(1, "fork");
		if (pid[i] == 0) {
			end_with_parent();
			member(i, n);
			_exit(0);
		}
		printf("member %ju %d %#jx\n", (uintmax_t)i, pid[i],
		    (uintmax_t)(uintptr_t)mine);
	}
	shared->holder = 0;
	ready();
	await();
	report("still", shared->count[0] == 0);
	shared->over = 1;
	for (i = 0; i < n; i++)
		(void)waitpid(pid[i], NULL, 0);
	report("wrong", (long)shared->wrong);
	return 0;
}
