/*
 * Threads with short-lived children, and threads that wait in system calls that
 * fail with EINTR when a signal interrupts them.  Nothing should: SIGCHLD is
 * ignored.
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { PARENTS = 3, WAITERS = 12, MS = 5 };

static atomic_long interrupted, others, waits;

static void
count(int rc, int expected)
{
	waits++;
	if (rc == -1 && errno == EINTR)
		interrupted++;
	else if (rc != 0 && errno != expected)
		others++;
}

static void
wait_epoll(void)
{
	struct epoll_event e;
	int fd;

	fd = epoll_create1(0);
	count(epoll_wait(fd, &e, 1, MS), 0);
	close(fd);
}

static void
wait_signal(void)
{
	const struct timespec len = { 0, MS * 1000000 };
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	count(sigtimedwait(&s, NULL, &len), EAGAIN);
}

static void *
waiter(void *arg)
{
	for (;;)
		if (arg == NULL)
			wait_epoll();
		else
			wait_signal();
	return NULL;
}

static void
have_child(void)
{
	pid_t pid;
	int status;

	if ((pid = fork()) == 0) {
		end_with_parent();
		usleep(2000);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 7)
		others++;
}

static void *
parent(void *arg)
{
	(void)arg;
	for (;;)
		have_child();
	return NULL;
}

int
main(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t t;
	sigset_t s;
	long i;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	for (i = 0; i < PARENTS + WAITERS; i++)
		if (pthread_create(&t, NULL, i < PARENTS ? parent : waiter,
		    i & 1 ? &t : NULL) != 0)
			err(1, "pthread_create");
	ready();
	while (poll(&in, 1, 0) == 0)
		have_child();
	await();
	report("eintr", interrupted + eintr);
	report("others", others);
	printf("waits %ld\n", (long)waits);
	fflush(stdout);
	_exit(0);
}
