/*
 * Our side of the proxy: to start it, and to end it.  ask.c and others have it
 * asked (call.c).
 *
 * The proxy is killed when it does not answer, and left behind where that does
 * not end it: another is started for the next question.
 *
 * Two proxies change what is not ours, and undo that before they end, also when
 * we are killed: these are not killed with us, nor by us.  They end when their
 * socket is closed.
 */
#include "proxying.h"
#include "calls.h"
#include "clock.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_LEFT = 64,		/* proxies that are left behind */
	ENDING_MS = 100		/* for those that are closed to end */
};

struct proxies proxies = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct lane lanes[PROXY_LANES] = {
	[0 ... PROXY_LANES - 1] = { PTHREAD_MUTEX_INITIALIZER, 0, -1 }
};

static struct {
	pid_t		 pid[MAX_LEFT];
	size_t		 n;
	pid_t		 unlocker; /* one of them, which undoes what it did */
} behind;			/* under proxies.lock */

/*
 * Have a proxy from here on, and let nothing wait longer for it than so many
 * seconds: for each answer, and for all together while something is stopped.
 */
void
proxy_allow(unsigned int seconds)
{
	proxies.on = true;
	proxies.most = proxies.left = seconds * 1000 * MS;
}

/*
 * Let others ask proxy p again; errno stays.
 */
void
lane_unlock(struct lane *p)
{
	int e = errno;

	pthread_mutex_unlock(&p->lock);
	errno = e;
}

/*
 * Return true if a proxy undoes something before it ends.
 */
static bool
lane_undoes(const struct lane *p)
{
	return p != &lanes[PROXY_FIRST];
}

/*
 * Return the proxy that is asked as k says.
 */
struct lane *
lane_of(const struct proxy_key *k)
{
	return &lanes[k->lane];
}

/*
 * Return true if there is a proxy to be asked.
 */
bool
proxy_ison(void)
{
	return proxies.on;
}

/*
 * Note whether something is stopped from here on, which held tells.
 */
void
proxy_hold(bool held)
{
	pthread_mutex_lock(&lanes->lock);
	proxies.held = held;
	lane_unlock(lanes);
}

/*
 * Let proxies go before others with first, else as others do, where we may: who
 * waits for them does (linux/live.c).
 */
void
proxy_boost(bool first)
{
	const int policy = first ? SCHED_RR : SCHED_OTHER;
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
 * Be a proxy: have nothing but the socket sock, and wait for children as a
 * process does, whatever our caller ignores.
 */
static void __attribute__((noreturn))
lane_main(const struct lane *p, int sock, pid_t us)
{
	struct rlimit rl;

	if (!lane_undoes(p))
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "snap-proxy");
	/* a session would be sched(7)'s, too, and wait for its turn */
	(void)setpgid(0, 0);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)dup2(sock, 0);
	(void)call_closefrom(1);
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (getppid() != us)
		_exit(0);
	proxy_main(0);
}

/*
 * Start a proxy.  Other threads that run meanwhile are not in it: it needs no
 * lock of theirs.  Return 0, or -1 with errno.
 */
int
lane_fork(struct lane *p)
{
	pid_t us = getpid();
	sigset_t all, old;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1)
		return -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((p->pid = fork()) == 0)
		lane_main(p, fd[1], us);
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
 * Let a proxy end, which what it waits for may keep for as long as it likes.
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
 * Wait until process pid, a child, has ended, for so many milliseconds at the
 * most.
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
 * Have a proxy, while there is time for it.  If there is no process to be had,
 * what every process has is read without one.
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
 * Return the process that is the proxy of a lane, or 0 where there is none.
 */
pid_t
proxy_process(size_t lane)
{
	return lanes[lane].pid;
}

/*
 * Have the proxy of a lane end, if there is one, and wait for that for a
 * moment.
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
 * Forget the proxy, in a process that was forked by the one that has it: there
 * is none for this one.
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
 * End all proxies.  Who was left behind ends when what it waits for comes, or
 * never can; the keeper is given as long as all answers, so that connections
 * are not locked any more when we end.
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
