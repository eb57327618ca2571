/*
 * A process with four threads that wait.  Its parent leads its session, and is
 * a child of the first process; it leads its own process group.
 */
#include "target.h"

#include <sys/wait.h>

#include <pthread.h>

enum { THREADS = 3 };

static void *
run(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/*
 * Fork; the parent waits for the child, and then for ever.
 */
static void
fork_wait(void)
{
	int status;
	pid_t pid;

	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0)
		return;
	while (waitpid(pid, &status, 0) == -1)
		continue;
	/* stay: tests look at its files through this process */
	run(NULL);
}

int
main(void)
{
	pthread_t t;
	int i;

	fork_wait();
	if (setsid() == -1)
		err(1, "setsid");
	fork_wait();
	if (setpgid(0, 0) == -1)
		err(1, "setpgid");
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, run, NULL) != 0)
			errx(1, "cannot start a thread");
	sleep(1);	/* until all of them wait */
	puts("ready");
	fflush(stdout);
	run(NULL);
}
