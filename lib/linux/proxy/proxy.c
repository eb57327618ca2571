/*
 * Start and end proxies. call.c asks them, for ask.c and others.
 *
 * A proxy that does not answer is killed. If that does not end it, it is
 * abandoned, and another is started for the next question.
 *
 * Two of the proxies change things outside of our process, and undo that before
 * they end, even if we are killed. They are therefore not killed with us, nor
 * by us, but end when their socket is closed.
 */
#include "proxying.h"
#include "calls.h"
#include "clock.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum {
	MAX_LEFT = 64,		/* maximum number of abandoned proxies */
	ENDING_MS = 100		/* time limit for closed proxies to exit */
};

struct proxies proxies = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct lane lanes[PROXY_LANES] = {
	[0 ... PROXY_LANES - 1] = { PTHREAD_MUTEX_INITIALIZER, 0, -1 }
};

static struct {
	pid_t		 pid[MAX_LEFT];
	size_t		 n;
	pid_t		 unlocker; /* abandoned proxy that unlocks
				      connections; 0: none */
} behind;			/* protected by proxies.lock */

/*
 * Enable proxies, and set the time limit for each answer. During a stop, the
 * same limit applies to all answers together.
 */
void
proxy_allow(unsigned int seconds)
{
	proxies.on = true;
	proxies.most = proxies.left = seconds * 1000 * MS;
}

/*
 * Let other threads ask proxy p again. Leave errno unchanged.
 */
void
lane_unlock(struct lane *p)
{
	int e = errno;

	pthread_mutex_unlock(&p->lock);
	errno = e;
}

/*
 * Return true if proxy p has to undo something before it ends.
 */
static bool
lane_undoes(const struct lane *p)
{
	return p != &lanes[PROXY_FIRST];
}

/*
 * Return the proxy that k selects.
 */
struct lane *
lane_of(const struct proxy_key *k)
{
	return &lanes[k->lane];
}

/*
 * Return true if proxies are enabled.
 */
bool
proxy_ison(void)
{
	return proxies.on;
}

/*
 * Record that processes are stopped from now on (if held is true) or that they
 * run (if held is false).
 */
void
proxy_hold(bool held)
{
	pthread_mutex_lock(&lanes->lock);
	proxies.held = held;
	lane_unlock(lanes);
}

/*
 * Give the proxies real-time priority if realtime is true and that is
 * permitted, or normal priority if realtime is false. The tracer, which waits
 * for the proxies, changes its own priority at the same time (linux/freeze.c).
 */
void
proxy_boost(bool realtime)
{
	const int policy = realtime ? SCHED_RR : SCHED_OTHER;
	const struct sched_param sp = {
	    .sched_priority = sched_get_priority_min(policy) };
	size_t i;

	for (i = 0; i < PROXY_LANES; i++) {
		pthread_mutex_lock(&lanes[i].lock);
		if (lanes[i].pid != 0)
			(void)sched_setscheduler(lanes[i].pid, policy, &sp);
		lane_unlock(&lanes[i]);
	}
}

/*
 * Run as proxy p, a child of process parent. first is true if its first thread
 * called fork(2): PR_SET_PDEATHSIG kills us when that thread ends, but other
 * threads end earlier than the process. Only the socket sock stays open.
 * The default action of SIGCHLD is restored, because our caller may ignore that
 * signal.
 */
static void __attribute__((noreturn))
lane_main(const struct lane *p, int sock, pid_t parent, bool first)
{
	struct rlimit rl;

	if (!lane_undoes(p) && first)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "snap-proxy");
	/* a session would also be a scheduling group, see sched(7), and
	   could delay it */
	(void)setpgid(0, 0);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)dup2(sock, 0);
	(void)call_closefrom(1);
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (getppid() != parent)
		_exit(0);
	proxies.on = false;	/* it asks no other proxy */
	proxy_main(0);
}

/*
 * Start a process for proxy p. The process has none of our other threads, so it
 * must not need a lock that one of these may hold. Return 0, or -1 with errno
 * set.
 */
