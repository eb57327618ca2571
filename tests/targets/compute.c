/*
 * Threads that compute with all their registers and check them, and threads
 * that wait in system calls that must not return.  The first thread computes,
 * or waits if there is an argument.  Those that compute sleep most of the time,
 * to leave the processors to others.
 */
#include "target.h"
#include "spin.h"

#include <sys/syscall.h>

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { SPINS = 300000, NAP_US = 1000 };

static atomic_long wrong, returned, rounds;
static atomic_bool quit;
static int quiet[2];

static void *
compute(void *arg)
{
	(void)arg;
	while (!quit) {
		wrong += spin(SPINS);
		returned += usleep(NAP_US) == -1;
		rounds++;
	}
	return NULL;
}

/*
 * Make the call like the C library, with its number as a constant in the code.
 */
static void
futex_wait(int *word, const struct timespec *t)
{
#ifdef __x86_64__
	register const struct timespec *r10 __asm__("r10") = t;
	long rc;

	__asm__ volatile("movl %[nr], %%eax\n\tsyscall" : "=a" (rc)
	    : [nr] "i" (SYS_futex), "D" (word), "S" (FUTEX_WAIT_PRIVATE),
	    "d" (0), "r" (r10) : "rcx", "r11", "memory");
#elif defined __aarch64__
	register long x0 __asm__("x0") = (long)word;
	register long x1 __asm__("x1") = FUTEX_WAIT_PRIVATE;
	register long x2 __asm__("x2") = 0;
	register const struct timespec *x3 __asm__("x3") = t;

	__asm__ volatile("mov x8, %[nr]\n\tsvc #0" : "+r" (x0)
	    : [nr] "i" (SYS_futex), "r" (x1), "r" (x2), "r" (x3)
	    : "x8", "memory", "cc");
#else
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, t, NULL, 0);
#endif
}

static void *
wait_for(void *arg)
{
	static int word;
	struct timespec t = { 1000, 0 };
	struct pollfd p = { .fd = quiet[0], .events = POLLIN };
	sigset_t set;
	char c;

	switch ((uintptr_t)arg) {
	case 0:
		(void)!read(quiet[0], &c, 1);
		break;
	case 1:
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		break;
	case 2:
		poll(&p, 1, 1000000);
		break;
	case 3:
		futex_wait(&word, &t);
		break;
	case 4:
		sigfillset(&set);
		sigsuspend(&set);
		break;
	}
	returned++;
	return NULL;
}

int
main(int argc, char *argv[])
{
	pthread_t t[2], w;
	uintptr_t i;
	long was;

	(void)argv;
	if (pipe(quiet) == -1)
		err(1, "pipe");
	for (i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, compute, NULL) != 0)
			err(1, "pthread_create");
	for (i = 0; i < 5; i++)
		if (pthread_create(&w, NULL, wait_for, (void *)i) != 0)
			err(1, "pthread_create");
	usleep(50000);
	if (argc > 1)
		ready_await();
	else {
		ready();
		/* wait for input between the rounds */
		for (struct pollfd p = { .fd = 0, .events = POLLIN };
		    poll(&p, 1, 1) == 0; rounds++)
			wrong += spin(SPINS);
	}
	was = rounds;
	usleep(200000);
	report("idle", rounds == was);
	quit = true;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	report("wrong", wrong);
	report("returned", returned);
	return 0;
}
