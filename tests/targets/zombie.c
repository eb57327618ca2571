/*
 * The parent of a zombie.
 */
#include "target.h"

#include <sys/wait.h>

#include <signal.h>

int
main(void)
{
	siginfo_t si;
	int status;
	pid_t pid;

	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0)
		_exit(3);
	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) == -1)
		err(1, "waitid");
	printf("child %d\n", pid);
	ready_await();
	report("child", waitpid(pid, &status, 0) != pid ||
	    !WIFEXITED(status) || WEXITSTATUS(status) != 3);
	return 0;
}
