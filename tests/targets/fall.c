/*
 * A process that dumps core when it reads "f": fall KIND THREADS.  THREADS
 * threads sleep, in one of two calls; memory has patterns.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <pthread.h>
#include <stddef.h>

enum { REGION = 8 * 1024 * 1024 };

static void *
sleeps(void *arg)
{
	volatile uintptr_t own = (uintptr_t)arg;
	int fd[2];

	if (own % 2 == 0)
		for (;;)
			pause();
	if (pipe(fd) == -1 || read(fd[0], fd, 1) == -1)
		err(1, "pipe");
	return NULL;
}

__attribute__((noinline)) static int
deeper(volatile int *last)
{
	volatile int here[64] = { *last };

	return *last != 0 ? 0 : deeper(here) + here[1];
}

/*
 * Crash; a register has an address that is used after the crash.
 */
__attribute__((noinline)) static const char *
store(int *to, const char *from)
{
	*to = 1;
	return from + *from;
}

/*
 * Be killed for a system call that a filter forbids.
 */
static void
forbidden(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == -1)
		err(1, "seccomp");
	(void)getppid();
}

/*
 * Have memory that no core may contain, with a text that is nowhere else: it is
 * assembled from two parts.
 */
static void
secret_make(void)
{
	static const char *const text[] = { "nobody may ", "have this" };
	char *p;

	p = mmap(NULL, (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || madvise(p, (size_t)PAGE, MADV_DONTDUMP) == -1)
		err(1, "mmap");
	snprintf(p, (size_t)PAGE, "%s%s", text[0], text[1]);
}

int
main(int argc, char *argv[])
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const struct rlimit none = { 0, RLIM_INFINITY };
	int *volatile nowhere = (int *)16;
	pthread_attr_t small;
	pthread_t t;
	long i, n;
	char *p, *q;

	if (argc != 3)
		errx(1, "usage: fall segv|abort|near|overflow|seccomp|"
		    "gaveup|dontdump|nolimit THREADS");
	(void)setrlimit(RLIMIT_CORE, strcmp(argv[1], "nolimit") == 0 ? &none :
	    &all);
	/* drop the privileges of a set-user-ID program */
	if (strcmp(argv[1], "gaveup") == 0 &&
	    (setresuid(getuid(), getuid(), getuid()) == -1 ||
	    prctl(PR_SET_DUMPABLE, 1) == -1))
		err(1, "setresuid");
	n = strtol(argv[2], NULL, 10);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (i = 0; i < n; i++)
		if ((errno = pthread_create(&t, &small, sleeps,
		    (void *)i)) != 0)
			err(1, "pthread_create");
	p = mmap(NULL, REGION, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	region("private", p, REGION, 21);
	if (strcmp(argv[1], "near") == 0) {
		q = mmap(NULL, REGION / 2, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (q == MAP_FAILED)
			err(1, "mmap");
		region("shared", q, REGION / 2, 22);
	}
	if (strcmp(argv[1], "dontdump") == 0)
		secret_make();
	ready();
	if (getchar() != 'f')
		return 0;
	if (strcmp(argv[1], "abort") == 0)
		abort();
	if (strcmp(argv[1], "near") == 0)
		return *store(nowhere, p + REGION / 2);
	if (strcmp(argv[1], "overflow") == 0)
		return deeper(&(int){ 0 });
	if (strcmp(argv[1], "seccomp") == 0)
		forbidden();
	return *nowhere;
}
