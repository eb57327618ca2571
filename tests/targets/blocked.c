/*
 * Threads that each wait in another system call, which never returns by itself:
 * when asked, it reports which calls returned, and how.
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { LONG = 100000 };		/* seconds */

static const struct timespec len = { LONG, 0 };
static pid_t sleeper;
static int lockfile, sem[2], queue;

static int
wait_nanosleep(void)
{
	return nanosleep(&len, NULL);
}

static int
wait_clock(void)
{
	int e;

	e = clock_nanosleep(CLOCK_MONOTONIC, 0, &len, NULL);
	errno = e;
	return e == 0 ? 0 : -1;
}

static int
wait_clock_abs(void)
{
	struct timespec t;
	int e;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += LONG;
	e = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
	errno = e;
	return e == 0 ? 0 : -1;
}

static int
wait_poll(void)
{
	return poll(NULL, 0, LONG * 1000);
}

static int
wait_poll_forever(void)
{
	return poll(NULL, 0, -1);
}

static int
wait_ppoll(void)
{
	return ppoll(NULL, 0, &len, NULL);
}

static int
wait_select(void)
{
	struct timeval t = { LONG, 0 };

	return select(0, NULL, NULL, NULL, &t);
}

static int
wait_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &len, NULL);
}

static int
wait_epoll(void)
{
	struct epoll_event e;

	return epoll_wait(epoll_create1(0), &e, 1, -1);
}

static int
wait_epoll_timed(void)
{
	struct epoll_event e;

	return epoll_wait(epoll_create1(0), &e, 1, LONG * 1000);
}

static int
wait_epoll_pwait(void)
{
	struct epoll_event e;
	sigset_t none;

	sigemptyset(&none);
	return epoll_pwait(epoll_create1(0), &e, 1, -1, &none);
}

static int
wait_cond(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&m);
	return pthread_cond_wait(&c, &m);
}

static int
wait_cond_timed(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += LONG;
	pthread_mutex_lock(&m);
	return pthread_cond_timedwait(&c, &m, &t);
}

static int
wait_mutex(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&m);
	return pthread_mutex_lock(&m);
}

static int
wait_pipe(void)
{
	int p[2];
	char c;

	return pipe(p) == -1 ? -1 : (int)read(p[0], &c, 1);
}

static int
wait_pipe_full(void)
{
	char buf[4096] = { 0 };
	int p[2], n;

	if (pipe(p) == -1 || fcntl(p[1], F_SETPIPE_SZ, 4096) == -1)
		return -1;
	n = (int)write(p[1], buf, sizeof buf);
	return n < 0 ? n : (int)write(p[1], buf, 1);
}

static int
wait_fifo(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof name, "/tmp/blocked.%d", getpid());
	(void)unlink(name);	/* left by a killed process */
	if (mkfifo(name, 0600) == -1)
		return -1;
	fd = open(name, O_RDONLY);
	(void)unlink(name);
	return fd;
}

static int
wait_waitpid(void)
{
	return waitpid(sleeper, NULL, 0);
}

static int
wait_waitid(void)
{
	siginfo_t si;

	return waitid(P_PID, (id_t)sleeper, &si, WEXITED | WNOWAIT);
}

static int
wait_sigwait(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	return sigwaitinfo(&s, NULL);
}

static int
wait_sigtimed(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	return sigtimedwait(&s, NULL, &len);
}

static int
wait_sigsuspend(void)
{
	sigset_t s;

	sigfillset(&s);
	return sigsuspend(&s);
}

static int
wait_pause(void)
{
	return pause();
}

static int
wait_signalfd(void)
{
	struct signalfd_siginfo si;
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	return (int)read(signalfd(-1, &s, 0), &si, sizeof si);
}

static int
wait_semop(void)
{
	struct sembuf b = { 0, -1, 0 };

	return semop(sem[0], &b, 1);
}

static int
wait_semtimed(void)
{
	struct sembuf b = { 0, -1, 0 };

	return semtimedop(sem[1], &b, 1, &len);
}

static int
wait_msgrcv(void)
{
	struct {
		long	 type;
		char	 c;
	} m;

	return (int)msgrcv(queue, &m, 1, 0, 0);
}

