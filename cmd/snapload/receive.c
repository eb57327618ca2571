/*
 * Receive a move (--receive): the other side is "snap --to". It sends frames
 * (io/frame.c) to standard input, and reads lines from standard output;
 * snap-internals(7) lists both. A child makes images of the snapshot, as
 * snapload does without --receive. Then criu(8) restores them. When the
 * processes are complete but do not run yet, criu runs this program again as
 * its action script, which waits for permission to resume them. If anything
 * fails before that, or the other side is gone, criu kills the processes.
 */
#include "receive.h"
#include "full.h"
#include "worker.h"

#include "common/common.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_QUESTION = 64 << 20, /* maximum length of a question, in bytes */
	GO_MS = 8000		/* time limit for the permission to resume */
};

static const char variable[] = "SNAPLOAD_RECEIVE"; /* the value is PID:FD:FD */
/* signals that ask us to end */
static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static const char detached[] = "criu restore -d ";

static struct {
	const char	*dir;	/* directory of the images */
	uint8_t		*data;	/* buffer of MAX_FRAME bytes for a frame */
	/* ends of two pipes; the action script opens the other ends */
	int		 said;	/* read end of the pipe by which the action
				   script says that it has begun */
	int		 go;	/* write end of the pipe by which the action
				   script is told to exit */
	pid_t		 criu;	/* 0: criu was not started, or its end was
				   noticed */
	int		 null;	/* descriptor of /dev/null */
} job;

/*
 * Send line to the other side as an answer. Ignore errors: if the other side is
 * gone, the end of standard input shows this.
 */
static void
answer(const char *line)
{
	char text[600];
	int n;

	n = snprintf(text, sizeof text, "%s\n", line);
	/* at most PIPE_BUF bytes, so lines of two threads do not mix */
	if (write(STDOUT_FILENO, text, (size_t)n) == -1)
		return;
}

/*
 * Answer that the move has failed, for the reason in errstr. If undone is true,
 * also say that the processes have not run here and do not exist here.
 */
static void
refuse(bool undone)
{
	char text[560];

	snprintf(text, sizeof text, "%s far side: %s", undone ? "undone" :
	    "failed", snap_errstr());
	answer(text_sanitize(text));
}

/*
 * Every second, show the other side that we are alive. This is the main
 * function of a thread.
 */
static void *
beat(void *arg)
{
	(void)arg;
	for (;;) {
		answer("alive");
		sleep(1);
	}
	return NULL;
}

struct status {			/* from proc_pid_status(5) */
	char	 name[64];
	char	 state;		/* a letter, such as Z for a zombie */
	int	 parent;
};

/*
 * Set *st to the status of process or thread pid. Return true, or false if
 * there is no such process or thread.
 */
static bool
status_read(int pid, struct status *st)
{
	char path[64], line[128];
	FILE *f;

	memset(st, 0, sizeof *st);
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (fgets(line, sizeof line, f) != NULL) {
		(void)sscanf(line, "Name: %63[^\n]", st->name);
		(void)sscanf(line, "State: %c", &st->state);
		(void)sscanf(line, "PPid: %d", &st->parent);
	}
	fclose(f);
	return st->state != '\0';
}

/*
 * Check that no process or thread has the ID pid. Return 0, or -1 with errstr
 * set to a sentence that names it. If it is a zombie, also name its parent.
 */
static int
pid_check(int pid)
{
	struct status st, parent;

	if (!status_read(pid, &st))
		return 0;
	if (st.state != 'Z' || !status_read(st.parent, &parent))
		return errstr_set("the process ID %d is in use by %s", pid,
		    st.name);
	return errstr_set("the process ID %d is in use by %s, a zombie: its "
	    "parent, process %d (%s), has not waited for it", pid, st.name,
	    st.parent, parent.name);
}

/*
 * Check that this machine has what line, a line of the question, asks for: free
 * space, an unused process ID, or a file. Return 0, or -1 with errstr set if it
 * does not.
 */
static int
line_check(const char *line)
{
	struct statvfs v;
	uint64_t kb;
	int pid;

	if (sscanf(line, "memory %" SCNu64, &kb) == 1) {
		if (statvfs(job.dir, &v) == -1)
			return errstr_sys("%s", job.dir);
		if ((uint64_t)v.f_bavail * v.f_frsize / KB < kb)
			return errstr_set("%s: the images need %ju MiB, and "
			    "%ju MiB are free", job.dir, kb / KB,
			    (uint64_t)v.f_bavail * v.f_frsize / KB / KB);
		return 0;
	}
	if (sscanf(line, "pid %d", &pid) == 1)
		return pid_check(pid);
	/* a file name may have any bytes but a newline */
	if (strncmp(line, "file ", 5) == 0)
		return access(line + 5, F_OK) == 0 ? 0 : errstr_sys("%s",
		    line + 5);
	return errstr_set("standard input: expected a question, found "
	    "\"%.40s\"", line);
}

