/*
 * A process that waits in vfork(2) for its child.
 */
#include "target.h"

#include <sys/wait.h>

int
main(void)
{
	static volatile long n;
	int status;
	pid_t pid;

	printf("parent %d\n", getpid());
	fflush(stdout);
	if ((pid = vfork()) == -1)
		err(1, "vfork");
	if (pid == 0) {
		(void)!write(1, "ready\n", 6);
		await();
		n = 1;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	report("eintr", eintr);
	report("child", status != 0 || n != 1);
	return 0;
}
