/*
 * The guard: a process of ours that makes processes reap their clones
 * (reaper.c), even if we are killed. It starts when we tell it to, or when the
 * socket between us is closed for any reason; in that case the kernel has
 * killed the clones, as we traced them (PTRACE_O_EXITKILL). The list of clones
 * is in shared memory: to write there wakes nobody while processes are stopped.
 */
#include "calls.h"
#include "clock.h"
#include "cloning.h"
#include "linux/proxy/proxy.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 5000,	/* maximum time for the guard to end, in ms */
	PAIR_MS = 20		/* additional time for the guard to end, for
				   each process */
};

static const char guard_name[] = "snap-guard";

/*
 * Try, in child processes, to reap the clones of all pairs of guard g. A pair
 * is a process and its clone. If a child cannot release a thread, it exits: the
 * kernel then releases the thread, whatever its state.
 */
static void
pairs_try(struct guard *g)
{
	bool kept;
	pid_t pid;

	for (g->at = 0; g->at < g->n;) {
		if ((pid = fork()) > 0) {
			while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
				continue;
			continue;
		}
		do {		/* here if fork(2) failed */
			kept = pair_try(&g->v[g->at++]);
		} while (pid == 0 && !kept && g->at < g->n);
		if (pid == 0 || kept)
			_exit(pid == 0 ? 0 : 1);
	}
}

/*
 * Reap the clones of all pairs of guard g.
 */
static void
pairs_reap(struct guard *g)
{
	enum { MOST_US = 4000000 }; /* a cgroup may be frozen for long */
	size_t i, left, unknown;
	long nap;

	pairs_find(g);
	for (nap = 100;; nap += nap < MOST_US ? nap : 0) {
		pairs_try(g);
		for (unknown = i = 0; i < g->n; i++)
			unknown += g->v[i].clone == 0;
		if (unknown > 0)
			pairs_find(g);
		for (left = i = 0; i < g->n; i++)
			left += !pair_isdone(&g->v[i]);
		if (left == 0)
			return;
		nap_us(nap);
	}
}

/*
 * Run guard g of process parent: wait for a byte on the socket open as
 * descriptor 0, then reap the clones. If the other end of the socket is closed
 * and no byte has come, first wait until parent has gone. A process that dies
 * closes its descriptors, then releases the threads it traces. Only then do its
 * children get another parent (do_exit of kernel/exit.c: exit_files, then
 * exit_notify).
 */
static void __attribute__((noreturn))
guard_main(struct guard *g, pid_t parent)
{
	ssize_t n;
	char end;

	while ((n = recv(0, &end, sizeof end, 0)) == -1 && getppid() == parent)
		nap_us(1000);
	while (n != 1 && getppid() == parent)
		nap_us(1000);
	pairs_reap(g);
	_exit(0);
}

/*
 * Start guard g in a new process.
 */
static int
guard_start(struct guard *g)
{
	pid_t pid, us = getpid();
	sigset_t all, old;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1)
		return errstr_sys("%s", guard_name);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if ((pid = fork()) == 0) {
		/*
		 * Leave our process group, so that a SIGKILL to it does not hit
		 * the guard. A session of its own would make it wait for a
		 * processor for seconds: sched_autogroup of sched(7).
		 */
		(void)setpgid(0, 0);
		(void)prctl(PR_SET_NAME, guard_name);
		if (dup2(fd[1], 0) == -1)
			_exit(1);
		(void)call_closefrom(1);
		proxy_forked();
		guard_main(g, us);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd[1]);
	g->pid = pid;
	g->fd = fd[0];
	if (pid == -1)
		fd_drop(g->fd);
	return pid == -1 ? errstr_sys("fork") : 0;
}

/*
 * Start a guard, in a process that has only a copy of the calling thread. This
 * is safe, since the guard needs none of our locks, and fork(2) leaves the
 * locks of the C library free. Return the guard, or NULL with errstr set.
 */
struct guard *
guard_begin(void)
{
	struct guard *g;

	g = mmap(NULL, sizeof *g, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (g == MAP_FAILED) {
		errstr_sys("%s", guard_name);
		return NULL;
	}
	if (guard_start(g) == 0)
		return g;
	munmap(g, sizeof *g);
	return NULL;
}

/*
 * Tell guard g to reap the clones and end. Wait for it to end, for up to five
 * seconds plus 20 ms for each process in its list. Set *status as waitpid(2)
 * does. Return false if the guard has not ended.
 */
static bool
guard_stop(const struct guard *g, int *status)
{
	const long most = (PATIENCE_MS + PAIR_MS * (long)g->n) * 1000;
	long nap, waited;
	pid_t pid;

	(void)send(g->fd, "", 1, MSG_NOSIGNAL);
	close(g->fd);
	waited = 0;
	for (nap = 100; (pid = waitpid(g->pid, status, WNOHANG)) == 0 &&
	    waited < most; nap += nap < 20000 ? nap / 2 : 0) {
		nap_us(nap);
		waited += nap;
	}
	return pid != 0;
}

/*
 * Have guard g reap the clones that were killed, and free g. If the guard was
 * killed or has failed, start another one. Return 1 if all clones were reaped.
 * Return 0 if the guard is still waiting for something. Return -1 if it has
 * given up or cannot be started.
 */
int
guard_end(struct guard *g)
{
	size_t i;
	int rc, status;
	bool ended;

	status = 0;
	ended = guard_stop(g, &status);
	if (ended && status != 0)
		ended = guard_start(g) == -1 || guard_stop(g, &status);
	for (rc = ended, i = 0; i < g->n; i++)
		if (ended && g->v[i].clone >= 0)
			rc = -1;
	munmap(g, sizeof *g);
	return rc;
}

/*
 * Return true if processes a and b run the same executable file. This asks no
 * file server (AT_STATX_DONT_SYNC).
 */
bool
program_same(pid_t a, pid_t b)
{
	const pid_t pid[2] = { a, b };
	struct statx sx[2];
	char path[64];
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "/proc/%d/exe", pid[i]);
		if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO,
		    &sx[i]) == -1)
			return false;
	}
	return sx[0].stx_ino == sx[1].stx_ino &&
	    sx[0].stx_dev_major == sx[1].stx_dev_major &&
	    sx[0].stx_dev_minor == sx[1].stx_dev_minor;
}

/*
 * Return the process ID of guard g, or 0 if g is NULL.
 */
pid_t
guard_pid(const struct guard *g)
{
	return g == NULL ? 0 : g->pid;
}

/*
 * Return true if process pid is the guard of a snap with the same executable.
 * That snap may have ended. Do not look at the parent of pid, since a guard
 * gets another parent when its snap ends.
 */
bool
guard_is(pid_t pid)
{
	struct task t;

	return proc_stat(pid, 0, &t) == 0 && strcmp(t.comm, guard_name) == 0 &&
	    program_same(pid, getpid());
}
