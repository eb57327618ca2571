/*
 * A process that is replaced all the time: it forks, and the parent exits, so
 * that its child is an orphan.  There is always a process, but never one of
 * those that were listed a moment before.
 */
#include "target.h"

#include <poll.h>

int
main(void)
{
	struct pollfd p = { 0, POLLIN, 0 };
	pid_t pid;

	ready();
	/* no parent waits for the first one */
	while (poll(&p, 1, 1) == 0) {
		if ((pid = fork()) == -1)
			err(1, "fork");
		if (pid > 0)
			_exit(0);
	}
	return 0;
}
