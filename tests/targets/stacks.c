/*
 * Stacks to be printed: stacks KIND.
 *
 *	threads	65 threads: 60 wait for work, one holds a mutex, two wait for
 *		it, one is joined, and the first
 *	close	100 threads, whose stacks are in one mapping
 *	signal	in a signal handler, on an alternate stack
 *	leaf	in a function that calls none, without a frame pointer
 *	first	at the first instruction of a function
 *	vdso	in the vDSO, most of the time
 *	nowhere	at address 0, called by mistake
 */
#include "target.h"

#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>

enum { IDLE = 60 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static volatile unsigned int counter;
static char altstack[64 * 1024];

static __attribute__((noinline)) void *
idle(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&work, &lock);
	return NULL;
}

static void *
holder(void *arg)
{
	int *fd = arg;
	char c;

	pthread_mutex_lock(&held);
	if (write(fd[1], "", 1) == 1)
		(void)read(fd[2], &c, 1);
	return NULL;
}

static void *
waiter(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&held);
	return NULL;
}

static void *
joined(void *arg)
{
	struct epoll_event e;

	(void)epoll_wait(*(int *)arg, &e, 1, -1);
	return NULL;
}

static void
be_threads(void)
{
	static int fd[5];
	pthread_t t;
	char c;
	int i;

	if (pipe(fd) == -1 || pipe(fd + 2) == -1)
		exit(1);
	fd[4] = epoll_create1(0);
	for (i = 0; i < IDLE; i++)
		pthread_create(&t, NULL, idle, NULL);
	pthread_create(&t, NULL, holder, fd);
	(void)read(fd[0], &c, 1);
	pthread_create(&t, NULL, waiter, NULL);
	pthread_create(&t, NULL, waiter, NULL);
	pthread_create(&t, NULL, joined, &fd[4]);
	printf("ready\n");
	fflush(stdout);
	pthread_join(t, NULL);
}

static void
be_close(void)
{
	enum { COUNT = 100, SIZE = 512 * 1024 };
	pthread_attr_t a;
	pthread_t t;
	char *p;
	int i;

	p = mmap(NULL, COUNT * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_init(&a);
	for (i = 0; i < COUNT; i++) {
		pthread_attr_setstack(&a, p + i * SIZE, SIZE);
		pthread_create(&t, &a, idle, NULL);
	}
	printf("ready\n");
	fflush(stdout);
	pause();
}

static inline __attribute__((always_inline)) void
wait_inlined(void)
{
	printf("ready\n");
	fflush(stdout);
	pause();
	counter++;
}

/*
 * The local variable looks like a struct ucontext of amd64, but it is beyond
 * the end of the stack that it names.
 */
static void
on_signal(int sig)
{
	enum { START = 2, SIZE = 4, SP = 20 };
	volatile uint64_t forged[SP + 1] = { [SIZE] = 64, [SP] = 4096 };

	(void)sig;
	forged[START] = (uintptr_t)forged - forged[SIZE];
	wait_inlined();
	counter++;
}

static __attribute__((noinline)) void
be_signalled(void)
{
	stack_t st = { .ss_sp = altstack, .ss_size = sizeof altstack };
	struct sigaction sa = { .sa_handler = on_signal,
	    .sa_flags = SA_ONSTACK };

	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	counter++;
}

static __attribute__((noinline, optimize("omit-frame-pointer"))) void
leaf(void)
{
	for (;;)
		counter++;
}

#ifdef __x86_64__
__asm__(".globl first_instruction\n"
    ".type first_instruction, @function\n"
    "first_instruction:\n"
    ".cfi_startproc\n"
    "	jmp first_instruction\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size first_instruction, . - first_instruction\n");
#else
__asm__(".globl first_instruction\n"
    ".type first_instruction, %function\n"
    "first_instruction:\n"
    ".cfi_startproc\n"
    "	b first_instruction\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size first_instruction, . - first_instruction\n");
#endif
void		 first_instruction(void);

static __attribute__((noinline)) void
call(void (*fn)(void))
{
	printf("ready\n");
	fflush(stdout);
	fn();
	counter++;
}

static void
clock_loop(void)
{
	struct timespec ts;

	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

static void
on_fault(int sig)
{
	(void)sig;
	for (;;)
		pause();
}

int
main(int argc, char *argv[])
{
	const char *kind = argc == 2 ? argv[1] : "";

	if (strcmp(kind, "threads") == 0)
		be_threads();
	else if (strcmp(kind, "close") == 0)
		be_close();
	else if (strcmp(kind, "signal") == 0)
		be_signalled();
	else if (strcmp(kind, "leaf") == 0)
		call(leaf);
	else if (strcmp(kind, "first") == 0)
		call(first_instruction);
	else if (strcmp(kind, "vdso") == 0)
		call(clock_loop);
	else if (strcmp(kind, "nowhere") == 0) {
		signal(SIGSEGV, on_fault);
		call(NULL);
	}
	return 1;
}
