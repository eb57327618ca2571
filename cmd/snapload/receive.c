/*
 * Receive a move (--receive): the other side is "snap --to". It sends frames
 * (io/frame.c) to standard input, and reads lines from standard output;
 * snap-internals(7) lists both. A child makes images of the snapshot, as
 * snapload does without --receive. Then criu(8) restores them.
 */
#include "receive.h"
#include "full.h"
#include "worker.h"

#include "common/common.h"

#include <sys/prctl.h>

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const char detached[] = "criu restore -d ";
static int devnull;		/* descriptor of /dev/null, for on_end() */

/*
 * Make the images, as the child process, and exit. make() reads the snapshot
 * from the pipe at in, and writes the command that restores the images to the
 * pipe at out.
 */
static void __attribute__((noreturn))
images_make(struct receiving *r, make_fn make, const int in[2],
    const int out[2])
{
	if (dup2(in[0], STDIN_FILENO) == -1 ||
	    dup2(out[1], STDOUT_FILENO) == -1)
		_exit(1);
	/* otherwise we would not see the end of our input */
	close(in[1]);
	_exit(make(r->dir, r->canlazy) == 0 ? 0 : 1);
}

/*
 * Copy the snapshot from the frames on standard input to fd, for process pid.
 * If the snapshot is cut, kill this process. Return 0, or -1 with errstr set.
 */
static int
snapshot_copy(struct receiving *r, int fd, pid_t pid)
{
	char letter;
	size_t n;
	int rc;

	while ((rc = frame_read(STDIN_FILENO, &letter, r->data, &n)) == 1) {
		if (letter == FRAME_END)
			return 0;
		if (letter == FRAME_RUN && n < MAX_FRAME) {
			r->data[n] = '\0';
			if (refer_write(fd, (char *)r->data) == -1)
				return -1;
			continue;
		}
		if (letter != FRAME_DATA)
			return errstr_set("standard input: expected the "
			    "snapshot, found a frame of type %d", letter);
		if (full_write(fd, r->data, n) == -1)
			return errstr_sys("cannot make images");
	}
	/* otherwise it would report what the snapshot lacks, as if that were
	   the reason */
	(void)kill(pid, SIGKILL);
	return rc == -1 ? -1 : errstr_set("the connection ended within the "
	    "snapshot");
}

/*
 * Return true if the buffer command contains text.
 */
static bool
command_has(const struct buf *command, const char *text)
{
	return memmem(command->data, command->len, text, strlen(text)) != NULL;
}

/*
 * Check that the criu command in the buffer command needs nothing that criu
 * would have to get from us: a terminal, or standard streams. Return 0, or -1
 * with errstr set.
 */
static int
command_check(const struct receiving *r, const struct buf *command)
{
	if (command->len == 0)
		return errstr_set("the snapshot has no single process tree to "
		    "restore");
	if (strncmp((char *)command->data, detached, sizeof detached - 1) != 0)
		return errstr_set("the processes use a terminal, and there is "
		    "none here");
	if (!command_has(command, " --inherit-fd "))
		return 0;
	if (!r->stdnull)
		return errstr_set("standard streams lead out of the snapshot, "
		    "and there are none here (snapload --stdio-null replaces "
		    "pipes by /dev/null)");
	return !command_has(command, "]:socket:[") ? 0 : errstr_set("a "
	    "standard stream is a socket, which /dev/null cannot replace");
}

/*
 * Have make() make images of the snapshot on standard input. Append to the
 * buffer command the criu command that restores them. Return 0, or -1 with
 * errstr set.
 */
static int
images_receive(struct receiving *r, make_fn make,
    struct buf *command)
{
	int in[2], out[2], rc;
	char part[4096];
	ssize_t n;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1 ||
	    (pid = fork()) == -1)
		return errstr_sys("cannot make images");
	if (pid == 0)
		images_make(r, make, in, out);
	close(in[0]);
	close(out[1]);
	rc = snapshot_copy(r, in[1], pid);
	close(in[1]);
	while ((n = read(out[0], part, sizeof part)) > 0)
		buf_add(command, part, (size_t)n);
	close(out[0]);
	/* its message says why */
	if (child_wait(pid) == -1 && rc == 0)
		rc = errstr_set("cannot make images");
	return rc == 0 ? command_check(r, command) : rc;
}

/*
 * Open directory name, relative to the descriptor at, for listing. Return NULL
 * with errno set on failure.
 */
static DIR *
dir_list(int at, const char *name)
{
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);

	return fd == -1 ? NULL : fdopendir(fd);
}

