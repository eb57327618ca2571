/*
 * Processes that fork and wait all the time and, with an argument, also
 * execute this program. With the argument "vfork" they use vfork(2), and the
 * child calls execve(2) only after a while.
 */
#include "target.h"

#include <sys/wait.h>

#include <poll.h>
#include <stdbool.h>
#include <time.h>

static const struct timespec pause_time = { 0, 20000000 };

static int
asked(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	return poll(&p, 1, 0) != 0;
}

static void
child(const char *self)
{
	char kept[2048];
	pid_t pid;
	int status;

	end_with_parent();
	pattern_fill(kept, sizeof kept, 9);
	if (self != NULL) {
		execl(self, self, "-", "leaf", (char *)NULL);
		_exit(2);
	}
	if ((pid = fork()) == 0)
		_exit(7);
	if (pid == -1 || waitpid(pid, &status, 0) != pid ||
	    !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		_exit(1);
	_exit(pattern_check(kept, sizeof kept, 9) != 0);
}

static pid_t
spawn(const char *self)
{
	pid_t pid;

	if ((pid = vfork()) != 0)
		return pid;
	(void)nanosleep(&pause_time, NULL);
	execl(self, self, "-", "leaf", "sleeps", (char *)NULL);
	_exit(2);
}

int
main(int argc, char *argv[])
{
	static char kept[8 * MIN_PAGE];
	const bool vforks = argc > 1 && strcmp(argv[1], "vfork") == 0;
	long made, wrong, lost;
	int status;
	pid_t pid;

	if (argc > 2)
		return argc > 3 ? nanosleep(&pause_time, NULL) : 0;
	region("kept", kept, sizeof kept, 1);
	ready();
	for (made = wrong = lost = 0; !asked(); made++) {
		if ((pid = vforks ? spawn(argv[0]) : fork()) == -1)
			err(1, "fork");
		if (pid == 0)
			child(argc > 1 ? argv[0] : NULL);
		if (waitpid(pid, &status, 0) != pid)
			lost++;
		else if (status != 0)
			wrong++;
	}
	report("none", made == 0);
	report("lost", lost);
	report("wrong", wrong);
	return 0;
}
