/*
 * A child that a thread forked, so that it runs on that thread's stack; the
 * first thread has used its own stack to the end before.
 */
#include "target.h"

#include <sys/wait.h>

#include <pthread.h>

enum { DEEP = 1 << 20 };

static void *
run(void *arg)
{
	int status;
	pid_t pid;

	(void)arg;
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		printf("child %d\n", getpid());
		ready_await();
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	report("child", !WIFEXITED(status) || WEXITSTATUS(status) != 3);
	return NULL;
}

/*
 * Write to the stack down to the end of an array of DEEP bytes.
 */
static void
use(void)
{
	volatile char deep[DEEP];
	size_t i;

	for (i = DEEP; i >= 64; i -= 64)
		deep[i - 64] = 1;
	(void)deep[0];
}

int
main(void)
{
	pthread_t t;

	use();
	if (pthread_create(&t, NULL, run, NULL) != 0)
		err(1, "pthread_create");
	pthread_join(t, NULL);
	return 0;
}
