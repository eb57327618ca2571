/*
 * Restore received processes with criu(8). When they are complete but do not
 * run yet, criu runs this program again as its action script, which waits for
 * permission to resume them. If anything fails before that, or the other side
 * is gone, criu kills them.
 */
#include "receive.h"
#include "clock.h"

#include "common/common.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum {
	START_MS = 60000,	/* time limit for criu lazy-pages to start */
	TRIES = 10,		/* attempts to connect to criu lazy-pages after
				   it has created its socket */
	GO_MS = 8000,		/* time limit for the permission to resume */
	END_MS = 60000		/* time limit for criu to end when it must */
};

static const char variable[] = "SNAPLOAD_RECEIVE"; /* the value is PID:FD:FD */

/*
 * Ignore the signals that ask us to end.
 */
static void
ending_ignore(void)
{
	size_t i;

	for (i = 0; i < sizeof ending / sizeof *ending; i++)
		signal(ending[i], SIG_IGN);
}

/*
 * In a new child process, run command with sh(1). It ignores the signals that
 * ask us to end.
 */
static void __attribute__((noreturn))
criu_exec(struct receiving *r, const char *command)
{
	/* criu ends by itself, when the action script fails */
	ending_ignore();
	(void)dup2(r->null, STDIN_FILENO);
	(void)dup2(r->null, STDOUT_FILENO);
	if (r->stdnull)
		(void)dup2(r->null, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/*
 * Connect to criu lazy-pages in the current directory, and end the connection.
 * Wait up to START_MS until criu lazy-pages has created its socket.
 */
static void
lazy_connect(void)
{
	const struct sockaddr_un a = { .sun_family = AF_UNIX,
	    .sun_path = "lazy-pages.socket" };
	const uint64_t start = boot_ms();
	int refused = 0;

	/* refused: before listen(2), and after criu lazy-pages has ended */
	while (connect(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    (const struct sockaddr *)&a, sizeof a) == -1 && (errno == ENOENT ||
	    (errno == ECONNREFUSED && ++refused < TRIES)) &&
	    boot_ms() - start < START_MS) {
		closefrom(STDERR_FILENO + 1);
		(void)poll(NULL, 0, 100);
	}
}

/*
 * Before criu lazy-pages is started, start a child process that waits until
 * this process ends, and then connects to criu lazy-pages. If criu restore has
 * not connected to it, criu lazy-pages would wait forever; instead it finds
 * that the connection ends. Otherwise it accepts no other connection. The child
 * has a name of its own, so that "killall snapload" does not end it. Return 0,
 * or -1 with errstr set.
 */
static int
lazy_watch(struct receiving *r)
{
	int end[2];
	pid_t pid;
	char c;

	if (pipe2(end, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		return errstr_sys("criu");
	if (pid > 0) {		/* the write end stays open */
		close(end[0]);
		return 0;
	}
	ending_ignore();
	(void)prctl(PR_SET_NAME, "lazy-watch");
	/* close the connection and the pipes: their other ends wait for that */
	(void)dup2(end[0], STDIN_FILENO);
	(void)dup2(r->null, STDOUT_FILENO);
	(void)dup2(r->null, STDERR_FILENO);
	closefrom(STDERR_FILENO + 1);
	while (read(STDIN_FILENO, &c, 1) == -1 && errno == EINTR)
		continue;
	if (chdir(r->dir) == 0)
		lazy_connect();
	_exit(0);
}

/*
 * Wait until criu lazy-pages writes a byte to the pipe ready: criu restore can
 * then connect to it. Return 0, or -1 with errstr set if criu lazy-pages ends
 * or takes longer than START_MS, or if the connection ends.
 */
static int
ready_await(int ready)
{
	struct pollfd p[2] = { { .fd = ready, .events = POLLIN },
	    { .fd = STDIN_FILENO, .events = POLLIN } };
	char c;

	if (poll(p, 2, START_MS) == 0)
		return errstr_set("criu lazy-pages does not start");
	if (p[0].revents != 0)
		return read(ready, &c, 1) == 1 ? 0 :
		    errstr_set("criu lazy-pages failed");
	return errstr_set("the connection ended");
}

/*
 * Start criu lazy-pages, and wait until criu restore can connect to it.
 */
static int
lazy_start(struct receiving *r)
{
	struct buf b = { 0 };
	char *command;
	int ready[2], rc;

	if (lazy_watch(r) == -1)
		return -1;
	if (pipe2(ready, O_CLOEXEC) == -1)
		return errstr_sys("criu");
	buf_puts(&b, "exec criu lazy-pages -D ");
	shell_word(&b, r->dir);
	buf_puts(&b, "/" EARLY_DIR " -W ");
	shell_word(&b, r->dir);
	buf_printf(&b, " -v1 -o lazy.log --status-fd %d", ready[1]);
	rc = (command = buf_text(&b)) == NULL ? -1 : 0;
	if (rc == 0 && (r->lazy = fork()) == -1)
		rc = errstr_sys("criu");
	if (rc == 0 && r->lazy == 0) {
		(void)fcntl(ready[1], F_SETFD, 0);
		criu_exec(r, command);
	}
	close(ready[1]);
	free(command);
	if (rc == 0)
		rc = ready_await(ready[0]);
	close(ready[0]);
	return rc;
}

/*
 * Start the criu command in the buffer command, with this program as its action
 * script. Return 0, or -1 with errstr set.
 */
static int
criu_start(struct receiving *r, const struct buf *command)
{
	struct buf b = { 0 };
	int said[2], go[2], rc;
	char *script;

	if (pipe2(said, O_CLOEXEC) == -1 || pipe2(go, O_CLOEXEC) == -1)
		return errstr_sys("criu");
	r->said = said[0];
	r->go = go[1];
	buf_printf(&b, "%s=%d:%d:%d exec %.*s --action-script /proc/%d/exe "
	    "-v1 -o restore.log --pidfile root.pid", variable, getpid(),
	    said[1], go[0],
	    (int)strcspn((const char *)command->data, "\n"),
	    (const char *)command->data, getpid());
	rc = (script = buf_text(&b)) == NULL ? -1 : 0;
	if (rc == 0 && memmem(command->data, command->len, LAZY,
	    strlen(LAZY)) != NULL)
		rc = lazy_start(r);
	if (rc == 0 && (r->criu = fork()) == -1)
		rc = errstr_sys("criu");
	if (rc == 0 && r->criu == 0)
		criu_exec(r, script);
	free(script);
	return rc;
}

/*
 * Set errstr to the first error in the log of criu, or to none if there is no
 * error. Skip an error after which criu continues. Return -1.
 */
static int
criu_why(struct receiving *r, const char *none)
{
	char path[PATH_MAX], line[400];
	const char *s;
	FILE *f;

	errstr_set("%s", none);
	if ((size_t)snprintf(path, sizeof path, "%s/restore.log", r->dir) >=
	    sizeof path || (f = fopen(path, "re")) == NULL)
		return -1;
	while (fgets(line, sizeof line, f) != NULL)
		if ((s = strstr(line, "Error (")) != NULL &&
		    strstr(s, "RLIMIT_NOFILE for self") == NULL) {
			line[strcspn(line, "\n")] = '\0';
			errstr_set("criu: %s", s);
			break;
		}
	fclose(f);
	return -1;
}

/*
 * Wait until criu has ended, which must not resume the processes. If it hangs,
 * kill it.
 */
static void
criu_end(const struct receiving *r)
{
	const uint64_t start = boot_ms();

	while (waitpid(r->criu, NULL, WNOHANG) == 0) {
		if (boot_ms() - start > END_MS)
			(void)kill(r->criu, SIGKILL);
		(void)poll(NULL, 0, 10);
	}
}

/*
 * Wait until fd, which is the pipe from the action script or standard input,
 * can be read. Return 0, or -1 with errstr set if criu or the connection ends
 * before that, or if the time until, as returned by boot_ms(), has passed.
 */
static int
input_await(struct receiving *r, int fd, uint64_t until)
{
	struct pollfd p[2] = { { .fd = r->said, .events = POLLIN },
	    { .fd = STDIN_FILENO, .events = POLLIN } };

	for (;;) {
		if (waitpid(r->criu, NULL, WNOHANG) != 0) {
			r->criu = 0;
			return criu_why(r, "criu restore failed");
		}
		if (r->lazy != 0 && waitpid(r->lazy, NULL, WNOHANG) != 0) {
			/* it fails if criu restore fails, which then says why
			   in its log */
			r->lazy = 0;
			return criu_why(r, "criu lazy-pages failed");
		}
		if (boot_ms() > until)
			return errstr_set("no permission to resume in time");
		if (poll(p, 2, 100) <= 0)
			continue;
		if (fd == r->said && p[0].revents & POLLIN)
			return 0;
		if (fd == STDIN_FILENO && p[1].revents & POLLIN)
			return 0;
		if (p[1].revents != 0)	/* no data is expected at this time */
			return errstr_set("the connection ended");
	}
}

/*
 * Wait until all is restored, and then until the other side permits the
 * processes to resume. Return 0, or -1 with errstr set.
 */
static int
go_await(struct receiving *r)
{
	uint64_t until;
	char letter;
	size_t n;
	int rc;

	if (input_await(r, r->said, UINT64_MAX) == -1)
		return -1;
	if (read(r->said, &letter, 1) != 1)
		return errstr_sys("action script");
	answer("restored");
	/* the other side gives up later than that */
	until = boot_ms() + GO_MS;
	if (input_await(r, STDIN_FILENO, until) == -1 ||
	    (rc = frame_read(STDIN_FILENO, &letter, r->data, &n)) == -1)
		return -1;
	if (rc != 1 || letter != FRAME_GO)
		return errstr_set("the connection ended");
	return boot_ms() <= until ? 0 : errstr_set("the permission to resume "
	    "came too late");
}

/*
 * Return true if the process that criu has restored, whose ID it wrote to the
 * file root.pid, is alive.
 */
static bool
root_lives(struct receiving *r)
{
	char path[PATH_MAX];
	int pid;

	return (size_t)snprintf(path, sizeof path, "%s/root.pid", r->dir) <
	    sizeof path && (pid = proc_setting(path, 0)) > 0 &&
	    !proc_ended(pid);
}

/*
 * Wait until criu lazy-pages, if it was started, has restored all memory of the
 * process, which was resumed. If it fails, kill the process, because missing
 * pages would read as zeros. It does not fail if the process ends. Return the
 * outcome, with errstr set unless it is RUNNING.
 */
static enum outcome
lazy_await(struct receiving *r)
{
	if (r->lazy == 0)
		return RUNNING;
	if (child_wait(r->lazy) == 0) {
		if (root_lives(r))
			return RUNNING;
		errstr_set("the process ended before it had all its memory");
		return UNKNOWN;
	}
	rest_kill();
	errstr_set("criu lazy-pages failed; the processes have run for a "
	    "moment and are killed");
	return KILLED;
}

/*
 * Restore the images with the criu command in the buffer command. Resume the
 * processes when the other side permits it. Return the outcome, with errstr set
 * unless it is RUNNING.
 */
enum outcome
restore(struct receiving *r, const struct buf *command)
{
	struct pollfd resumed = { .events = POLLIN };
	int status;

	if (criu_start(r, command) == -1)
		return UNDONE;
	if (go_await(r) == -1 || write(r->go, "", 1) != 1) {
		close(r->go);	/* this makes the action script fail */
		if (r->criu != 0)
			criu_end(r);
		return UNDONE;
	}
	while (waitpid(r->criu, &status, 0) == -1 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		if (root_lives(r)) {
			answer("resumed");
			return lazy_await(r);
		}
		/* it has finished its work, or crashed */
		errstr_set("the process ended when it was resumed");
		return UNKNOWN;
	}
	(void)criu_why(r, "criu restore failed");
	/* criu runs the action script again right before it resumes them; if
	   it exits with an error before that, it has killed them */
	resumed.fd = r->said;
	if (poll(&resumed, 1, 0) != 0)
		return UNKNOWN;
	if (WIFEXITED(status))
		return UNDONE;
	/* criu was killed: nothing lets them run, unless it traced them */
	rest_kill();
	return KILLED;
}

/*
 * If criu runs this program as its action script, report to the receiver that
 * all is restored, and wait until it permits the processes to resume. Return
 * the exit status for criu, or -1 if criu does not run this program.
 */
int
receive_script(void)
{
	const char *s = getenv(variable), *action;
	char path[64], c;
	int pid, said, go, fd;
	bool resumes;

	if (s == NULL || sscanf(s, "%d:%d:%d", &pid, &said, &go) != 3 ||
	    (action = getenv("CRTOOLS_SCRIPT_ACTION")) == NULL)
		return -1;
	resumes = strcmp(action, "pre-resume") == 0;
	if (!resumes && strcmp(action, "post-restore") != 0)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, said);
	if ((fd = open(path, O_WRONLY)) == -1 || write(fd, "", 1) != 1)
		return 1;
	close(fd);
	if (resumes)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, go);
	if ((fd = open(path, O_RDONLY)) == -1)
		return 1;
	return read(fd, &c, 1) == 1 ? 0 : 1;
}