/*
 * Return a socket of a pair, with timeouts if timeout is set, and with a full
 * send buffer if full is set.
 */
static int
sock_new(int timeout, int full)
{
	struct timeval t = { LONG, 0 };
	char buf[4096] = { 0 };
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) == -1)
		err(1, "socketpair");
	while (full && send(s[0], buf, sizeof buf, MSG_DONTWAIT) > 0)
		continue;
	if (timeout && (setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &t,
	    sizeof t) == -1 || setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &t,
	    sizeof t) == -1))
		err(1, "setsockopt");
	return s[0];
}

static int
wait_recv(void)
{
	char c;

	return (int)recv(sock_new(0, 0), &c, 1, 0);
}

static int
wait_recv_timed(void)
{
	char c;

	return (int)recv(sock_new(1, 0), &c, 1, 0);
}

static int
wait_recvmsg_timed(void)
{
	struct msghdr m = { 0 };
	struct iovec v;
	char c;

	v.iov_base = &c;
	v.iov_len = 1;
	m.msg_iov = &v;
	m.msg_iovlen = 1;
	return (int)recvmsg(sock_new(1, 0), &m, 0);
}

static int
wait_read_timed(void)
{
	char c;

	return (int)read(sock_new(1, 0), &c, 1);
}

static int
wait_send_timed(void)
{
	return (int)send(sock_new(1, 1), "x", 1, 0);
}

static int
wait_write_timed(void)
{
	return (int)write(sock_new(1, 1), "x", 1);
}

static int
wait_sendmsg_timed(void)
{
	struct iovec v = { (void *)(uintptr_t)"x", 1 };
	struct msghdr m = { 0 };

	m.msg_iov = &v;
	m.msg_iovlen = 1;
	return (int)sendmsg(sock_new(1, 1), &m, 0);
}

static int
wait_readv_timed(void)
{
	char c;
	struct iovec v = { &c, 1 };

	return (int)syscall(SYS_preadv2, sock_new(1, 0), &v, 1L, -1L, -1L, 0L);
}

static int
wait_writev_timed(void)
{
	struct iovec v = { (void *)(uintptr_t)"x", 1 };

	return (int)syscall(SYS_pwritev2, sock_new(1, 1), &v, 1L, -1L, -1L, 0L);
}

static int
wait_sendfile_timed(void)
{
	int fd;

	if ((fd = open("/proc/self/exe", O_RDONLY)) == -1)
		return -1;
	return (int)sendfile(sock_new(1, 1), fd, NULL, 1);
}

static int
wait_splice_timed(void)
{
	int p[2];

	return pipe(p) == -1 ? -1 :
	    (int)splice(sock_new(1, 0), NULL, p[1], NULL, 1, 0);
}

static int
wait_splice_out_timed(void)
{
	int p[2];

	if (pipe(p) == -1 || write(p[1], "x", 1) != 1)
		return -1;
	return (int)splice(p[0], NULL, sock_new(1, 1), NULL, 1, 0);
}

static int
accept_on(int timeout)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct timeval t = { LONG, 0 };
	int s;

	s = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(s, (struct sockaddr *)&a, sizeof a) == -1 ||
	    listen(s, 1) == -1 || (timeout && setsockopt(s, SOL_SOCKET,
	    SO_RCVTIMEO, &t, sizeof t) == -1))
		err(1, "listen");
	return accept(s, NULL, NULL);
}

static int
wait_accept(void)
{
	return accept_on(0);
}

static int
wait_accept_timed(void)
{
	return accept_on(1);
}

/*
 * Connect to a listening socket whose queue is full.
 */
static int
wait_connect_timed(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval t = { LONG, 0 };
	socklen_t n = sizeof(sa_family_t);
	int c, i, s;

	s = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(s, (struct sockaddr *)&a, n) == -1 || listen(s, 0) == -1)
		err(1, "listen");
	n = sizeof a;
	getsockname(s, (struct sockaddr *)&a, &n);
	for (i = 0; i < 8; i++) {
		c = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(c, (struct sockaddr *)&a, n) == -1)
			break;
	}
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	setsockopt(c, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
	return connect(c, (struct sockaddr *)&a, n);
}

