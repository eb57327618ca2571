/*
 * Start other programs, mostly those in the directory of this one.
 */
#include "crash.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

/*
 * Become user READER, without capabilities, if we are root and this user
 * exists. Read /etc/passwd directly, because getpwnam(3) may ask a service,
 * which may be the one that crashed.
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
 * Make the kernel kill this process when its parent ends. The caller must have
 * changed the user first, because that clears the setting.
 */
static void
program_tie(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(127);
}

/*
 * Limit the size of files written by this process and its children to the given
 * number of bytes.
 */
void
files_limit(uint64_t bytes)
{
	const struct rlimit most = { bytes, RLIM_INFINITY };

	(void)setrlimit(RLIMIT_FSIZE, &most);
}

/*
 * Start program argv[0] with arguments argv. If fd is not NULL, fd[0] to fd[2]
 * become the program's standard descriptors (-1 stands for ours), and the
 * program is killed when we end. If reader is true, start it as user READER,
 * because it reads untrusted data. Return the process ID, or -1 with errstr
 * set.
 */
pid_t
program_start(char *const argv[], const int fd[3], bool reader)
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
 * Wait until child pid has ended. If timeout is not 0, kill the child after
 * that many seconds. Return its exit status, or 128 + N if signal N ended it.
 * If pid is -1, because program_start() has failed, return -1.
 */
int
program_wait(pid_t pid, unsigned int timeout)
{
	struct pollfd end = { .events = POLLIN };
	int rc, status;

	if (pid == -1)
		return -1;
	end.fd = timeout == 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (end.fd != -1) {
		do
			rc = poll(&end, 1, (int)timeout * 1000);
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
