/*
 * 64 threads with known values in registers and on their stacks.  Two of them
 * count, and sleep most of the time, to leave the processors to others; with an
 * argument, they do not sleep.  The other threads wait in pause(2).
 */
#include "target.h"

#include <sys/syscall.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 64, BUSY = 2 };

/* busy threads sleep when these bits of their count are 0 */
static long rests = 0x3fff;
static const struct timespec nap = { 0, 5000000 };

static atomic_long count[THREADS];
static atomic_int started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef __x86_64__
/*
 * Fill registers that a system call preserves; then make the call for ever, or
 * count and sleep if call is negative.
 */
static void __attribute__((noreturn))
stay(uint64_t v, atomic_long *n, long call)
{
	register atomic_long *r8 __asm__("r8") = n;
	register long r9 __asm__("r9") = call, r10 __asm__("r10") = rests;

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
	    "lock incq (%1)\n\t"
	    "jmp 1b\n\t"
	    "2: lock incq (%1)\n\t"
	    "testq %3, (%1)\n\t"
	    "jnz 2b\n\t"
	    "movq %6, %%rax\n\t"
	    "syscall\n\t"
	    "testq %%rax, %%rax\n\t"
	    "jz 2b\n\t"
	    "3: movq $-1000000, (%1)\n\t"
	    "jmp 1b"
	    : : "b" (v), "r" (r8), "r" (r9), "r" (r10), "D" (&nap), "S" (0L),
	    "i" (SYS_nanosleep)
	    : "rax", "rcx", "r11", "r12", "r13", "r14", "r15", "xmm15",
	    "memory");
	__builtin_unreachable();
}
#elif defined __aarch64__
/*
 * Fill registers that a system call preserves; then make the call for ever, or
 * count and sleep if call is negative.
 */
static void __attribute__((noreturn))
stay(uint64_t v, atomic_long *n, long call)
{
	__asm__ volatile(
	    "mov x19, %0\n\t"
	    "add x20, %0, #1\n\t"
	    "add x21, %0, #2\n\t"
	    "add x22, %0, #3\n\t"
	    "add x23, %0, #4\n\t"
	    "fmov d15, x19\n\t"
	    "1: tbnz %2, #63, 2f\n\t"
	    "mov x8, %2\n\t"
	    "mov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\t"
	    "mov x3, #0\n\tmov x4, #8\n\t"
	    "svc #0\n\t"
	    "cmn x0, #4\n\t"
	    "b.eq 3f\n\t"
	    "ldr x0, [%1]\n\tadd x0, x0, #1\n\tstr x0, [%1]\n\t"
	    "b 1b\n\t"
	    "2: ldr x0, [%1]\n\tadd x0, x0, #1\n\tstr x0, [%1]\n\t"
	    "tst x0, %3\n\tb.ne 2b\n\t"
	    "mov x8, %5\n\tmov x0, %4\n\tmov x1, #0\n\t"
	    "svc #0\n\t"
	    "cbz x0, 2b\n\t"
	    "3: movn x0, #0xf, lsl #16\n\tstr x0, [%1]\n\t"
	    "b 1b"
	    : : "r" (v), "r" (n), "r" (call), "r" (rests), "r" (&nap),
	    "i" (SYS_nanosleep)
	    : "x0", "x1", "x2", "x3", "x4", "x8", "x19", "x20", "x21", "x22",
	    "x23", "d15", "cc", "memory");
	__builtin_unreachable();
}

#define SYS_pause SYS_ppoll	/* waits for ever without descriptors */
#endif

/* machines with stay() */
#if defined __x86_64__ || defined __aarch64__
#define STAYS 1
#else
#define STAYS 0
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
#if STAYS
	printf("regs %ld %#jx\n", syscall(SYS_gettid),
	    (uintmax_t)(i << 40 | 0x1234567));
#endif
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&started, 1);
#if STAYS
	stay(i << 40 | 0x1234567, &count[i], i < BUSY ? -1 : SYS_pause);
#else
	for (;;)
		if (i >= BUSY)
			pause();
		else if ((++count[i] & rests) == 0)
			(void)nanosleep(&nap, NULL);
#endif
}

int
main(int argc, char *argv[])
{
	pthread_t t;
	long was[BUSY];
	uintptr_t i;
	int tries;
	long bad;

	(void)argv;
	if (argc > 1)
		rests = -1;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, run, (void *)i) != 0)
			err(1, "pthread_create");
	while (started < THREADS)
		usleep(1000);
	ready_await();
	/* busy threads still count, and no call was interrupted */
	for (i = 0; i < BUSY; i++)
		was[i] = count[i];
	for (bad = BUSY, tries = 0; tries < timeout(10000) && bad > 0;
	    tries++) {
		usleep(1000);
		for (bad = 0, i = 0; i < BUSY; i++)
			bad += count[i] == was[i];
	}
	report("idle", bad);
	for (bad = 0, i = 0; i < THREADS; i++)
		bad += i < BUSY ? count[i] < 0 : count[i] != 0;
	report("returned", bad);
	return 0;
}
