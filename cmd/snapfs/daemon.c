/*
 * Run the server in the background: a child of the command. The command waits
 * until the server is ready, and then exits.
 */
#include "snapfs.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int ready = -1; /* pipe to the process that the user started; -1: none */
static int null;

/*
 * In the process that the user started, wait until the child is ready, and then
 * exit with the status that it sends. If the child ends before that, exit with
 * its status, or by the signal that killed it.
 */
static void __attribute__((noreturn))
daemon_await(pid_t child, int fd)
{
	int status;
	char c;
	ssize_t n;

	do
		n = read(fd, &c, 1);
	while (n == -1 && errno == EINTR);
	if (n == 1)
		_exit(c);
	while (waitpid(child, &status, 0) == -1 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/*
 * Fork, and return in the child. If the parent is killed before the child calls
 * daemon_ready(), so is the child.
 */
void
daemon_begin(void)
{
	int fd[2];
	pid_t pid, parent;

	parent = getpid();
	/* if it is ignored, waitpid(2) finds no child */
	signal(SIGCHLD, SIG_DFL);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (pipe2(fd, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		err(1, "cannot run in the background");
	if (pid != 0) {
		close(fd[1]);
		daemon_await(pid, fd[0]);
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(fd[0]);
	ready = fd[1];
}

/*
 * Leave the session, the working directory and the terminal of the command.
 * Duplicate fd to all standard descriptors.
 */
void
daemon_leave(int fd)
{
	(void)setsid();
	(void)!chdir("/");
	(void)dup2(fd, STDIN_FILENO);
	(void)dup2(fd, STDOUT_FILENO);
	(void)dup2(fd, STDERR_FILENO);
}

/*
 * Tell the command that the server is ready, and with which status to exit.
 * Detach from it.
 */
void
daemon_ready(char status)
{
	if (ready == -1)
		return;
	daemon_leave(null);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)!write(ready, &status, 1);
	close(ready);
	close(null);
}
