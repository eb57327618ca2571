/*
 * 64 threads with known values in registers and on their stacks; some are
 * busy, the others wait in pause(2).
 */
#include "target.h"

#include <sys/syscall.h>

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 64, BUSY = 4 };

static atomic_long count[THREADS];
static atomic_int started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef __x86_64__
/*
 * Fill registers that a system call keeps, and stay.
 */
static void __attribute__((noreturn))
stay(uint64_t v, atomic_long *n, long call)
{
	__asm__ volatile(
	    "movq %0, %%r12\n\t"
	    "leaq 1(%0), %%r13\n\t"
	    "leaq 2(%0), %%r14\n\t"
	    "leaq 3(%0), %%r15\n\t"
	    "movq %%r12, %%xmm15\n\t"
	    "1: testq %2, %2\n\t"
	    "js 2f\n\t"
	    "movq %2, %%rax\n\t"
	    "syscall\n\t"
	    "cmpq $-4, %%rax\n\t"
	    "je 3f\n\t"
	    "2: lock incq (%1)\n\t"
	    "jmp 1b\n\t"
	    "3: movq $-1000000, (%1)\n\t"
	    "jmp 1b"
	    : : "b" (v), "D" (n), "S" (call)
	    : "rax", "rcx", "r11", "r12", "r13", "r14", "r15", "xmm15",
	    "memory");
	__builtin_unreachable();
}
#endif

static void *
run(void *arg)
{
	char name[16], stack[512];
	uint64_t i;

	i = (uint64_t)(uintptr_t)arg;
	pthread_mutex_lock(&lock);
	snprintf(name, sizeof name, "stack%ju", (uintmax_t)i);
	region(name, stack, sizeof stack, 100 + i);
#ifdef __x86_64__
	printf("regs %ld %#jx\n", syscall(SYS_gettid),
	    (uintmax_t)(i << 40 | 0x1234567));
#endif
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&started, 1);
#ifdef __x86_64__
	stay(i << 40 | 0x1234567, &count[i], i < BUSY ? -1 : SYS_pause);
#else
	for (;;)
		if (i < BUSY)
			count[i]++;
		else
			pause();
#endif
}

int
main(void)
{
	pthread_t t;
	long was[BUSY];
	uintptr_t i;
	int tries;
	long bad;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, run, (void *)i) != 0)
			err(1, "pthread_create");
	while (started < THREADS)
		usleep(1000);
	ready_await();
	/* the busy ones still are, the others never came back */
	for (i = 0; i < BUSY; i++)
		was[i] = count[i];
	for (bad = BUSY, tries = 0; tries < 10000 && bad > 0; tries++) {
		usleep(1000);
		for (bad = 0, i = 0; i < BUSY; i++)
			bad += count[i] == was[i];
	}
	report("idle", bad);
	for (bad = 0, i = BUSY; i < THREADS; i++)
		bad += count[i] != 0;
	report("returned", bad);
	return 0;
}
