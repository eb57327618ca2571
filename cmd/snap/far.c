/*
 * The far side of a move (--to): a command that reaches "snapload --receive"
 * with its input and output. The snapshot goes there in frames (io/frame.c).
 * The command answers in lines; snap-internals(7) lists them. A thread reads
 * the lines. If none comes for ten seconds, it shuts down the socket to the
 * command, so that a write to a dead connection fails, and kills the command.
 */
#include "job.h"
#include "bisect.h"
#include "clock.h"
#include "worker.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
	SILENCE_MS = 10000,	/* how long the command may be silent */
	LONG_MS = 5000,		/* time for restoring the processes before a
				   message is printed */
	RESUME_MS = 60000,	/* time limit for resuming the processes */
	END_MS = 10000		/* time limit for the command to end */
};

struct far {
	pid_t		 pid;	/* the shell that runs the command */
	int		 fd;	/* owned; socket to the command */
	pthread_t	 thread; /* thread that reads fd */
	_Atomic uint64_t ended;	/* time in ms when far_end() was called, or 0 */
	atomic_bool	 undone; /* the processes have not run there */
	atomic_bool	 ran;	/* they may have run there, and are gone */
	atomic_bool	 went;	/* the far side may resume the processes */
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
	static const struct word {
		const char	*word;
		enum answer	 answer;
	} words[] = {
		{ "alive", ANSWER_NONE }, { "ready", ANSWER_READY },
		{ "restored", ANSWER_RESTORED },
		{ "resumed", ANSWER_RESUMED }, { "running", ANSWER_RUNNING }
	};
	const struct {		/* the answers that end a move */
		const char	*word;
		atomic_bool	*flag;	/* set by the answer, or NULL */
	} ends[] = {
		{ "failed ", NULL }, { "ran ", &f->ran },
		{ "undone ", &f->undone }
	}, *e;
	const struct word *w;
	char text[sizeof f->why];

	e = SEEK_IN(ends, strncmp(line, x->word, strlen(x->word)) == 0);
	if (e != NULL) {
		if (e->flag != NULL)
			*e->flag = true;
		far_fail(f, line + strlen(e->word));
		return;
	}
	if ((w = SEEK_IN(words, strcmp(line, x->word) == 0)) == NULL) {
		snprintf(text, sizeof text, "--to: expected an answer of "
		    "\"snapload --receive\", received \"%.80s\"", line);
		far_fail(f, text);
		return;
	}
	if (w->answer == ANSWER_NONE)
		return;
	/* a program other than snapload must not make us kill the processes */
	if (w->answer != f->last + 1 ||
	    (w->answer >= ANSWER_RESUMED && !f->went)) {
		snprintf(text, sizeof text, "--to: unexpected answer \"%.80s\"",
		    line);
		far_fail(f, text);
		return;
	}
	pthread_mutex_lock(&f->lock);
	f->last = w->answer;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Wait until the far side writes something, and read one byte of it into *c.
 * heard is the time in ms, as returned by now_ms(), when the last line of the
 * far side came. Return false at the end of its output, or if it has been
 * silent for too long since then. Before its first answer, the far side may be
 * silent for any time, unless the move is ending: somebody may have to type a
 * password.
 */
static bool
far_byte(struct far *f, char *c, uint64_t heard)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	bool late;
	ssize_t n;
	int rc;

