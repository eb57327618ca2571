/*
 * Timeouts of system calls must go on while snapshots are taken one after
 * another: each thread waits for a tenth of a second all the time, and counts.
 * For each 'c' on standard input it prints the counts.
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { MS = 100 };

static const struct timespec tenth = { 0, MS * 1000000 };
static int ep, sem, sock[2];

static void
by_nanosleep(void)
{
	nanosleep(&tenth, NULL);
}

static void
by_poll(void)
{
	poll(NULL, 0, MS);
}

static void
by_epoll(void)
{
	struct epoll_event e;

	epoll_wait(ep, &e, 1, MS);
}

static void
by_sigtimed(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigtimedwait(&s, NULL, &tenth);
}

static void
by_semtimed(void)
{
	struct sembuf b = { 0, -1, 0 };

	semtimedop(sem, &b, 1, &tenth);
}

static void
by_recv(void)
{
	char c;

	(void)!recv(sock[0], &c, 1, 0);
}

static struct way {
	const char	*name;
	void		(*wait)(void);
	atomic_long	 count;
} way[] = {
	{ "nanosleep", by_nanosleep, 0 },
	{ "poll", by_poll, 0 },
	{ "epoll", by_epoll, 0 },
	{ "sigtimed", by_sigtimed, 0 },
	{ "semtimed", by_semtimed, 0 },
	{ "recv", by_recv, 0 },
};

enum { WAYS = sizeof way / sizeof *way };

static void *
run(void *arg)
{
	struct way *w = arg;

	for (;;) {
		w->wait();
		w->count++;
	}
	return NULL;
}

int
main(void)
{
	struct timeval t = { 0, MS * 1000 };
	pthread_t id;
	sigset_t s;
	char c;
	int i;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	ep = epoll_create1(0);
	sem = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	if (ep == -1 || sem == -1 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == -1 ||
	    setsockopt(sock[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == -1)
		err(1, "set-up");
	for (i = 0; i < WAYS; i++)
		if (pthread_create(&id, NULL, run, &way[i]) != 0)
			err(1, "pthread_create");
	ready();
	while (read(STDIN_FILENO, &c, 1) == 1 && c == 'c')
		for (i = 0; i < WAYS; i++)
			report(way[i].name, way[i].count);
	semctl(sem, 0, IPC_RMID);
	return 0;
}
