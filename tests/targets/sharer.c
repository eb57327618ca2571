/*
 * A process that shares the memory of its parent but is not a thread: clone(2)
 * with CLONE_VM.  It changes that memory all the time.  With an argument, it is
 * a copy, with its own memory.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <sched.h>

enum { STACK = 16 * MIN_PAGE };

static volatile uint64_t turns;

static int
turn(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (turns++ < UINT64_MAX)
		usleep(1000);
	return 0;
}

int
main(int argc, char *argv[])
{
	int status;
	char *stack;
	pid_t pid;

	(void)argv;
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || (pid = clone(turn, stack + STACK,
	    SIGCHLD | (argc > 1 ? 0 : CLONE_VM), NULL)) == -1)
		err(1, "clone");
	printf("child %d\n", pid);
	ready_await();
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	report("eintr", eintr);
	report("still", argc == 1 && turns == 0);
	return 0;
}