	for (;;) {
		/* before the time is compared: we may have been suspended */
		rc = poll(&p, 1, 500);
		/* after the move, a command that writes on is ended as well */
		late = f->ended != 0 && now_ms() - f->ended > SILENCE_MS;
		if (rc > 0 && !late &&
		    ((n = read(f->fd, c, 1)) != -1 || errno != EINTR))
			return n == 1;
		if (late || ((f->ended != 0 || heard != 0) &&
		    now_ms() - heard > SILENCE_MS)) {
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
	uint64_t heard = 0;
	size_t n = 0;
	char c;

	while (n < sizeof line && far_byte(f, &c, heard)) {
		line[n++] = c;
		if (c != '\n')
			continue;
		line[n - 1] = '\0';
		n = 0;
		if (f->ended == 0)
			heard = now_ms();
		far_line(f, line);
	}
	far_fail(f, n == sizeof line ? "--to: an answer is too long" :
	    "--to: the command has ended");
	return NULL;
}

/*
 * In the child: run command with a shell. fd is its standard input and output.
 */
static void __attribute__((noreturn))
far_exec(const char *command, int fd)
{
	static const int none[] = { SIGHUP, SIGINT, SIGQUIT, SIGTSTP };
	static const int usual[] = { SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU,
	    SIGXFSZ };
	sigset_t set;
	size_t i;

	/* a signal from the terminal is for us: when we end, the input of the
	   command ends */
	for (i = 0; i < sizeof none / sizeof *none; i++)
		signal(none[i], SIG_IGN);
	for (i = 0; i < sizeof usual / sizeof *usual; i++)
		signal(usual[i], SIG_DFL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
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
	pthread_condattr_t attr;
	struct far *f;
	int fd[2];

	f = must(calloc(1, sizeof *f));
	pthread_mutex_init(&f->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&f->changed, &attr);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == -1 ||
	    (f->pid = fork()) == -1)
		err(1, "--to");
	if (f->pid == 0)
		far_exec(command, fd[1]);
	close(fd[1]);
	f->fd = fd[0];
	if (dup2(fd[0], STDOUT_FILENO) == -1)
		err(1, "--to");
	if ((errno = worker_start(&f->thread, far_read, f)) != 0)
		err(1, "--to");
	return f;
}

/*
 * Return true if a blocked signal that asks us to end is pending. The kernel
 * also keeps blocked signals that are ignored; these do not count.
 */
static bool
is_interrupted(void)
{
	static const int asks[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa;
	sigset_t s;
	size_t i;

	if (sigpending(&s) == -1)
		return false;
	for (i = 0; i < sizeof asks / sizeof *asks; i++)
		if (sigismember(&s, asks[i]) == 1 && sigaction(asks[i], NULL,
		    &sa) == 0 && sa.sa_handler != SIG_IGN)
			return true;
	return false;
}

/*
 * Wait until the far side has sent the given answer or a later one. If it needs
 * more than LONG_MS to restore the processes, print a message. Return 0, or -1
 * with errstr set if it has failed, or has not resumed the processes within
 * RESUME_MS, or if a signal comes while it fills their memory.
 */
int
far_await(struct far *f, enum answer answer)
{
	struct timespec until;
	int naps, rc = 0;

	pthread_mutex_lock(&f->lock);
	for (naps = 0; f->last < answer && rc == 0; naps++) {
		/* naps count: time also passes while we are suspended */
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec++;
		(void)pthread_cond_timedwait(&f->changed, &f->lock, &until);
		if (f->last >= answer)
			break;
		if (answer == ANSWER_RESTORED && naps + 1 == LONG_MS / 1000)
			progress_say("the processes stay stopped until the far "
			    "side has restored them");
		if (answer == ANSWER_RESUMED && naps + 1 >= RESUME_MS / 1000)
			rc = errstr_set("--to: no answer in %d seconds",
			    RESUME_MS / 1000);
		if (answer == ANSWER_RUNNING && is_interrupted())
			rc = errstr_set("--to: interrupted by a signal");
	}
	if (f->last == ANSWER_FAILED)
		rc = errstr_set("%s", f->why);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/*
 * Return 0, or -1 with errstr set if the far side has failed.
 */
int
far_check(struct far *f)
{
	return f == NULL || f->last != ANSWER_FAILED ? 0 : far_await(f,
	    ANSWER_FAILED);
}

/*
 * Permit the far side to resume the processes. Return 0, or -1 with errstr set
 * if the far side cannot have received the permission.
 */
int
far_go(struct far *f)
{
	f->went = true;
	if (frame_write(f->fd, FRAME_GO, NULL, 0) == 0)
		return 0;
	f->went = false;
	return errstr_sys("--to");
}

/*
 * Return true if the far side may have resumed the processes.
 */
bool
far_went(const struct far *f)
{
	return f->went && !f->undone;
}

/*
 * Return true if the processes may have run on the far side, and do not exist
 * there.
 */
bool
far_ran(const struct far *f)
{
	return far_went(f) && f->ran;
}

/*
 * After an error, if the far side fails within a second, set errstr to the
 * reason why it failed.
 */
void
far_wrap(struct far *f)
{
	const uint64_t until = now_ms() + 1000;

	while (f->last != ANSWER_FAILED && now_ms() < until)
		nap_us(1000);
	(void)far_check(f);
}

/*
 * Wait until process pid, a child, has ended. Kill it after END_MS.
 */
static void
child_end(pid_t pid)
{
	const uint64_t until = now_ms() + END_MS;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (now_ms() > until)
			(void)kill(pid, SIGKILL);
		nap_us(1000);
	}
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
	f->ended = now_ms();
	(void)shutdown(f->fd, SHUT_WR);
	pthread_join(f->thread, NULL);
	child_end(f->pid);
	close(f->fd);
	free(f);
}

/*
 * Ask the far side, before anything is stopped, whether it can receive the
 * processes of l. early is true if their memory will be copied early. Return 0,
 * or -1 with errstr set if it cannot.
 */
int
far_ask(struct far *f, struct live *l, bool early)
{
	struct buf b = { 0 };
	int rc;

	if ((rc = question_make(&b, l, early)) == 0 &&
	    (frame_write(STDOUT_FILENO, FRAME_QUESTION, b.data, b.len) == -1 ||
	    frame_write(STDOUT_FILENO, FRAME_QUESTION, NULL, 0) == -1))
		rc = errstr_sys("--to");
	buf_free(&b);
	return rc == -1 ? -1 : far_await(f, ANSWER_READY);
}
