/*
 * The guard: a process of our own that reaps clones (reaper.c), whatever
 * becomes of us.  It does that when it is told to, or when the socket through
 * which we tell it ends, for whatever reason; the kernel has killed the clones
 * then, for we traced them (PTRACE_O_EXITKILL).  Which they are is in a file
 * without a name, which both have: to write there wakes nobody, while others
 * are stopped.
 */
#include "calls.h"
#include "clock.h"
#include "cloning.h"
#include "io/io.h"
#include "linux/proxy/proxy.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 5000,	/* for the guard to end, */
	WARD_MS = 20,		/* and for each process that it goes to */
	GUARD_FAILED = 2	/* its exit status: it has reaped none */
};

static const char guard_name[] = "snap-guard";

struct guard {			/* on our side */
	pid_t		 pid;
	int		 fd;	/* owned, as these; to tell it to end */
	int		 list;	/* wards, as they were told, */
	size_t		 n;	/* so many */
	struct wards	 told;	/* the same, for another guard */
};

/*
 * Read which wards the file list has.  Return 0, or -1 if not all can be had.
 * The last of them may be a part: who wrote it was killed.
 */
static int
wards_read(struct wards *told, int list)
{
	struct ward w;
	off_t at;
	ssize_t n;

	for (at = 0; (n = pread(list, &w, sizeof w, at)) == sizeof w;
	    at += n)
		if (wards_add(told, &w) == -1)
			return -1;
	return n == -1 ? -1 : 0;
}

/*
 * Be the guard of process parent, which tells it to end through descriptor 0,
 * and of the wards in the file of descriptor 1, if listens; else those told.
 *
 * A process that dies closes its descriptors before it lets go of what it
 * traces (do_exit of kernel/exit.c: exit_files, then exit_notify), and its
 * children have another parent from then on only.
 */
static void __attribute__((noreturn))
guard_main(struct wards *told, pid_t parent, bool listens)
{
	bool asked = !listens;
	ssize_t n;
	char end;

	while (!asked && (n = recv(0, &end, sizeof end, 0)) != 0) {
		if (n == -1 && getppid() != parent)
			break;
		asked = n == 1;
		if (!asked)
			nap_us(1000);
	}
	while (!asked && getppid() == parent)
		nap_us(1000);
	if (listens && wards_read(told, 1) == -1)
		_exit(GUARD_FAILED);
	wards_reap(told);
}

/*
 * Start guard g.  It reaps its wards when it is told to through the socket fd,
 * or when the other end of that is closed; at once if fd is -1.  Return 0, or
 * -1 with errstr.
 */
static int
guard_fork(struct guard *g, int fd)
{
	pid_t us = getpid();
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if ((g->pid = fork()) == 0) {
		/*
		 * not for SIGKILL to our group.  In a session of its own it
		 * might not get a processor for seconds: sched_autogroup of
		 * sched(7)
		 */
		(void)setpgid(0, 0);
		(void)prctl(PR_SET_NAME, guard_name);
		/* its end is not to be ours, too */
		if (fd != -1 && (close(g->fd) == -1 ||
		    (fd = fcntl(fd, F_DUPFD, 3)) == -1 ||
		    dup2(g->list, 1) == -1 || dup2(fd, 0) == -1))
			_exit(GUARD_FAILED);
		(void)call_closefrom(fd == -1 ? 0 : 2);
		proxy_forked();
		guard_main(&g->told, us, fd != -1);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return g->pid == -1 ? errstr_sys("fork") : 0;
}

static void
guard_free(struct guard *g)
{
	if (g->fd != -1)
		close(g->fd);
	if (g->list != -1)
		close(g->list);
	free(g->told.v);
	free(g);
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
	int fd[2], rc;

	if ((g = calloc(1, sizeof *g)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	g->fd = -1;
	if ((g->list = spool_memory(guard_name, 0)) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1) {
		errstr_sys("%s", guard_name);
		guard_free(g);
		return NULL;
	}
	g->fd = fd[0];
	rc = guard_fork(g, fd[1]);
	close(fd[1]);
	if (rc == 0)
		return g;
	guard_free(g);
	return NULL;
}

/*
 * Add ward w to the list of guard g: 0, or -1 with errstr.  What fails for want
 * of memory is tried again.
 */
static int
guard_list(struct guard *g, const struct ward *w)
{
	enum { TRIES = 3 };
	ssize_t n;
	int i;

	for (n = -1, i = 0; n != sizeof *w && i < TRIES; i++)
		n = pwrite(g->list, w, sizeof *w, (off_t)(g->n * sizeof *w));
	if (n != sizeof *w)
		return errstr_sys("%s", guard_name);
	g->n++;
	return 0;
}

/*
 * Tell guard g that process target will be cloned now (clone is 0), then which
 * clone it has, which we trace, or that it has none (-1).  Return 0, or -1
 * with errstr.
 */
int
guard_tell(struct guard *g, pid_t target, pid_t clone)
{
	struct ward w;

	if (ward_set(&w, target, clone) == -1 ||
	    wards_add(&g->told, &w) == -1)
		return -1;
	return guard_list(g, &w);
}

/*
 * Wait, for five seconds at the most and twenty milliseconds more for each
 * process that it goes to, until guard g has ended, and set *status as
 * waitpid(2) does.  Return false if it has not.
 */
static bool
guard_await(const struct guard *g, int *status)
{
	const long most = (PATIENCE_MS + WARD_MS * (long)g->told.n) * 1000;
	long nap, waited;
	pid_t pid;

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
	int rc, status;
	bool ended;

	(void)send(g->fd, "", 1, MSG_NOSIGNAL);
	close(g->fd);
	g->fd = -1;
	status = 0;
	ended = guard_await(g, &status);
	if (ended && (WIFSIGNALED(status) ||
	    WEXITSTATUS(status) == GUARD_FAILED)) {
		status = 1;
		ended = guard_fork(g, -1) == -1 || guard_await(g, &status);
	}
	rc = !ended ? 0 : status == 0 ? 1 : -1;
	guard_free(g);
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
