/*
 * Requests of a confined program to its helper (confine/helperjob.c), which
 * does over a socket what the program may not do itself.
 */
#include "io.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int asked = -1;		/* socket to the helper; -1: no helper */
static pid_t helper;
static volatile sig_atomic_t creating;	/* a request that may block for long
					   is pending */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Tell the helper to end, and wait until it has ended.
 */
static void
helper_end(void)
{
	helper_quit();
	while (waitpid(helper, NULL, 0) == -1 && errno == EINTR)
		continue;
}

/*
 * From now on use helper process pid, at the other end of socket sock. End the
 * helper when the program exits.
 */
void
helper_set(int sock, pid_t pid)
{
	asked = sock;
	helper = pid;
	(void)atexit(helper_end);
}

/*
 * Return true if this program is confined and has a helper.
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
 * Make the helper carry out a request, which is selected by the letter in the
 * argument what (see confine/helperjob.c). path is the argument of the request,
 * and may be NULL. Set *rc to the result; on failure this is -1, with errno and
 * errstr set. Return the descriptor that the helper passed, which the caller
 * owns, or -1 if there is none.
 */
int
helper_ask(char what, const char *path, int *rc)
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
	creating = what == 'N';
	(void)!write(asked, q, n + 1);
	fd = answer_get(&a);
	creating = 0;
	pthread_mutex_unlock(&lock);
	if (a.rc == -1)
		errstr_set("%s", a.why);
	errno = a.error;
	*rc = a.rc;
	return fd;
}

/*
 * Tell the helper to end, and wait until it has ended. Do nothing if it may be
 * blocked in a request: the helper ends when we do. This is safe in signal
 * handlers.
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
