/*
 * Other programs of ours, which are where this one is.
 */
#include "crash.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Be the user who reads what strangers made, if there is one and we are root:
 * without a capability.  The file of users is read as it is: who else knows
 * them may be a service, and that may be what crashed.
 */
static void
reader_become(void)
{
	const struct passwd *p = NULL;
	FILE *f;

	if (geteuid() != 0 || (f = fopen("/etc/passwd", "re")) == NULL)
		return;
	do
		p = fgetpwent(f);
	while (p != NULL && strcmp(p->pw_name, READER) != 0);
	if (p != NULL && p->pw_uid != 0 && (setgroups(0, NULL) == -1 ||
	    setresgid(p->pw_gid, p->pw_gid, p->pw_gid) == -1 ||
	    setresuid(p->pw_uid, p->pw_uid, p->pw_uid) == -1))
		_exit(127);
	fclose(f);
}

/*
 * End when parent does, which has started this process: who becomes another
 * user loses that.
 */
static void
program_tie(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(127);
}

/*
 * Have this process, and what it starts, write no file that has more bytes.
 */
void
files_limit(uint64_t bytes)
{
	const struct rlimit most = { bytes, RLIM_INFINITY };

	(void)setrlimit(RLIMIT_FSIZE, &most);
}

static pid_t
start(char *const argv[], const int fd[3], bool reader)
{
	const pid_t self = getpid();
	pid_t pid;
	int i;

	if ((pid = fork()) == -1)
		return errstr_sys("fork");
	if (pid > 0)
		return pid;
	signal(SIGPIPE, SIG_DFL);
	for (i = 0; fd != NULL && i < 3; i++)
		if (fd[i] != -1 && fd[i] != i && dup2(fd[i], i) == -1)
			_exit(127);
	if (reader)
		reader_become();
	if (fd != NULL)
		program_tie(self);
	execvp(argv[0], argv);
	program_warn("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

/*
 * Start the program argv[0] with arguments argv and the descriptors fd as its
 * standard ones; of -1, with those of ours.  It ends when we do.  Where fd is
 * NULL, it has all of ours, and may stay.  Return its number, or -1 with
 * errstr.
 */
pid_t
program_start(char *const argv[], const int fd[3])
{
	return start(argv, fd, false);
}

/*
 * Start a program as program_start does, with argv and fd, which reads what
 * strangers made.  Return as that.
 */
pid_t
program_read(char *const argv[], const int fd[3])
{
	return start(argv, fd, true);
}

/*
 * Wait until program pid has ended; after so many seconds it is killed, if they
 * are not 0.  Return its exit status, 128 and more if a signal ended it.
 */
int
program_wait(pid_t pid, unsigned int seconds)
{
	struct pollfd end = { .events = POLLIN };
	int rc, status;

	end.fd = seconds == 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (end.fd != -1) {
		do
			rc = poll(&end, 1, (int)seconds * 1000);
		while (rc == -1 && errno == EINTR);
		if (rc == 0)
			(void)kill(pid, SIGKILL);
		close(end.fd);
	}
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}
