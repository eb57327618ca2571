/*
 * The helper of a confined program: an unconfined process, started before the
 * first byte of input is read, which does the few things that the program may
 * not. Requests come over a socket (io/helper.c); each begins with a letter:
 *
 *	E path	open a regular ELF file for reading (the executable of a core)
 *	S	create a temporary file without a name
 *	N path	create a file under the name given for the program's output,
 *		for writing; one at a time
 *	F	finish that file: give it its name
 *	D	drop that file: leave nothing of it
 *	A	call act of struct confined, once
 *
 * When the program ends in any way, so does the helper, which removes an
 * unfinished file.
 */
#include "confine.h"
#include "io/io.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { LOOK = 100000 }; /* microseconds between checks that the program is still
			   running */

/*
 * State of the helper.
 */
static struct {
	const struct confined *c;	/* borrowed */
	pid_t		 program;
	bool		 made; /* c->outdir was created for the program */
	struct newfile	 file;
	bool		 open;		/* the member "file" is in use */
	bool		 acted;
} job;

/*
 * Exit if the confined program has ended. A timer calls this while a request
 * may block.
 */
static void
on_alarm(int sig)
{
	(void)sig;
	if (getppid() != job.program)
		_exit(1);
}

static int
job_elf(const char *path)
{
	int fd;

	if ((fd = regular_open(path)) == -1)
		return -1;
	if (regular_iself(fd) == 1)
		return fd;
	close(fd);
	return errstr_set("%s: not an ELF file", path);
}

/*
 * Return true if path is the name of the output. If there may be several
 * outputs, path may also be that name with a suffix, as in NAME.812 or
 * NAME.812.2.
 */
static bool
is_output(const struct confined *c, const char *path)
{
	size_t n;

	if (c->out == NULL)
		return false;
	n = strlen(c->out);
	return strncmp(path, c->out, n) == 0 && (path[n] == '\0' ||
	    (c->many && path[n] == '.' &&
	    path[n + strspn(path + n, ".0123456789")] == '\0'));
}

static void
job_drop(void)
{
	if (job.open)
		newfile_close(&job.file);
	job.open = false;
}

/*
 * Create the output file at path. Opening a fifo waits for a reader; meanwhile
 * a timer checks that the confined program is still running.
 */
static int
job_create(const char *path)
{
	const struct itimerval look = { { 0, LOOK }, { 0, LOOK } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	int fd;

	if (job.open || !is_output(job.c, path))
		return errstr_set("%s: not an output of this program", path);
	setitimer(ITIMER_REAL, &look, NULL);
	job.open = newfile_open(&job.file, path) == 0;
	setitimer(ITIMER_REAL, &never, NULL);
	if (!job.open)
		return -1;
	if ((fd = fcntl(job.file.fd, F_DUPFD_CLOEXEC, 3)) == -1) {
		errstr_sys("%s", path);
		job_drop();
	}
	return fd;
}

/*
 * Carry out the request that letter selects, with argument path. Set *rc to the
 * result, or to -1 with errstr set on failure. Return the descriptor that the
 * request yields, or -1 if there is none.
 */
static int
job_do(char letter, const char *path, int *rc)
{
	int fd;

	fd = -1;
	*rc = -1;
	switch (letter) {
	case 'E':
		fd = job_elf(path);
		break;
	case 'S':
		fd = spool_file();
		break;
	case 'N':
		fd = job_create(path);
		break;
	case 'A':	/* only once */
		if (!job.acted && job.c->act != NULL)
			fd = job.c->act(job.c->arg);
		job.acted = true;
		*rc = fd == -1;
		return fd;
	case 'F':
		if (job.open)
			*rc = newfile_finish(&job.file);
		return -1;
	case 'D':
		job_drop();
		*rc = 0;
		return -1;
	default:
		return -1;
	}
	*rc = fd == -1 ? -1 : letter == 'N' && newfile_isnew(&job.file);
	return fd;
}

static void __attribute__((noreturn))
work(int sock)
{
	static char q[PATH_MAX + 1];
	struct helper_answer a;
	const struct iovec v = { .iov_base = &a, .iov_len = sizeof a };
	ssize_t n;
	int fd;

	while ((n = recv(sock, q, sizeof q - 1, 0)) > 0) {
		q[n] = '\0';
		memset(&a, 0, sizeof a);
		errno = 0;
		errstr_set("%s", "");
		fd = job_do(q[0], q + 1, &a.rc);
		a.error = errno;
		strlcpy(a.why, snap_errstr(), sizeof a.why);
		n = passfd_send(sock, &v, 1, fd);
		fd_drop(fd);
		if (n == -1)
			break;
	}
	job_drop();
	if (job.made)
		(void)rmdir(job.c->outdir);	/* fails unless the directory is
						   empty */
	if (job.acted && job.c->undo != NULL)
		job.c->undo(job.c->arg);
	_exit(0);
}

/*
 * Run the helper. Of the descriptors inherited from the program, close all but
 * the socket: readers of the program's pipes must see end of file when the
 * program ends. If struct confined has an act(), also keep standard error, for
 * the messages of act().
 */
static void __attribute__((noreturn))
job_main(int sock)
{
	struct sigaction sa = { .sa_handler = on_alarm,
	    .sa_flags = SA_RESTART };
	sigset_t all;
	int fd;

	sigaction(SIGALRM, &sa, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sock = dup2(sock, STDERR_FILENO + 1);
	closefrom(sock + 1);
	(void)fcntl(sock, F_SETFD, FD_CLOEXEC);
	if ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) != -1) {
		(void)dup2(fd, STDIN_FILENO);
		(void)dup2(fd, STDOUT_FILENO);
		if (job.c->act == NULL)
			(void)dup2(fd, STDERR_FILENO);
		close(fd);
	}
	if (job.c->act == NULL)
		caps_drop_helper();
	work(sock);
}

/*
 * Start the helper for the program that c confines. The helper ends when the
 * program does. If made is set, c->outdir was created for the program; at the
 * end the helper removes this directory if it is empty. Return 0, or -1 with
 * errno set.
 */
int
helperjob_start(const struct confined *c, bool made)
{
	pid_t helper;
	int sock[2];

	job.c = c;
	job.made = made;
	job.program = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) == -1)
		return -1;
	fflush(NULL);
	if ((helper = fork()) == 0)
		job_main(sock[1]);
	close(sock[1]);
	if (helper == -1) {
		close(sock[0]);
		return -1;
	}
	helper_set(sock[0], helper);
	return 0;
}
