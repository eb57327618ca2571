/*
 * Start a command to be traced. It waits until its events have been set up; if
 * we die before that, the command is not started.
 */
#include "vmtrace.h"

#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { END_MS = 500 }; /* maximum time in ms from the end of the trace to the
			  end of the command */

/*
 * Fork a child for the command argv, and store it in c. The child waits for
 * command_go(). Exit with status 1 on failure.
 */
void
command_begin(struct command *c, char **argv)
{
	void (*was)(int);
	int go[2], why[2], e;
	char ch;

	/* if it is ignored, waitpid(2) finds no child */
	was = signal(SIGCHLD, SIG_DFL);
	if (pipe2(go, O_CLOEXEC) == -1 || pipe2(why, O_CLOEXEC) == -1)
		err(1, "pipe");
	if ((c->pid = fork()) == -1)
		err(1, "fork");
	if (c->pid == 0) {
		close(go[1]);
		if (read(go[0], &ch, 1) != 1)
			_exit(1);
		signal(SIGCHLD, was);
		execvp(argv[0], argv);
		e = errno;
		(void)!write(why[1], &e, sizeof e);
		_exit(127);
	}
	close(go[0]);
	close(why[1]);
	c->go = go[1];
	c->why = why[0];
}

/*
 * Start command c, which is called name. Exit with status 1 if it cannot be
 * executed.
 */
void
command_go(struct command *c, const char *name)
{
	int e;

	if (write(c->go, "", 1) != 1)
		err(1, "%s", name);
	close(c->go);
	if (read(c->why, &e, sizeof e) == sizeof e) {
		(void)waitpid(c->pid, NULL, 0);
		errx(1, "%s: %s", name, strerror(e));
	}
	close(c->why);
}

/*
 * Return how command c, which is called name, has ended: its exit status, or
 * 128 + N if signal N killed it. If the command failed, print how. If it is
 * still running and ended is false, return 0. If ended is true, the trace of
 * the command has ended, so wait at most END_MS milliseconds for the command to
 * end. If it does not, it has executed a program that we may not trace:
 * print a message and return -1.
 */
int
command_end(const struct command *c, const char *name, bool ended)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	int i, status;
	pid_t pid;

	for (i = 0; (pid = waitpid(c->pid, &status, WNOHANG)) == 0 && ended &&
	    i < END_MS; i++)
		(void)nanosleep(&nap, NULL);
	if (pid != c->pid) {
		if (ended)
			program_warn("%s: changed credentials, so it is no "
			    "longer traceable; it is still running", name);
		return ended ? -1 : 0;
	}
	if (WIFSIGNALED(status)) {
		program_warn("%s: killed by signal %d (%s)", name,
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	if (WEXITSTATUS(status) != 0)
		program_warn("%s: exit status %d", name, WEXITSTATUS(status));
	return WEXITSTATUS(status);
}