/*
 * Return 0 if criu(8) is installed, or -1 with errstr set.
 */
static int
criu_find(void)
{
	FILE *f;
	char line[80];
	bool is;

	if ((f = popen("exec criu --version 2>/dev/null", "re")) == NULL)
		return errstr_sys("criu");
	is = fgets(line, sizeof line, f) != NULL;
	return pclose(f) == 0 && is ? 0 : errstr_set("criu(8) is not "
	    "installed, or does not run");
}

/*
 * Read the question from standard input, up to an empty frame, and append it to
 * b with a NUL at its end. Return 0, or -1 with errstr set.
 */
static int
question_read(struct buf *b)
{
	char letter;
	size_t n;
	int rc;

	do {
		rc = frame_read(STDIN_FILENO, &letter, job.data, &n);
		if (rc == -1)
			return -1;
		if (rc == 0 || letter != FRAME_QUESTION ||
		    b->len > MAX_QUESTION)
			return errstr_set("standard input: expected a "
			    "question of snap --to");
		buf_add(b, job.data, n);
	} while (n > 0);
	buf_add(b, "", 1);
	return buf_check(b);
}

/*
 * Read the question, and check that criu(8) and all that the question asks for
 * are here. Return 0, or -1 with errstr set.
 */
static int
question_check(void)
{
	struct buf b = { 0 };
	char *line, *next;
	int rc;

	if ((rc = question_read(&b)) == 0)
		rc = criu_find();
	if (rc == 0 && getpid() == 1)
		rc = errstr_set("snapload is the init of a PID namespace, and "
		    "the processes would end with it");
	for (line = (char *)b.data; rc == 0 && *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		if (*next != '\0')
			*next++ = '\0';
		rc = line_check(line);
	}
	buf_free(&b);
	return rc;
}

/*
 * Make the images, as the child process, and exit. make() reads the snapshot
 * from the pipe at in, and writes the command that restores the images to the
 * pipe at out.
 */
static void __attribute__((noreturn))
images_make(int (*make)(const char *), const int in[2], const int out[2])
{
	if (dup2(in[0], STDIN_FILENO) == -1 ||
	    dup2(out[1], STDOUT_FILENO) == -1)
		_exit(1);
	/* otherwise we would not see the end of our input */
	close(in[1]);
	_exit(make(job.dir) == 0 ? 0 : 1);
}

/*
 * Copy the snapshot from the frames on standard input to fd. Return 0, or -1
 * with errstr set.
 */
static int
snapshot_copy(int fd)
{
	char letter;
	size_t n;
	int rc;

	while ((rc = frame_read(STDIN_FILENO, &letter, job.data, &n)) == 1) {
		if (letter == FRAME_END)
			return 0;
		if (letter != FRAME_DATA)
			return errstr_set("standard input: expected the "
			    "snapshot, found a frame of type %d", letter);
		if (full_write(fd, job.data, n) == -1)
			return errstr_sys("cannot make images");
	}
	return rc == -1 ? -1 : errstr_set("the connection ended within the "
	    "snapshot");
}

/*
 * Wait for the child with process ID pid to end. Return 0 if its exit status is
 * 0, and otherwise -1.
 */
static int
child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/*
 * Have make() make images of the snapshot on standard input. Append to the
 * buffer command the criu command that restores them. Return 0, or -1 with
 * errstr set.
 */
static int
images_receive(int (*make)(const char *), struct buf *command)
{
	int in[2], out[2], rc;
	char part[4096];
	ssize_t n;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1 ||
	    (pid = fork()) == -1)
		return errstr_sys("cannot make images");
	if (pid == 0)
		images_make(make, in, out);
	close(in[0]);
	close(out[1]);
	rc = snapshot_copy(in[1]);
	close(in[1]);
	while ((n = read(out[0], part, sizeof part)) > 0)
		buf_add(command, part, (size_t)n);
	close(out[0]);
	/* its message says why */
	if (child_wait(pid) == -1 && rc == 0)
		rc = errstr_set("cannot make images");
	if (rc == 0 && command->len == 0)
		rc = errstr_set("the snapshot has no single process tree "
		    "to restore");
	if (rc == 0 && strncmp((char *)command->data, detached,
	    sizeof detached - 1) != 0)
		rc = errstr_set("the processes use a terminal, and there is "
		    "none here");
	return rc;
}

/*
 * Start the criu command in the buffer command, with this program as its action
 * script. Return 0, or -1 with errstr set.
 */
