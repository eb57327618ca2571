/*
 * The guard: a process of our own that reaps clones (reaper.c), whatever
 * becomes of us.  It does that when it is told to, or when the socket through
 * which we tell it ends, for whatever reason; the kernel has killed the clones
 * then, for we traced them (PTRACE_O_EXITKILL).  Which they are is in memory
 * that both have: to write there wakes nobody, while others are stopped.
 */
#include "calls.h"
#include "clock.h"
#include "cloning.h"
#include "linux/proxy/proxy.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 5000,	/* for the guard to end, */
	PAIR_MS = 20		/* and for each process that it goes to */
};

static const char guard_name[] = "snap-guard";

/*
 * Try all wards of guard g, in processes of their own: such a one ends where it
 * could not let a thread go, which is let go by that, in whatever state it is
 * then.
 */
static void
pairs_try(struct guard *g)
{
	pid_t pid;

	for (g->at = 0; g->at < g->n;) {
		if ((pid = fork()) > 0) {
			while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
				continue;
			continue;
		}
		while (g->at < g->n && !pair_try(&g->v[g->at++]) && pid == 0)
			continue;
		if (pid == 0)
			_exit(0);
	}
}

/*
 * Reap the clones of all wards of guard g.
 */
static void
pairs_reap(struct guard *g)
{
	enum { MOST_US = 500000 };
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
 * Be guard g of process parent, which tells it to end through descriptor 0.
 *
 * A process that dies closes its descriptors before it lets go of what it
 * traces (do_exit of kernel/exit.c: exit_files, then exit_notify), and its
 * children have another parent from then on only.
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
 * Start guard g.  Return 0, or -1 with errstr.
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
		 * not for SIGKILL to our group.  In a session of its own it
		 * might not get a processor for seconds: sched_autogroup of
		 * sched(7)
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
	if (pid != -1)
		return 0;
	errstr_sys("fork");
	close(g->fd);
	return -1;
}

/*
 * Start a guard and return it; NULL with errstr.  Other threads that run
 * meanwhile are not in it: it needs no lock of ours, and those of the C
 * library are free in a forked process.
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
 * Have guard g reap its clones and end, and wait for that, for five seconds at
 * the most and twenty milliseconds more for each process that it goes to.  Set
 * *status as waitpid(2) does.  Return false if it has not ended.
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
 * Let guard g reap its clones, which have been killed, and end, and free it.
 * If it was killed itself, or failed, another does.  Return 1; 0 when it still
 * has to wait for something, -1 when it has given up, or cannot be had.
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
 * Return true if processes a and b run the same executable.  No file server is
 * asked.
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
 * Return the number of guard g; 0 if g is NULL.
 */
pid_t
guard_pid(const struct guard *g)
{
	return g == NULL ? 0 : g->pid;
}

/*
 * Return true if a process is a guard of the same program, of another who
 * takes a snapshot now, or took one and is gone.  It may have any parent.
 */
bool
guard_is(pid_t pid)
{
	struct task t;

	return proc_stat(pid, 0, &t) == 0 && strcmp(t.comm, guard_name) == 0 &&
	    program_same(pid, getpid());
}
