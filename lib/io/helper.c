/*
 * How a confined program asks its helper (confine/helperjob.c), through a
 * socket, for what it may not do itself.
 */
#include "io.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int asked = -1;		/* where the helper is asked; -1: none */
static pid_t helper;
static volatile sig_atomic_t creating;	/* it may be waiting for long */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Wait until the helper, which was asked to end, has ended.
 */
static void
helper_end(void)
{
	helper_quit();
	while (waitpid(helper, NULL, 0) == -1 && errno == EINTR)
		continue;
}

/*
 * Ask the helper at the socket sock, the process pid, from here on, and have it
 * end when the program exits.
 */
void
helper_set(int sock, pid_t pid)
{
	asked = sock;
	helper = pid;
	(void)atexit(helper_end);
}

/*
 * Return true if this is a confined program, with a helper.
 */
bool
helper_there(void)
{
	return asked != -1;
}

static int
answer_get(struct helper_answer *a)
{
	const struct iovec v = { .iov_base = a, .iov_len = sizeof *a };
	int fd;

	if (passfd_receive(asked, &v, 1, &fd) != sizeof *a) {
		a->rc = -1;
		a->error = EPIPE;
		strlcpy(a->why, "the helper is gone", sizeof a->why);
		return -1;
	}
	return fd;
}

/*
 * Ask for something, with a path or NULL: a descriptor, or -1 with the result
 * in *rc, and errno and the error string where that is -1.
 */
static int
ask(char what, const char *path, int *rc)
{
	char q[PATH_MAX];
	struct helper_answer a = { .rc = -1 };
	size_t n;
	int fd;

	n = path == NULL ? 0 : strlen(path);
	if (n >= sizeof q) {
		errno = ENAMETOOLONG;
		*rc = errstr_sys("%s", path);
		return -1;
	}
	q[0] = what;
	if (n > 0)
		memcpy(q + 1, path, n);
	pthread_mutex_lock(&lock);
	(void)!write(asked, q, n + 1);
	fd = answer_get(&a);
	pthread_mutex_unlock(&lock);
	if (a.rc == -1)
		errstr_set("%s", a.why);
	errno = a.error;
	*rc = a.rc;
	return fd;
}

/*
 * Have the regular file of that path opened to be read, by the helper, if it is
 * an ELF file.  Return a descriptor, or -1 with errstr.
 */
int
helper_elf(const char *path)
{
	int rc;

	return ask('E', path, &rc);
}

/*
 * Have the helper call spool_file.  Return what that returns.
 */
int
helper_spool(void)
{
	int rc;

	return ask('S', NULL, &rc);
}

/*
 * Have the helper call newfile_open with path, and set *isnew to what
 * newfile_isnew says.  Return the descriptor, or -1 with errstr.
 */
int
helper_create(const char *path, bool *isnew)
{
	int fd, rc;

	creating = 1;
	fd = ask('N', path, &rc);
	creating = 0;
	*isnew = rc == 1;
	return fd;
}

/*
 * Have the helper call newfile_finish.  Return what that returns.
 */
int
helper_finish(void)
{
	int rc;

	(void)ask('F', NULL, &rc);
	return rc;
}

/*
 * Have the helper call newfile_close.
 */
void
helper_drop(void)
{
	int rc;

	(void)ask('D', NULL, &rc);
}

/*
 * Have the helper do what the program was confined with as act, and set *fd to
 * the descriptor that it made, the caller's; or return -1 with the error string
 * that act left.
 */
int
helper_act(int *fd)
{
	int rc;

	*fd = ask('A', NULL, &rc);
	return rc == 0 && *fd == -1 ?
	    errstr_set("the helper passed no descriptor") : rc;
}

/*
 * Have the helper end, and wait for that, unless it may be waiting itself, and
 * ends with us.  Signal handlers may call this.
 */
void
helper_quit(void)
{
	char buf[sizeof(struct helper_answer)];

	if (asked == -1 || creating)
		return;
	(void)shutdown(asked, SHUT_WR);
	while (read(asked, buf, sizeof buf) > 0)
		continue;
	asked = -1;
}
