/*
 * A parent whose child is stopped, of which one SIGCHLD and one wait status
 * have told it; it counts any further ones.  When asked, it continues the
 * child, which must go on and end.
 */
#include "target.h"

#include <sys/wait.h>

#include <signal.h>

static volatile sig_atomic_t chld;

static void
on_chld(int sig)
{
	(void)sig;
	chld++;
}

int
main(void)
{
	struct sigaction sa = { .sa_handler = on_chld,
	    .sa_flags = SA_RESTART };
	static char kept[4 * MIN_PAGE];
	int status, extra, to[2];
	pid_t pid;
	char c;

	region("kept", kept, sizeof kept, 1);
	fflush(stdout);
	if (pipe(to) == -1)
		err(1, "pipe");
	sigaction(SIGCHLD, &sa, NULL);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		end_with_parent();
		close(to[1]);
		raise(SIGSTOP);
		_exit(read(to[0], &c, 1) == 1 ? 5 : 6);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		errx(1, "no stop");
	printf("child %d\n", pid);
	chld = 0;
	ready_await();
	for (extra = 0; waitpid(pid, &status, WNOHANG | WUNTRACED |
	    WCONTINUED) > 0; extra++)
		continue;
	report("waits", extra);
	report("sigchld", chld);
	kill(pid, SIGCONT);
	if (write(to[1], "x", 1) != 1)
		err(1, "write");
	report("child", waitpid(pid, &status, 0) != pid ||
	    !WIFEXITED(status) || WEXITSTATUS(status) != 5);
	return 0;
}
