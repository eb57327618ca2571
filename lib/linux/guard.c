/*
 * The guard: a process of our own that reaps clones (clone.c), whatever
 * becomes of us.
 *
 * A clone is a child of the process that it is of.  When it has ended it is a
 * zombie that only its parent can reap, so the parent is stopped once more
 * for an instant and made to.  The guard does that when it is told, or when
 * the socket through which we tell it ends, for whatever reason; the kernel
 * has killed the clones then, for we traced them (PTRACE_O_EXITKILL).
 */
#include "live.h"
#include "inject.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/close_range.h>

enum {
	PATIENCE_MS = 5000,	/* for the guard to end */
	TRIES = 20,		/* to run something in a process */
	LOOKS = 10,		/* for a clone that is not known */
	EXITING = 0x4		/* PF_EXITING of linux/sched.h */
};

struct ward {			/* what the guard is told */
	pid_t		 target;
	pid_t		 clone;	/* 0: will be made now; -1: was not */
	uint64_t	 since;	/* ticks since this system was started */
	uint64_t	 start;	/* of the clone, likewise */
};

struct wards {
	struct ward	*v;	/* owned */
	size_t		 n;
};

struct guard {			/* on our side */
	pid_t		 pid;
	int		 fd;	/* owned */
	struct wards	 told;
};

struct child {			/* proc_pid_stat(5) */
	char		 state;
	pid_t		 ppid;
	unsigned int	 flags;
	uint64_t	 start;	/* in ticks */
	int		 exitsignal;
};

static int
child_look(pid_t pid, struct child *c)
{
	unsigned long long start;
	struct bytes b;
	char *s, *p;
	int got;

	if (proc_read(pid, 0, "stat", &b) == -1)
		return -1;
	s = strndup((char *)b.data, b.len);
	free(b.data);
	got = 0;
	if (s != NULL && (p = strrchr(s, ')')) != NULL)
		got = sscanf(p + 1, " %c %d %*s %*s %*s %*s %u %*s %*s %*s "
		    "%*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %*s %*s %*s "
		    "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
		    &c->state, &c->ppid, &c->flags, &start, &c->exitsignal);
	free(s);
	if (got != 5)
		return -1;
	c->start = start;
	return 0;
}

/*
 * Ticks of proc_pid_stat(5) since this system was started.
 */
static uint64_t
ticks_now(void)
{
	struct timespec ts;
	uint64_t hz;

	hz = (uint64_t)sysconf(_SC_CLK_TCK);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * hz + (uint64_t)ts.tv_nsec * hz /
	    1000000000;
}

/*
 * Is the clone of a ward still there, and not another process by now?
 */
static bool
ward_owns(const struct ward *w, struct child *c)
{
	return child_look(w->clone, c) == 0 && c->ppid == w->target &&
	    c->exitsignal == 0 && c->start == w->start;
}

struct finding_clone {
	struct ward	*ward;
	uint64_t	 until;	/* in ticks */
};

/*
 * The clone of a ward that we were not told of ends by itself.  It was made
 * while all threads of its process were stopped, so that nothing else was.
 */
static int
find_pid(void *arg, long pid)
{
	struct finding_clone *f = arg;
	struct child c;

	if (child_look((pid_t)pid, &c) == 0 && c.ppid == f->ward->target &&
	    c.exitsignal == 0 && (c.state == 'Z' || c.flags & EXITING) &&
	    c.start + 1 >= f->ward->since && c.start <= f->until) {
		f->ward->clone = (pid_t)pid;
		f->ward->start = c.start;
	}
	return 0;
}

