/*
 * Two threads that wait in system calls which never return by themselves, and
 * count returns.
 */
#include "target.h"

#include <sys/syscall.h>

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long returned, heard;

static void *
wait_thread(void *arg)
{
	static int word;
	long rc;

	(void)arg;
	for (;;) {
		rc = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL,
		    NULL, 0);
		/* EINTR is tolerated: snap may be killed */
		if (rc != -1 || errno != EINTR)
			returned++;
	}
	return NULL;
}

static void
on_chld(int sig)
{
	(void)sig;
	heard++;
}

int
main(void)
{
	static char kept[8 * MIN_PAGE];
	char stack[512];
	pthread_t t;

	signal(SIGCHLD, on_chld);
	region("kept", kept, sizeof kept, 1);
	region("stack", stack, sizeof stack, 2);
	if (pthread_create(&t, NULL, wait_thread, NULL) != 0)
		err(1, "pthread_create");
	ready();
	await();
	report("returned", returned);
	report("heard", heard);
	report("kept", pattern_check(kept, sizeof kept, 1));
	report("stack", pattern_check(stack, sizeof stack, 2));
	return 0;
}
