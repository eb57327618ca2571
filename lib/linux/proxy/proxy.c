/*
 * Our side of the proxy: to start it, to have it asked and to wait for its
 * answers, and to end it.
 *
 * All answers together may take so long while anything is stopped; while
 * nothing is, each may.  Who has not answered then is not asked again.  The
 * proxy is killed, and left behind where that does not end it: another is
 * started for the next question.
 */
#include "proxy.h"
#include "calls.h"
#include "clock.h"
#include "io/io.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS		((uint64_t)1000000)	/* in nanoseconds */

enum {
	GRACE_MS = 500,		/* for a file of /proc when time is up */
	GRACE_LATE_MS = 20,	/* likewise, when many have not answered */
	LATE = 8,
	SLICE_MS = 16,		/* after which the proxy is looked at */
	LEFT_MOST = 64,		/* proxies that are left behind */
	ENDING_MS = 100		/* for the last one to end */
};

static struct {
	pthread_mutex_t	 lock;	/* of all that follows */
	bool		 on;
	bool		 held;	/* something is stopped */
	uint64_t	 most;	/* ns for an answer, or all of them */
	uint64_t	 left;	/* of that, while something is stopped */
	pid_t		 behind[LEFT_MOST];
	size_t		 nbehind;
} px = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Who is asked by one thread at a time.  All threads ask the first, but for
 * those that read ahead while nothing is stopped (proxy_enter).
 */
static struct lane {
	pthread_mutex_t	 lock;	/* of the others, and of a question */
	pid_t		 pid;	/* 0: none */
	int		 sock;
} lanes[PROXY_LANES] = {
	[0 ... PROXY_LANES - 1] = { PTHREAD_MUTEX_INITIALIZER, 0, -1 }
};

static _Thread_local struct lane *mine = lanes;

/*
 * Have a proxy from here on, and let nothing wait longer for it than so many
 * seconds: for each answer, and for all together while something is stopped.
 */
void
proxy_allow(unsigned int seconds)
{
	px.on = true;
	px.most = px.left = seconds * 1000 * MS;
}

/*
 * Keep other threads of ours from asking: proxy_ask, proxy_await and
 * proxy_receive are called between proxy_lock and proxy_unlock.
 */
void
proxy_lock(void)
{
	pthread_mutex_lock(&mine->lock);
}

/*
 * Let others ask the proxy again; errno stays.
 */
void
proxy_unlock(void)
{
	int e = errno;

	pthread_mutex_unlock(&mine->lock);
	errno = e;
}

/*
 * Return true if there is a proxy to be asked.
 */
bool
proxy_ison(void)
{
	return px.on;
}

/*
 * Note whether something is stopped from here on, which held tells.
 */
void
proxy_hold(bool held)
{
	proxy_lock();
	px.held = held;
	proxy_unlock();
}

/*
 * Let the proxy go before others with first, else as others do, where we may:
 * who waits for it does (linux/hurry.c).
 */
void
proxy_hurry(bool first)
{
	const int policy = first ? SCHED_RR : SCHED_OTHER;
	const struct sched_param sp = {
	    .sched_priority = sched_get_priority_min(policy) };

	proxy_lock();
	if (mine->pid != 0)
		(void)sched_setscheduler(mine->pid, policy, &sp);
	proxy_unlock();
}

/*
 * Start a proxy.  Other threads that run meanwhile are not in it: it needs no
 * lock of theirs.
 */
static int
proxy_fork(void)
{
	pid_t us = getpid();
	sigset_t all, old;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1)
		return -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((mine->pid = fork()) == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, "snap-proxy");
		/* a session would be sched(7)'s, too, and wait for its turn */
		(void)setpgid(0, 0);
		(void)dup2(fd[1], 0);
		(void)call_closefrom(1);
		if (getppid() != us)
			_exit(0);
		proxy_main(0);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(fd[1]);
	if (mine->pid == -1) {
		close(fd[0]);
		mine->pid = 0;
		return -1;
	}
	mine->sock = fd[0];
	return 0;
}

/*
 * Kill the proxy; what it waits for may keep it for as long as it likes.
 */
void
proxy_abandon(void)
{
	int status;

	if (mine->pid == 0)
		return;
	close(mine->sock);
	mine->sock = -1;
	(void)kill(mine->pid, SIGKILL);
	pthread_mutex_lock(&px.lock);
	if (waitpid(mine->pid, &status, WNOHANG) == 0 &&
	    px.nbehind < LEFT_MOST)
		px.behind[px.nbehind++] = mine->pid;
	pthread_mutex_unlock(&px.lock);
	mine->pid = 0;
}

/*
 * Have a proxy, while there is time for it.  If there is no process to be had,
 * what every process has is read without one.
 */
void
proxy_ready(void)
{
	proxy_lock();
	if (px.on && mine->pid == 0 && proxy_fork() == -1)
		px.on = false;
	proxy_unlock();
}

/*
 * Have this thread ask a proxy of its own, of a number from 1 on, which no
 * other thread has, until proxy_leave.  Nothing is stopped meanwhile.
 */
void
proxy_enter(size_t lane)
{
	mine = &lanes[lane];
	proxy_lock();
	if (px.on && mine->pid == 0)
		(void)proxy_fork();
	proxy_unlock();
}

void
proxy_leave(void)
{
	proxy_lock();
	proxy_abandon();
	proxy_unlock();
	mine = lanes;
}

/*
 * Forget the proxy, in a process that was forked by the one that has it: there
 * is none for this one.
 */