static void
nap_us(long us)
{
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/*
 * The number of a clone as its parent knows it, in the innermost of the PID
 * namespaces: the last of the numbers that NSpid lists.
 */
static pid_t
clone_nspid(pid_t clone)
{
	struct bytes b;
	const char *s, *end;
	pid_t pid;

	pid = 0;
	if (proc_read(clone, 0, "status", &b) == -1)
		return 0;
	if ((s = memmem(b.data, b.len, "\nNSpid:", 7)) != NULL &&
	    (end = memchr(s + 1, '\n', b.len - (size_t)(s + 1 -
	    (const char *)b.data))) != NULL) {
		while (end > s && end[-1] != '\t' && end[-1] != ':')
			end--;
		pid = (pid_t)strtol(end, NULL, 10);
	}
	free(b.data);
	return pid;
}

/*
 * Make a stopped process reap its clone: 1 when it is done, 0 when it is to be
 * tried again, -1.
 */
static int
reap_call(const struct ward *w)
{
	uint64_t arg[6] = { 0, 0, WNOHANG | __WALL };
	struct inject *in;
	struct child c;
	int64_t got;
	pid_t nspid;
	int rc;

	got = 0;
	if (!ward_owns(w, &c) || (nspid = clone_nspid(w->clone)) == 0)
		return 1;
	if ((in = inject_begin(w->target, false)) == NULL)
		return -1;
	arg[0] = (uint64_t)nspid;
	rc = inject_call(in, &got, SYS_wait4, arg);
	if (inject_end(in) == -1 || rc == -1)
		return -1;
	return got == nspid || got == -ECHILD;
}

/*
 * Stop the thread that leads a process, which reaps its clone, and let it go.
 * The result is that of reap_call.
 */
static int
ward_stop(const struct ward *w)
{
	struct lthread t = { .tid = w->target };
	long nap;
	int rc;

	t.state = proc_state(t.tid, t.tid);
	if (ptrace(PTRACE_SEIZE, t.tid, NULL, NULL) == -1)
		return 0;	/* another traces it, for now */
	t.hold = HOLD_SEIZED;
	if (ptrace(PTRACE_INTERRUPT, t.tid, NULL, NULL) == -1)
		t.hold = HOLD_GONE;
	for (nap = 20; t.hold == HOLD_SEIZED; nap += nap < 1000 ? nap / 4 : 0) {
		thread_poll(&t);
		if (t.hold == HOLD_SEIZED)
			nap_us(nap);
	}
	rc = 0;
	if (t.hold == HOLD_STOPPED) {
		rc = reap_call(w);
		(void)ptrace(PTRACE_DETACH, t.tid, NULL, NULL);
	}
	thread_forget(&t);
	return rc;
}

/*
 * Kill the clone of a ward, and nobody else.
 */
static void
clone_kill(const struct ward *w)
{
	struct child c;
	int fd;

	if ((fd = (int)syscall(SYS_pidfd_open, w->clone, 0)) == -1)
		return;
	if (ward_owns(w, &c))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	close(fd);
}

/*
 * Reap the clone of a ward, however long that takes.  When the process is
 * gone, so is the clone, or it has another parent.  False if it stays.
 */
static bool
clone_reap(const struct ward *w)
{
	struct child c;
	int failed, rc;
	long nap;

	failed = 0;
	for (nap = 100; ward_owns(w, &c) && failed < TRIES;
	    nap += nap < 500000 ? nap : 0) {
		rc = 0;
		if (c.state == 'Z')
			rc = ward_stop(w);
		else
			clone_kill(w);
		if (rc == 1)
			return true;
		failed += rc == -1;
		nap_us(nap);
	}
	return failed < TRIES;
}

/*
 * Reap what is left of a ward.  A clone that we were not told of may still be
 * in the making.
 */
static bool
ward_reap(struct ward *w, uint64_t until)
{
	struct finding_clone f = { w, until };
	int i;

	for (i = 0; i < LOOKS && w->clone == 0; i++) {
		if (i > 0)
			nap_us(100000);
		(void)proc_list(0, NULL, find_pid, &f);
	}
	return w->clone <= 0 || clone_reap(w);
}

/*
 * Reap what is left of all wards, and exit: 1 if a clone stays.
 */
static void __attribute__((noreturn))
wards_reap(struct wards *l)
{
	uint64_t until;
	size_t i;
	pid_t pid;
	int status;
	bool done;

	until = ticks_now();
	done = true;
	/* one may take long: none waits for another */
	for (i = 0; i < l->n; i++) {
		pid = i + 1 == l->n ? -1 : fork();
		if (pid > 0)
			continue;
		done &= ward_reap(&l->v[i], until);
		if (pid == 0)
			_exit(done ? 0 : 1);
	}
	while ((pid = wait(&status)) != -1 || errno == EINTR)
		done &= pid == -1 || status == 0;
	_exit(done ? 0 : 1);
}

/*
 * Remember what is told of a ward: of a new one, or the clone of the last.
 */
static int
wards_add(struct wards *l, const struct ward *w)
{
	struct ward *v;

	if (l->n > 0 && w->clone != 0 && l->v[l->n - 1].clone == 0) {
		l->v[l->n - 1] = *w;
		return 0;
	}
	if ((v = reallocarray(l->v, l->n + 1, sizeof *v)) == NULL)
		return errstr_set("out of memory");
	l->v = v;
	v[l->n++] = *w;
	return 0;
}

/*
 * Start the guard, which reaps the wards when the other end of the socket fd
 * is closed; -1: now.
 */
static int
guard_fork(struct guard *g, int fd)
{
	struct ward w;
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if ((g->pid = fork()) == 0) {
		(void)setsid();
		(void)prctl(PR_SET_NAME, "snap-guard");
		if (fd != -1)
			(void)dup2(fd, 0);
		(void)close_range(fd == -1 ? 0 : 1, UINT32_MAX, 0);
		while (fd != -1 && recv(0, &w, sizeof w, 0) == sizeof w)
			if (wards_add(&g->told, &w) == -1)
				_exit(1);
		wards_reap(&g->told);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return g->pid == -1 ? errstr_sys("fork") : 0;
}

/*
 * Start the guard.  Other threads that run meanwhile are not in it: it needs
 * no lock of ours, and those of the C library are free in a forked process.
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
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1) {
		errstr_sys("socketpair");
		free(g);
		return NULL;
	}
	rc = guard_fork(g, fd[1]);
	close(fd[1]);
	g->fd = fd[0];
	if (rc == -1) {
		close(fd[0]);
		free(g);
		return NULL;
	}
	return g;
}

/*
 * Tell the guard that a process will be cloned now (clone is 0), and then of
 * its clone, which we trace, or that there is none (-1).
 */
int
guard_tell(struct guard *g, pid_t target, pid_t clone)
{
	struct ward w = { target, clone, ticks_now(), 0 };
	struct child c;

	if (clone > 0 && child_look(clone, &c) == 0)
		w.start = c.start;
	if (wards_add(&g->told, &w) == -1)
		return -1;
	if (send(g->fd, &w, sizeof w, MSG_NOSIGNAL) != sizeof w)
		return errstr_sys("snap-guard");
	return 0;
}

/*
 * Wait for the guard to end, for a while: false if it does not.
 */
static bool
guard_await(const struct guard *g, int *status)
{
	long nap, waited;
	pid_t pid;

	waited = 0;
	for (nap = 100; (pid = waitpid(g->pid, status, WNOHANG)) == 0 &&
	    waited < PATIENCE_MS * 1000L; nap += nap < 20000 ? nap / 2 : 0) {
		nap_us(nap);
		waited += nap;
	}
	return pid != 0;
}

/*
 * All clones have been killed: let the guard reap them, and end; if it was
 * killed itself, another does.  1; 0 when it still has to wait for something,
 * -1 when it has given up, or cannot be had.
 */
int
guard_end(struct guard *g)
{
	int rc, status;
	bool ended;

	close(g->fd);
	status = 0;
	ended = guard_await(g, &status);
	if (ended && WIFSIGNALED(status)) {
		status = 1;
		ended = guard_fork(g, -1) == -1 || guard_await(g, &status);
	}
	rc = !ended ? 0 : status == 0 ? 1 : -1;
	free(g->told.v);
	free(g);
	return rc;
}
