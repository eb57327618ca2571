/*
 * Accept connections from the kernel, one for each process that dumps core, and
 * fork a handler for each. The socket is ours, or passed by the service
 * manager (sd_listen_fds(3)).
 */
#include "crash.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <syslog.h>
#include <unistd.h>

enum { GIVEN_FD = 3, BACKLOG = 128 };

static volatile sig_atomic_t ended;

static void
on_signal(int sig)
{
	if (sig != SIGCHLD)
		ended = 1;
}

/*
 * Return a new socket that listens at path. Exit with status 1 on failure, or
 * if another process is already listening there.
 */
static int
socket_new(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const struct sockaddr *const to = (const struct sockaddr *)&a;
	const mode_t mask = umask(S_IXUSR | S_IRWXG | S_IRWXO);
	int fd;

	if (strlcpy(a.sun_path, path, sizeof a.sun_path) >= sizeof a.sun_path)
		errx(1, "%s: path too long for a socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		err(1, "socket");
	if (bind(fd, to, sizeof a) == -1) {
		if (errno != EADDRINUSE)
			err(1, "%s", path);
		if (connect(fd, to, sizeof a) == 0)
			errx(1, "%s: another process is already listening "
			    "there", path);
		/* no process is listening there: it is a leftover */
		if (errno != ECONNREFUSED || unlink(path) == -1 ||
		    bind(fd, to, sizeof a) == -1)
			err(1, "%s", path);
	}
	(void)umask(mask);
	if (listen(fd, BACKLOG) == -1)
		err(1, "%s", path);
	return fd;
}

/*
 * Return the listening socket that the service manager passed, or -1.
 */
static int
socket_given(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");

	if (pid == NULL || n == NULL || strtol(pid, NULL, 10) != getpid())
		return -1;
	if (strcmp(n, "1") != 0)
		errx(1, "service manager passed %s sockets instead of one", n);
	(void)fcntl(GIVEN_FD, F_SETFD, FD_CLOEXEC);
	return GIVEN_FD;
}

/*
 * Handle one connection, and exit.
 */
static void __attribute__((noreturn))
connection_take(int fd, const char *path, const sigset_t *mask)
{
	struct config c;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	if (dup2(fd, STDIN_FILENO) == -1)
		err(1, "socket");
	close(fd);
	if (config_read(&c, path) == -1 && errno != ENOENT)
		program_warn("%s", snap_errstr());
	exit(crash_take(&c, NULL));
}

/*
 * Accept connections until a signal ends us, then wait for the handlers.
 */
static void
connections_take(int fd, const struct config *c, const char *path,
    const sigset_t *mask)
{
	struct pollfd p = { fd, POLLIN, 0 };
	uint64_t n = 0;
	pid_t pid;
	int to;

	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			n--;
		if (ended && n == 0)
			return;
		/* further connections wait in the kernel */
		if (ppoll(&p, !ended && n < claim_accepts(c), NULL,
		    mask) != 1 || (to = accept4(fd, NULL, NULL,
		    SOCK_CLOEXEC)) == -1)
			continue;
		if ((pid = fork()) == 0) {
			close(fd);
			connection_take(to, path, mask);
		}
		if (pid == -1)
			syslog(LOG_CRIT, "crash dropped: fork: %m");
		else
			n++;
		close(to);
	}
}

/*
 * Serve connections until SIGTERM or SIGINT arrives. Then wait until the
 * crashes being handled are done. c is the configuration; each handler reads it
 * again from the file at path. Return the exit status.
 */
int
crash_serve(const struct config *c, const char *path)
{
	const struct sigaction act = { .sa_handler = on_signal };
	sigset_t blocked, mask;
	bool ours;
	int fd;

	/* if serve itself crashed, the kernel would connect it to itself */
	if (prctl(PR_SET_DUMPABLE, 0) == -1)
		err(1, "prctl");
	openlog("snapcrash", LOG_PID | (getenv("JOURNAL_STREAM") != NULL ? 0 :
	    LOG_PERROR), LOG_DAEMON);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	if (sigprocmask(SIG_BLOCK, &blocked, &mask) == -1 ||
	    sigaction(SIGCHLD, &act, NULL) == -1 ||
	    sigaction(SIGTERM, &act, NULL) == -1 ||
	    sigaction(SIGINT, &act, NULL) == -1)
		err(1, "signals");
	fd = socket_given();
	ours = fd == -1;
	if (ours)
		fd = socket_new(c->socket);
	connections_take(fd, c, path, &mask);
	if (ours)
		(void)unlink(c->socket);
	return 0;
}