int
lane_fork(struct lane *p)
{
	const pid_t us = getpid();
	const bool first = gettid() == us;
	sigset_t all, old;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1)
		return -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((p->pid = fork()) == 0)
		lane_main(p, fd[1], us, first);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(fd[1]);
	if (p->pid == -1) {
		close(fd[0]);
		p->pid = 0;
		return -1;
	}
	p->sock = fd[0];
	return 0;
}

/*
 * Close the socket of proxy p, and kill p, unless it has to undo something
 * first. Do not wait for p, which may take arbitrarily long to end.
 */
void
lane_abandon(struct lane *p)
{
	int status;

	if (p->pid == 0)
		return;
	close(p->sock);
	p->sock = -1;
	if (!lane_undoes(p))
		(void)kill(p->pid, SIGKILL);
	pthread_mutex_lock(&proxies.lock);
	if (waitpid(p->pid, &status, WNOHANG) == 0 &&
	    behind.n < MAX_LEFT)
		behind.pid[behind.n++] = p->pid;
	if (p == &lanes[PROXY_UNLOCKER])
		behind.unlocker = p->pid;
	pthread_mutex_unlock(&proxies.lock);
	p->pid = 0;
}

/*
 * Wait until child pid has ended, but at most ms milliseconds.
 */
static void
child_await(pid_t pid, uint64_t ms)
{
	const uint64_t until = now_ms() + ms;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0 && now_ms() < until)
		nap_us(100);
}

/*
 * Start the first proxy in advance. If that fails, disable proxies.
 */
void
proxy_ready(void)
{
	pthread_mutex_lock(&lanes->lock);
	if (proxies.on && lanes->pid == 0 && lane_fork(lanes) == -1)
		proxies.on = false;
	lane_unlock(lanes);
}

/*
 * Return the process ID of the proxy with index lane, or 0 if it is not
 * running.
 */
pid_t
proxy_process(size_t lane)
{
	return lanes[lane].pid;
}

/*
 * End the proxy with index lane, if it is running, and wait up to ENDING_MS for
 * it to exit.
 */
void
proxy_close(size_t lane)
{
	struct lane *p = &lanes[lane];
	pid_t pid;

	pthread_mutex_lock(&p->lock);
	pid = p->pid;
	lane_abandon(p);
	if (pid != 0)
		child_await(pid, ENDING_MS);
	lane_unlock(p);
}

/*
 * Forget all proxies. A process forked from ours calls this, because the
 * proxies belong to its parent.
 */
void
proxy_forked(void)
{
	size_t i;

	(void)pthread_mutex_init(&proxies.lock, NULL);
	for (i = 0; i < PROXY_LANES; i++) {
		(void)pthread_mutex_init(&lanes[i].lock, NULL);
		lanes[i].pid = 0;
		lanes[i].sock = -1;
	}
	proxies.on = false;
	behind.n = 0;
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
	pthread_mutex_lock(&proxies.lock);
	for (i = 0; i < behind.n && !is; i++)
		is = pid == behind.pid[i];
	pthread_mutex_unlock(&proxies.lock);
	return is;
}

/*
 * End all proxies. A proxy that hangs ends only when the call that blocks it
 * returns, if ever. For the proxy that unlocks TCP connections, wait as long as
 * for an answer, so that the connections are unlocked when we exit.
 */
void
lanes_end(void)
{
	const uint64_t until = now_ms() + ENDING_MS;
	uint64_t now;
	size_t i;

	for (i = 0; i < PROXY_LANES; i++)
		lane_abandon(&lanes[i]);
	for (i = 0; i < behind.n; i++) {
		now = now_ms();
		child_await(behind.pid[i], now < until ? until - now : 0);
	}
	if (behind.unlocker != 0)
		child_await(behind.unlocker, proxies.most / MS);
	behind.n = 0;
	behind.unlocker = 0;
	proxies.on = proxies.held = false;
}