void
proxy_forked(void)
{
	size_t i;

	(void)pthread_mutex_init(&px.lock, NULL);
	for (i = 0; i < PROXY_LANES; i++) {
		(void)pthread_mutex_init(&lanes[i].lock, NULL);
		lanes[i].pid = 0;
		lanes[i].sock = -1;
	}
	px.on = false;
	px.nbehind = 0;
}

/*
 * Return how long to wait for an answer, in nanoseconds; 0: not at all.  When
 * the time is up, what is asked once of each process is still asked for.
 */
static uint64_t
time_allowed(const struct proxy_key *k)
{
	uint64_t least;

	if (!px.held)
		return px.most;
	if (k->kind != KEY_PROC)
		return px.left;
	least = (missed_count() < LATE ? GRACE_MS : GRACE_LATE_MS) * MS;
	return px.left > least ? px.left : least;
}

/*
 * Wait for an answer for so many nanoseconds.  Return whether there is one.
 */
static bool
answer_within(uint64_t ns)
{
	struct pollfd p = { .fd = mine->sock, .events = POLLIN };
	struct timespec ts;

	ts.tv_sec = (time_t)(ns / (1000 * MS));
	ts.tv_nsec = (long)(ns % (1000 * MS));
	return ppoll(&p, 1, &ts, NULL) == 1;
}

/*
 * Return true if the proxy runs, or could: then its state is 'R' in
 * proc_pid_stat(5).
 */
static bool
proxy_runs(void)
{
	char path[64], stat[512];
	const char *s;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", mine->pid,
	    mine->pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return false;
	n = read(fd, stat, sizeof stat);
	close(fd);
	s = n <= 0 ? NULL : memrchr(stat, ')', (size_t)n);
	return s != NULL && s + 2 < stat + n && s[2] == 'R';
}

/*
 * Wait until there is an answer.  Return false if there is none in *allowed
 * nanoseconds, from which those are taken that it took.  Time in which the
 * proxy runs, or could, does not count, and does not end it: this machine is
 * busy.
 */
bool
proxy_await(uint64_t *allowed)
{
	uint64_t from, slice, took;
	bool is;

	for (slice = MS; *allowed > 0; slice += slice < SLICE_MS * MS ?
	    slice : 0) {
		from = now_ns();
		is = answer_within(slice < *allowed ? slice : *allowed);
		if (!is && proxy_runs())
			continue;
		took = now_ns() - from;
		*allowed -= took < *allowed ? took : *allowed;
		if (px.held)
			px.left -= took < px.left ? took : px.left;
		if (is)
			return true;
	}
	return answer_within(0);
}

/*
 * Receive an answer a, up to len bytes that come with it into buf, and a
 * descriptor, which is the caller's; fd may be NULL.  Return the number of
 * bytes, or -1 with errno, which may be what the proxy got.
 */
ssize_t
proxy_receive(struct proxy_answer *a, void *buf, size_t len, int *fd)
{
	const struct iovec v[2] = { { a, sizeof *a }, { buf, len } };
	ssize_t n;
	int got;

	memset(a, 0, sizeof *a);
	n = passfd_receive(mine->sock, v, 2, &got);
	if (n < (ssize_t)sizeof *a) {
		proxy_abandon();	/* someone has killed it */
		errno = EIO;
		return -1;
	}
	if (fd != NULL)
		*fd = got;
	else if (got != -1)
		close(got);
	errno = a->error;
	return a->error != 0 ? -1 : n - (ssize_t)sizeof *a;
}

/*
 * Send a question and a descriptor, unless that is -1.
 */
static int
ask_send(const struct proxy_ask *q, int fd)
{
	const struct iovec v = { (void *)(uintptr_t)q, sizeof *q };

	return passfd_send(mine->sock, &v, 1, fd) == -1 ? -1 : 0;
}

/*
 * Send the question q, with the descriptor fd unless that is -1, about what k
 * tells.  Return 0, and set *allowed to the nanoseconds that answers may take;
 * or -1 with errno, ETIMEDOUT where they may take none any more.
 */
int
proxy_ask(const struct proxy_key *k, const struct proxy_ask *q, int fd,
    uint64_t *allowed)
{
	int i;

	*allowed = time_allowed(k);
	if (*allowed == 0 || missed_has(k))
		return proxy_miss(k);
	for (i = 0; i < 2; i++) {
		if (mine->pid == 0 && proxy_fork() == -1)
			return -1;
		if (ask_send(q, fd) == 0)
			return 0;
		proxy_abandon();
	}
	errno = EIO;
	return -1;
}

/*
 * Return true if process pid is one of the proxies.
 */
bool
proxy_isours(pid_t pid)
{
	size_t i;
	bool is;

	for (is = false, i = 0; i < PROXY_LANES && !is; i++) {
		pthread_mutex_lock(&lanes[i].lock);
		is = pid == lanes[i].pid;
		pthread_mutex_unlock(&lanes[i].lock);
	}
	pthread_mutex_lock(&px.lock);
	for (i = 0; i < px.nbehind && !is; i++)
		is = pid == px.behind[i];
	pthread_mutex_unlock(&px.lock);
	return is;
}

/*
 * End the proxy, and forget who did not answer.  Who was left behind ends when
 * what it waits for comes, or never can.
 */
void
proxy_end(void)
{
	uint64_t until = now_ms() + ENDING_MS;
	size_t i;
	int status;

	proxy_abandon();
	for (i = 0; i < px.nbehind; i++)
		while (waitpid(px.behind[i], &status, WNOHANG) == 0 &&
		    now_ms() < until)
			nap_us(100);
	missed_forget();
	px.nbehind = 0;
	px.on = px.held = false;
}
