/*
 * A process that waits in vfork(2) for its child. With an argument it calls
 * vfork(2) only when it is traced.
 */
#include "target.h"

#include <sys/wait.h>

int
main(int argc, char *argv[])
{
	static volatile long n;
	int status;
	pid_t pid;

	(void)argv;
	printf("parent %d\n", getpid());
	fflush(stdout);
	if (argc > 1)
		ready();
	while (argc > 1 && !is_traced())
		usleep(1000);
	if ((pid = vfork()) == -1)
		err(1, "vfork");
	if (pid == 0) {
		if (argc == 1)
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