static int
wait_eventfd(void)
{
	uint64_t v;

	return (int)read(eventfd(0, 0), &v, sizeof v);
}

static int
wait_timerfd(void)
{
	uint64_t v;

	return (int)read(timerfd_create(CLOCK_MONOTONIC, 0), &v, sizeof v);
}

static int
wait_inotify(void)
{
	char buf[512];

	return (int)read(inotify_init1(0), buf, sizeof buf);
}

static int
wait_flock(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof name, "/proc/self/fd/%d", lockfile);
	fd = open(name, O_RDWR);
	return flock(fd, LOCK_EX);
}

#define CALL(n)	{ .name = #n, .wait = wait_##n }

static struct call {
	const char	*name;
	int		(*wait)(void);
	atomic_int	 back;
	int		 rc;
	int		 error;
	atomic_int	 tid;
} call[] = {
	CALL(nanosleep), CALL(clock), CALL(clock_abs), CALL(poll),
	CALL(poll_forever), CALL(ppoll), CALL(select), CALL(pselect),
	CALL(epoll), CALL(epoll_timed), CALL(epoll_pwait), CALL(cond),
	CALL(cond_timed), CALL(mutex), CALL(pipe), CALL(pipe_full),
	CALL(fifo), CALL(waitpid), CALL(waitid), CALL(sigwait),
	CALL(sigtimed), CALL(sigsuspend), CALL(pause), CALL(signalfd),
	CALL(semop), CALL(semtimed), CALL(msgrcv), CALL(recv),
	CALL(recv_timed), CALL(recvmsg_timed), CALL(read_timed),
	CALL(send_timed), CALL(write_timed), CALL(sendmsg_timed),
	CALL(readv_timed), CALL(writev_timed), CALL(sendfile_timed),
	CALL(splice_timed), CALL(splice_out_timed),
	CALL(accept), CALL(accept_timed), CALL(connect_timed),
	CALL(eventfd), CALL(timerfd), CALL(inotify), CALL(flock),
};

enum { CALLS = sizeof call / sizeof *call };

static void *
run(void *arg)
{
	struct call *c = arg;

	c->tid = gettid();
	c->rc = c->wait();
	c->error = c->rc == -1 ? errno : 0;
	c->back = 1;
	return NULL;
}

/*
 * Return whether a thread sleeps.
 */
static int
sleeps(pid_t tid)
{
	char name[64], state;
	FILE *f;

	snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
	state = 0;
	if (tid == 0 || (f = fopen(name, "r")) == NULL)
		return 0;
	if (fscanf(f, "%*d %*s %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'S';
}

int
main(void)
{
	pthread_t t;
	sigset_t s;
	int i, tries;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGUSR2);
	sigprocmask(SIG_BLOCK, &s, NULL);
	if ((sleeper = fork()) == 0) {
		end_with_parent();
		for (;;)
			pause();
	}
	lockfile = memfd_create("lock", 0);
	flock(lockfile, LOCK_EX);
	sem[0] = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	sem[1] = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	for (i = 0; i < CALLS; i++)
		if (pthread_create(&t, NULL, run, &call[i]) != 0)
			err(1, "pthread_create");
	for (i = tries = 0; i < CALLS && tries < timeout(10000); tries++)
		if (call[i].back || sleeps(call[i].tid)) {
			printf("call %s %d\n", call[i].name, call[i].tid);
			i++;
		} else
			usleep(1000);
	usleep(100000);
	for (i = 0; i < CALLS; i++)
		if (call[i].back)
			printf("lacks %s: %s\n", call[i].name,
			    strerror(call[i].error));
	ready_await();
	for (i = 0; i < CALLS; i++)
		if (call[i].back && call[i].error == EINTR)
			printf("report %s-eintr 1\n", call[i].name);
		else
			printf("report %s %d\n", call[i].name, call[i].back);
	fflush(stdout);
	kill(sleeper, SIGKILL);
	semctl(sem[0], 0, IPC_RMID);
	semctl(sem[1], 0, IPC_RMID);
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
