/*
 * A process that is never the same: each forks the next and ends, which is
 * nobody's descendant then.  At any instant there is one, though none that was
 * listed a moment before.
 */
#include "target.h"

#include <poll.h>

int
main(void)
{
	struct pollfd p = { 0, POLLIN, 0 };
	pid_t pid;

	ready();
	/* nobody waits for the first one */
	while (poll(&p, 1, 1) == 0) {
		if ((pid = fork()) == -1)
			err(1, "fork");
		if (pid > 0)
			_exit(0);
	}
	return 0;
}
