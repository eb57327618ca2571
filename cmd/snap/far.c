/*
 * The far side of a move (--to): a command that reaches "snapload --receive"
 * with its input and output. The snapshot goes there in frames (io/frame.c).
 * The command answers in lines; snap-internals(7) lists them. A thread reads
 * the lines. If none comes for ten seconds, it shuts down the socket to the
 * command, so that a write to a dead connection fails, and kills the command.
 */
#include "job.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SILENCE_S = 10 };	/* seconds of silence before giving up */

struct far {
	pid_t		 pid;	/* the shell that runs the command */
	int		 fd;	/* owned; socket to the command */
	pthread_t	 thread; /* thread that reads fd */
	atomic_bool	 ending; /* far_end() was called */
	pthread_mutex_t	 lock;	/* protects the members below */
	pthread_cond_t	 changed;
	_Atomic enum answer last; /* last answer received */
	char		 why[512]; /* reason for ANSWER_FAILED */
};

/*
 * Record that no more answers will come, and why. Make writes to the far side
 * fail. Record nothing if the far side has failed before or has sent its last
 * answer.
 */
static void
far_fail(struct far *f, const char *why)
{
	pthread_mutex_lock(&f->lock);
	if (f->last < ANSWER_RUNNING) {
		strlcpy(f->why, why, sizeof f->why);
		f->last = ANSWER_FAILED;
	}
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	(void)shutdown(f->fd, SHUT_WR);
}

/*
 * Handle a line of the far side.
 */
static void
far_line(struct far *f, const char *line)
{
	static const struct {
		const char	*word;
		enum answer	 answer;
	} words[] = {
		{ "alive", ANSWER_NONE }, { "ready", ANSWER_READY },
		{ "restored", ANSWER_RESTORED }, { "running", ANSWER_RUNNING }
	};
	char text[sizeof f->why];
	size_t i;

	if (strncmp(line, "failed ", 7) == 0) {
		far_fail(f, line + 7);
		return;
	}
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(line, words[i].word) == 0)
			break;
	if (i == sizeof words / sizeof *words) {
		snprintf(text, sizeof text, "--to: expected an answer of "
		    "\"snapload --receive\", received \"%.80s\"", line);
		far_fail(f, text);
		return;
	}
	pthread_mutex_lock(&f->lock);
	if (words[i].answer > f->last)
		f->last = words[i].answer;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Wait until the far side writes something, and read one byte of it into *c.
 * Return false at the end of its output, or if it was silent for too long.
 * Before its first answer it may be silent for any time, unless the move is
 * ending: somebody may have to type a password.
 */
static bool
far_byte(struct far *f, char *c)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	int silent = 0;
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, 1000) > 0 &&
		    ((n = read(f->fd, c, 1)) != -1 || errno != EINTR))
			return n == 1;
		silent += f->ending || f->last != ANSWER_NONE;
		if (silent > SILENCE_S) {
			far_fail(f, "--to: the command is silent for more "
			    "than 10 seconds");
			(void)kill(f->pid, SIGKILL);
			return false;
		}
	}
}

/*
 * Read the answers of the far side until they end. This is the main function of
 * a thread; far is a struct far.
 */
static void *
far_read(void *far)
{
	struct far *f = far;
	char line[sizeof f->why];
	size_t n = 0;
	char c;

	while (far_byte(f, &c))
		if (c != '\n') {
			if (n < sizeof line - 1)
				line[n++] = c;
		} else {
			line[n] = '\0';
			n = 0;
			far_line(f, line);
		}
	far_fail(f, "--to: the command has ended");
	return NULL;
}

/*
 * In the child: run command with a shell. fd is its standard input and output.
 */
static void __attribute__((noreturn))
far_exec(const char *command, int fd)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	signal(SIGTTIN, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	if (dup2(fd, STDIN_FILENO) != -1 && dup2(fd, STDOUT_FILENO) != -1)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/*
 * Run command, and make standard output a socket that is connected to it.
 * Return the far side, or NULL with errstr set.
 */
struct far *
far_begin(const char *command)
{
	struct far *f;
	int fd[2];

	f = must(calloc(1, sizeof *f));
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == -1 ||
	    (f->pid = fork()) == -1)
		err(1, "--to");
	if (f->pid == 0)
		far_exec(command, fd[1]);
	close(fd[1]);
	f->fd = fd[0];
	if (dup2(fd[0], STDOUT_FILENO) == -1)
		err(1, "--to");
	if ((errno = pthread_create(&f->thread, NULL, far_read, f)) != 0)
		err(1, "--to");
	return f;
}

/*
 * Wait until the far side has sent the given answer or a later one. Return 0,
 * or -1 with errstr set if it has failed.
 */
int
far_await(struct far *f, enum answer answer)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	while (f->last < answer)
		pthread_cond_wait(&f->changed, &f->lock);
	rc = f->last == ANSWER_FAILED ? errstr_set("%s", f->why) : 0;
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/*
 * After an error, if the far side has failed, set errstr to the reason why it
 * failed.
 */
void
far_wrap(struct far *f)
{
	pthread_mutex_lock(&f->lock);
	if (f->last == ANSWER_FAILED)
		errstr_set("%s", f->why);
	pthread_mutex_unlock(&f->lock);
}

/*
 * End the far side, and free f, which may be NULL. The far side then sees the
 * end of its input. Unless the processes run there, it kills those that it has
 * restored.
 */
void
far_end(struct far *f)
{
	if (f == NULL)
		return;
	f->ending = true;
	(void)shutdown(f->fd, SHUT_WR);
	pthread_join(f->thread, NULL);
	while (waitpid(f->pid, NULL, 0) == -1 && errno == EINTR)
		continue;
	close(f->fd);
	free(f);
}

/*
 * Ask the far side, before anything is stopped, whether it can receive the
 * processes of l. Return 0, or -1 with errstr set if it cannot.
 */
int
far_ask(struct far *f, struct live *l)
{
	struct buf b = { 0 };
	int rc;

	if ((rc = question_make(&b, l)) == 0 &&
	    (frame_write(STDOUT_FILENO, FRAME_QUESTION, b.data, b.len) == -1 ||
	    frame_write(STDOUT_FILENO, FRAME_QUESTION, NULL, 0) == -1))
		rc = errstr_sys("--to");
	buf_free(&b);
	if (rc == -1) {
		far_wrap(f);
		return -1;
	}
	return far_await(f, ANSWER_READY);
}