/*
 * Remove the files in directory name, relative to the descriptor at.
 */
static void
dir_clear(int at, const char *name)
{
	struct dirent *e;
	DIR *d;

	if ((d = dir_list(at, name)) == NULL)
		return;
	while ((e = readdir(d)) != NULL)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

/*
 * Remove all that is in the directory of the images, and the directory itself
 * if it is temporary. Somebody may have given its name to another directory.
 */
static void
dirs_clear(struct receiving *r, bool temporary)
{
	dir_clear(r->fd, EARLY_DIR);
	(void)unlinkat(r->fd, EARLY_DIR, AT_REMOVEDIR);
	dir_clear(r->fd, ".");
	if (temporary)
		(void)rmdir(r->dir);
}

/*
 * Open the directory r->dir, which must be empty, and create its subdirectory
 * for early copies of memory. Return 0, or -1 with errstr set.
 */
static int
dir_begin(struct receiving *r)
{
	struct dirent *e;
	DIR *d;
	int n = 0;

	if ((r->fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    (d = dir_list(r->fd, ".")) == NULL)
		return errstr_sys("%s", r->dir);
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0;
	closedir(d);
	if (n > 0)
		return errstr_set("%s: not an empty directory", r->dir);
	return mkdirat(r->fd, EARLY_DIR, 0700) == 0 ? 0 :
	    errstr_sys("%s", r->dir);
}

/*
 * Set r->dir to dir. Create that directory if it does not exist; it must be
 * empty. If dir is NULL, create a temporary directory, and store its path in
 * path, which has room for PATH_MAX bytes. Return 0, or -1 with errstr set.
 */
static int
dir_make(struct receiving *r, const char *dir, char *path)
{
	const char *below = getenv("TMPDIR");

	if (dir != NULL) {
		r->dir = dir;
		if (outdir_check(dir, true) == -1)
			return -1;
		(void)mkdir(dir, 0700);
		return dir_begin(r);
	}
	snprintf(path, PATH_MAX, "%s/snapload.XXXXXX",
	    below != NULL ? below : "/tmp");
	r->dir = path;
	if (mkdtemp(path) == NULL)
		return errstr_sys("%s", path);
	if (dir_begin(r) == 0)
		return 0;
	(void)rmdir(path);
	return -1;
}

/*
 * Handle a signal that asks us to end: end the input, and thus the move.
 */
static void
on_end(int sig)
{
	const int saved = errno;

	(void)sig;
	(void)dup2(devnull, STDIN_FILENO);
	errno = saved;
}

/*
 * Receive and restore the processes; make() makes their images. Return the
 * outcome, with errstr set unless it is RUNNING.
 */
static enum outcome
move(struct receiving *r, make_fn make)
{
	struct buf command = { 0 };
	enum outcome end = UNDONE;

	if (question_check(r) == 0) {
		answer("ready");
		if (images_receive(r, make, &command) == 0)
			end = restore(r, &command);
	}
	buf_free(&command);
	return end;
}

/*
 * Receive processes from standard input and restore them. make() writes their
 * images to dir or, if dir is NULL, to a temporary directory. If stdnull is
 * set, standard streams that are pipes and lead out of the snapshot become
 * /dev/null; otherwise there must be none. Return the exit status.
 */
int
receive(const char *dir, make_fn make, bool stdnull)
{
	struct receiving r = { .dir = NULL, .stdnull = stdnull };
	enum outcome end = UNDONE;
	char temporary[PATH_MAX];
	pthread_t thread;
	bool made;
	size_t i;

	r.data = must(malloc(MAX_FRAME));
	if ((devnull = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1)
		err(1, "/dev/null");
	r.null = devnull;
	for (i = 0; i < sizeof ending / sizeof *ending; i++)
		if (signal(ending[i], SIG_IGN) != SIG_IGN)
			signal(ending[i], on_end);
	signal(SIGPIPE, SIG_IGN);
	/* if it is ignored, waitpid(2) finds no child */
	signal(SIGCHLD, SIG_DFL);
	rest_begin();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if ((errno = worker_start(&thread, beat, NULL)) != 0)
		err(1, "cannot start a thread");
	made = dir_make(&r, dir, temporary) == 0;
	if (made)
		end = move(&r, make);
	if (end == RUNNING)
		answer("running");
	else
		refuse(end);
	if (end == UNDONE)
		rest_kill();
	if (made && (dir == NULL || end == UNDONE))
		dirs_clear(&r, dir == NULL);
	free(r.data);
	return end == RUNNING ? 0 : 1;
}
