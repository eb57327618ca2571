/*
 * A thread for each kind of wait, which is its name: waits FIFO.  The first
 * thread waits for a child.
 */
#include "target.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

static const char *fifo;
static int fd[2];		/* an empty pipe */
static pthread_mutex_t normal, robust, inherits;
static pthread_mutex_t timers = PTHREAD_MUTEX_INITIALIZER;
static const struct timespec thousand = { 1000, 0 };

static void
normal_wait(void)
{
	pthread_mutex_lock(&normal);
}

/*
 * Lock a mutex twice.
 */
static void
itself_wait(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&own);
	pthread_mutex_lock(&own);
}

static void
robust_wait(void)
{
	pthread_mutex_lock(&robust);
}

static void
inherits_wait(void)
{
	pthread_mutex_lock(&inherits);
}

static void
timed_wait(void)
{
	const struct timespec late = { 4000000000, 0 };

	pthread_mutex_timedlock(&normal, &late);
}

static void
nanosleep_wait(void)
{
	/* made by syscall(3): no constant number before it */
	syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, &thousand, NULL);
}

static void
poll_wait(void)
{
	struct pollfd p[6];
	int i;

	for (i = 0; i < 6; i++)
		p[i] = (struct pollfd){ i == 1 ? -1 : fd[0], POLLIN, 0 };
	poll(p, 6, 1000000);
}

static void
many_wait(void)
{
	enum { MANY = 5000 };
	static struct pollfd p[MANY];
	struct rlimit rl;
	int i;

	/* the limit on open files limits poll(2) as well */
	getrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_max < MANY)
		rl.rlim_max = MANY;
	rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl);
	for (i = 0; i < MANY; i++)
		p[i] = (struct pollfd){ fd[0], POLLIN, 0 };
	poll(p, MANY, -1);
}

/*
 * Wait for a timer, and for a descriptor that no other thread waits for.
 */
static void
timers_wait(void)
{
	static int timer = -1, n;
	const struct itimerspec it = { .it_value = thousand };
	struct pollfd p[2];

	pthread_mutex_lock(&timers);
	if (timer == -1) {
		timer = timerfd_create(CLOCK_MONOTONIC, 0);
		timerfd_settime(timer, 0, &it, NULL);
	}
	p[0] = (struct pollfd){ timer, POLLIN, 0 };
	/* nothing reads or fills the pipe */
	p[1] = (struct pollfd){ fd[n], n == 0 ? POLLIN : POLLPRI, 0 };
	n++;
	pthread_mutex_unlock(&timers);
	poll(p, 2, -1);
}

static void
select_wait(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	select(fd[0] + 1, &set, NULL, NULL, NULL);
}

static void
epoll_wait_both(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e);
	epoll_wait(ep, &e, 1, -1);
}

static void
timer_wait(void)
{
	const struct itimerspec it = { .it_value = thousand };
	char c[8];
	int t = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(t, 0, &it, NULL);
	(void)read(t, c, sizeof c);
}

static void
accept_wait(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	int s = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(s, (struct sockaddr *)&sa, sizeof sa);
	listen(s, 1);
	accept(s, NULL, NULL);
}

static void
open_wait(void)
{
	open(fifo, O_RDONLY);
}

static void
signal_wait(void)
{
	pause();
}

static void
child_wait(void)
{
	waitpid(-1, NULL, 0);
}

static const struct kind {
	const char	*name;
	void		(*wait)(void);
} kinds[] = {
	{ "normal", normal_wait }, { "robust", robust_wait },
	{ "itself", itself_wait },
	{ "inherits", inherits_wait }, { "timed", timed_wait },
	{ "nanosleep", nanosleep_wait }, { "poll", poll_wait },
	{ "select", select_wait }, { "epoll", epoll_wait_both },
	{ "timer", timer_wait }, { "accept", accept_wait },
	{ "open", open_wait }, { "signal", signal_wait },
	{ "child", child_wait }, { "many", many_wait },
	{ "timers", timers_wait }, { "timers", timers_wait },
};

static void *
thread(void *arg)
{
	const struct kind *k = arg;

	pthread_setname_np(pthread_self(), k->name);
	k->wait();
	return NULL;
}

/*
 * Threads with the same stack, which sleep for different times.
 */
static void *
sleeper(void *arg)
{
	const struct timespec ts = { 1000 + (int)(intptr_t)arg, 0 };

	nanosleep(&ts, NULL);
	return NULL;
}

int
main(int argc, char *argv[])
{
	pthread_mutexattr_t a;
	pthread_t t;
	pid_t child;
	size_t i;

	fifo = argc > 1 ? argv[1] : "";
	if (pipe(fd) == -1 || (child = fork()) == -1)
		return 1;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	pthread_mutexattr_init(&a);
	pthread_mutex_init(&normal, &a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherits, &a);
	pthread_mutex_lock(&normal);
	pthread_mutex_lock(&robust);
	pthread_mutex_lock(&inherits);
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		pthread_create(&t, NULL, thread, (void *)(uintptr_t)&kinds[i]);
	for (i = 0; i < 9; i++)
		pthread_create(&t, NULL, sleeper, (void *)(uintptr_t)i);
	printf("child %d\nready\n", (int)child);
	fflush(stdout);
	waitpid(child, NULL, 0);
	return 0;
}