static int
criu_start(const struct buf *command)
{
	struct buf b = { 0 };
	int said[2], go[2], rc;
	size_t i;

	if (pipe2(said, O_CLOEXEC) == -1 || pipe2(go, O_CLOEXEC) == -1)
		return errstr_sys("criu");
	job.said = said[0];
	job.go = go[1];
	buf_printf(&b, "%s=%d:%d:%d exec %.*s --action-script /proc/%d/exe "
	    "-v1 -o restore.log --pidfile root.pid", variable, getpid(),
	    said[1], go[0],
	    (int)strcspn((const char *)command->data, "\n"),
	    (const char *)command->data, getpid());
	buf_add(&b, "", 1);
	rc = buf_check(&b);
	if (rc == 0 && (job.criu = fork()) == -1)
		rc = errstr_sys("criu");
	if (rc == 0 && job.criu == 0) {
		/* criu ends by itself, when the action script fails */
		for (i = 0; i < sizeof ending / sizeof *ending; i++)
			signal(ending[i], SIG_IGN);
		(void)dup2(job.null, STDIN_FILENO);
		(void)dup2(job.null, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", (char *)b.data, (char *)NULL);
		_exit(127);
	}
	buf_free(&b);
	return rc;
}

/*
 * Set errstr to the first error in the log of criu. Skip an error after which
 * criu continues.
 */
static void
criu_why(void)
{
	char path[PATH_MAX], line[400];
	const char *s;
	FILE *f;

	errstr_set("criu restore failed");
	if ((size_t)snprintf(path, sizeof path, "%s/restore.log", job.dir) >=
	    sizeof path || (f = fopen(path, "re")) == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL)
		if ((s = strstr(line, "Error (")) != NULL &&
		    strstr(s, "RLIMIT_NOFILE for self") == NULL) {
			line[strcspn(line, "\n")] = '\0';
			errstr_set("criu: %s", s);
			break;
		}
	fclose(f);
}

/*
 * Kill all processes that criu left behind when it failed. They are our
 * children, since PR_SET_CHILD_SUBREAPER is set.
 */
static void
rest_kill(void)
{
	char path[64];
	FILE *f;
	int pid;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	do {
		if ((f = fopen(path, "re")) == NULL)
			return;
		while (fscanf(f, "%d", &pid) == 1)
			(void)kill(pid, SIGKILL);
		fclose(f);
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

/*
 * Return the time since boot in ms, including time in which the machine was
 * suspended.
 */
static uint64_t
boot_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/*
 * Wait until fd, which is the pipe from the action script or standard input,
 * can be read. Return 0, or -1 with errstr set if criu or the connection ends
 * before that, or if the time until, as returned by boot_ms(), has passed.
 */
static int
input_await(int fd, uint64_t until)
{
	struct pollfd p[2] = { { .fd = job.said, .events = POLLIN },
	    { .fd = STDIN_FILENO, .events = POLLIN } };

	for (;;) {
		if (waitpid(job.criu, NULL, WNOHANG) != 0) {
			job.criu = 0;
			criu_why();
			return -1;
		}
		if (boot_ms() > until)
			return errstr_set("no permission to resume in time");
		if (poll(p, 2, 100) <= 0)
			continue;
		if (fd == job.said && p[0].revents & POLLIN)
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
go_await(void)
{
	uint64_t until;
	char letter;
	size_t n;
	int rc;

	if (input_await(job.said, UINT64_MAX) == -1)
		return -1;
	if (read(job.said, &letter, 1) != 1)
		return errstr_sys("action script");
	answer("restored");
	/* the other side gives up later than that */
	until = boot_ms() + GO_MS;
	if (input_await(STDIN_FILENO, until) == -1 ||
	    (rc = frame_read(STDIN_FILENO, &letter, job.data, &n)) == -1)
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
root_lives(void)
{
	struct status st;
	char path[PATH_MAX];
	FILE *f;
	int pid;

	if ((size_t)snprintf(path, sizeof path, "%s/root.pid", job.dir) >=
	    sizeof path || (f = fopen(path, "re")) == NULL)
		return false;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	return status_read(pid, &st) && st.state != 'Z' && st.state != 'X';
}

enum outcome {
	RUNNING,	/* the processes run */
	UNDONE,		/* the processes executed nothing, and are gone */
	UNKNOWN		/* the processes may have run */
};

/*
 * Restore the images with the criu command in the buffer command. Resume the
 * processes when the other side permits it. Return the outcome, with errstr set
 * unless the processes run.
 */
static enum outcome
restore(const struct buf *command)
{
	struct pollfd resumed = { .events = POLLIN };
	int status;

	if (criu_start(command) == -1)
		return UNDONE;
	if (go_await() == -1 || write(job.go, "", 1) != 1) {
		close(job.go);	/* this makes the action script fail */
		if (job.criu != 0)
			(void)child_wait(job.criu);
		return UNDONE;
	}
	while (waitpid(job.criu, &status, 0) == -1 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		if (root_lives())
			return RUNNING;
		errstr_set("the process ended when it was resumed");
		return UNKNOWN;
	}
	criu_why();
	/* criu runs the action script again right before it resumes them; if
	   it exits with an error before that, it has killed them */
	resumed.fd = job.said;
	return WIFEXITED(status) && poll(&resumed, 1, 0) == 0 ? UNDONE :
	    UNKNOWN;
}

/*
 * Remove the files in the directory at path, which may have one level of
 * subdirectories, and the directory if it is temporary.
 */
static void
dir_clear(const char *path, bool temporary)
{
	char sub[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL)
		if (unlinkat(dirfd(d), e->d_name, 0) == -1 &&
		    errno == EISDIR && *e->d_name != '.' &&
		    (size_t)snprintf(sub, sizeof sub, "%s/%s", path,
		    e->d_name) < sizeof sub)
			dir_clear(sub, true);
	closedir(d);
	if (temporary)
		(void)rmdir(path);
}

/*
 * Set job.dir to dir. Create that directory if it does not exist; it must be
 * empty. If dir is NULL, create a temporary directory, and store its path in
 * path, which has room for PATH_MAX bytes. Return 0, or -1 with errstr set.
 */
static int
dir_make(const char *dir, char *path)
{
	const char *below = getenv("TMPDIR");
	struct dirent *e;
	DIR *d;
	int n = 0;

	if (dir == NULL) {
		snprintf(path, PATH_MAX, "%s/snapload.XXXXXX",
		    below != NULL ? below : "/tmp");
		job.dir = path;
		return mkdtemp(path) != NULL ? 0 : errstr_sys("%s", path);
	}
	job.dir = dir;
	if ((mkdir(dir, 0700) == -1 && errno != EEXIST) ||
	    (d = opendir(dir)) == NULL)
		return errstr_sys("%s", dir);
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n == 0 ? 0 : errstr_set("%s: not an empty directory", dir);
}

/*
 * Create the directory of the images as dir_make() does, and its subdirectory
 * for early copies of memory. Return 0, or -1 with errstr set.
 */
static int
dirs_make(const char *dir, char *path)
{
	char sub[PATH_MAX];

	if (dir_make(dir, path) == -1)
		return -1;
	if ((size_t)snprintf(sub, sizeof sub, "%s/early", job.dir) >=
	    sizeof sub || mkdir(sub, 0700) == -1)
		return errstr_sys("%s", job.dir);
	return 0;
}

/*
 * Handle a signal that asks us to end: end the input, and thus the move.
 */
static void
on_end(int sig)
{
	const int saved = errno;

	(void)sig;
	(void)dup2(job.null, STDIN_FILENO);
	errno = saved;
}

/*
 * Receive and restore the processes; make() makes their images. Return the
 * outcome, with errstr set unless the processes run.
 */
static enum outcome
move(int (*make)(const char *))
{
	struct buf command = { 0 };
	enum outcome end = UNDONE;

	if (question_check() == 0) {
		answer("ready");
		if (images_receive(make, &command) == 0)
			end = restore(&command);
	}
	buf_free(&command);
	return end;
}

/*
 * Receive processes from standard input and restore them. make() writes their
 * images to dir or, if dir is NULL, to a temporary directory. Return the exit
 * status.
 */
int
receive(const char *dir, int (*make)(const char *))
{
	enum outcome end = UNDONE;
	char temporary[PATH_MAX];
	pthread_t thread;
	bool made;
	size_t i;

	job.data = must(malloc(MAX_FRAME));
	if ((job.null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1)
		err(1, "/dev/null");
	for (i = 0; i < sizeof ending / sizeof *ending; i++)
		if (signal(ending[i], SIG_IGN) != SIG_IGN)
			signal(ending[i], on_end);
	signal(SIGPIPE, SIG_IGN);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if ((errno = worker_start(&thread, beat, NULL)) != 0)
		err(1, "cannot start a thread");
	made = dirs_make(dir, temporary) == 0;
	if (made)
		end = move(make);
	if (end == RUNNING)
		answer("running");
	else
		refuse(end == UNDONE);
	if (end == UNDONE)
		rest_kill();
	if (made && (dir == NULL || end == UNDONE))
		dir_clear(job.dir, dir == NULL);
	free(job.data);
	return end == RUNNING ? 0 : 1;
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
