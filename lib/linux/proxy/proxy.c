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
#include "vec.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

struct missed {
	enum proxy_kind	 kind;
	uint64_t	 id;
	char		 what[256];
};

static struct {
	pthread_mutex_t	 lock;	/* of all that follows */
	bool		 on;
	bool		 held;	/* something is stopped */
	uint64_t	 most;	/* ns for an answer, or all of them */
	uint64_t	 left;	/* of that, while something is stopped */
	pid_t		 pid;	/* 0: none */
	int		 sock;
	struct missed	*missed;	/* owned */
	size_t		 nmissed;
	pid_t		 behind[LEFT_MOST];
	size_t		 nbehind;
} px = { .lock = PTHREAD_MUTEX_INITIALIZER, .sock = -1 };

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
	pthread_mutex_lock(&px.lock);
}

/*
 * Let others ask the proxy again; errno stays.
 */
void
proxy_unlock(void)
{
	int e = errno;

	pthread_mutex_unlock(&px.lock);
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
	pthread_mutex_lock(&px.lock);
	px.held = held;
	pthread_mutex_unlock(&px.lock);
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
	if ((px.pid = fork()) == 0) {
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
	if (px.pid == -1) {
		close(fd[0]);
		px.pid = 0;
		return -1;
	}
	px.sock = fd[0];
	return 0;
}

/*
 * Kill the proxy; what it waits for may keep it for as long as it likes.
 */
void
proxy_abandon(void)
{
	int status;

	if (px.pid == 0)
		return;
	close(px.sock);
	px.sock = -1;
	(void)kill(px.pid, SIGKILL);
	if (waitpid(px.pid, &status, WNOHANG) == 0 && px.nbehind < LEFT_MOST)
		px.behind[px.nbehind++] = px.pid;
	px.pid = 0;
}

/*
 * Have a proxy, while there is time for it.  If there is no process to be had,
 * what every process has is read without one.
 */
void
proxy_ready(void)
{
	pthread_mutex_lock(&px.lock);
	if (px.on && px.pid == 0 && proxy_fork() == -1)
		px.on = false;
	pthread_mutex_unlock(&px.lock);
}

/*
 * Forget the proxy, in a process that was forked by the one that has it: there
 * is none for this one.
 */
void
proxy_forked(void)
{
	(void)pthread_mutex_init(&px.lock, NULL);
	px.on = false;
	px.pid = 0;
	px.sock = -1;
	px.nbehind = 0;
}

static bool
has_missed(const struct proxy_key *k)
{
	size_t i;

	for (i = 0; i < px.nmissed; i++)
		if (px.missed[i].kind == k->kind && px.missed[i].id == k->id)
			return true;
	return false;
}

/*
 * Note that who is asked as k says does not answer in time, and is not to be
 * asked again.  Return -1 with errno ETIMEDOUT.
 */
int
proxy_miss(const struct proxy_key *k)
{
	struct missed *v;

	if (!has_missed(k) && VEC_ROOM(px.missed, px.nmissed) == 0) {
		v = &px.missed[px.nmissed++];
		v->kind = k->kind;
		v->id = k->id;
		strlcpy(v->what, k->what, sizeof v->what);
	}
	errno = ETIMEDOUT;
	return -1;
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
	least = (px.nmissed < LATE ? GRACE_MS : GRACE_LATE_MS) * MS;
	return px.left > least ? px.left : least;
}

/*
 * Wait for an answer for so many nanoseconds.  Return whether there is one.
 */
static bool
answer_within(uint64_t ns)
{
	struct pollfd p = { .fd = px.sock, .events = POLLIN };
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

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", px.pid, px.pid);
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
	n = passfd_receive(px.sock, v, 2, &got);
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

	return passfd_send(px.sock, &v, 1, fd) == -1 ? -1 : 0;
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
	if (*allowed == 0 || has_missed(k))
		return proxy_miss(k);
	for (i = 0; i < 2; i++) {
		if (px.pid == 0 && proxy_fork() == -1)
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

	pthread_mutex_lock(&px.lock);
	is = pid == px.pid;
	for (i = 0; i < px.nbehind && !is; i++)
		is = pid == px.behind[i];
	pthread_mutex_unlock(&px.lock);
	return is;
}

/*
 * Copy to what, of size bytes, who the one at place n was, from 0, that did not
 * answer in time, in words for a user.  Return false if there is none.
 */
bool
proxy_missed(size_t n, char *what, size_t size)
{
	bool is;

	pthread_mutex_lock(&px.lock);
	if ((is = n < px.nmissed))
		strlcpy(what, px.missed[n].what, size);
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
	free(px.missed);
	px.missed = NULL;
	px.nmissed = px.nbehind = 0;
	px.on = px.held = false;
}
