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
	LOOKS = 10		/* for a clone that is not known */
};

struct guard {			/* on our side */
	pid_t		 pid;
	int		 fd;	/* owned */
};

struct ward {			/* what the guard is told */
	pid_t		 target;
	pid_t		 clone;	/* 0: will be made now */
	uint64_t	 ticks;	/* since this system was started */
};

struct child {			/* proc_pid_stat(5) */
	char		 state;
	pid_t		 ppid;
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
		got = sscanf(p + 1, " %c %d %*s %*s %*s %*s %*s %*s %*s %*s "
		    "%*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %*s %*s %*s "
		    "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
		    &c->state, &c->ppid, &start, &c->exitsignal);
	free(s);
	if (got != 4)
		return -1;
	c->start = start;
	return 0;
}

/*
 * Is a process the clone that a ward has, or may have?
 */
static bool
ward_owns(const struct ward *w, pid_t pid, struct child *c)
{
	return child_look(pid, c) == 0 && c->ppid == w->target &&
	    c->exitsignal == 0 && c->start + 1 >= w->ticks;
}

struct finding_clone {
	const struct ward *ward;
	pid_t		 clone;
};

static int
find_pid(void *arg, long pid)
{
	struct finding_clone *f = arg;
	struct child c;

	if (ward_owns(f->ward, (pid_t)pid, &c) && c.state == 'Z')
		f->clone = (pid_t)pid;
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
 * Make a process reap its clone: 1 when it is done, 0 when it is to be
 * tried again, -1.
 */
static int
reap_call(pid_t target, pid_t clone)
{
	uint64_t arg[6] = { 0, 0, WNOHANG | __WALL };
	struct inject *in;
	int64_t got;
	pid_t nspid;
	int rc;

	got = 0;
	if ((nspid = clone_nspid(clone)) == 0)
		return 1;
	if ((in = inject_begin(target)) == NULL)
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
ward_stop(pid_t target, pid_t clone)
{
	struct lthread t = { .tid = target };
	long nap;
	int rc;

	t.state = proc_state(target, target);
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
		rc = reap_call(target, clone);
		(void)ptrace(PTRACE_DETACH, t.tid, NULL, NULL);
	}
	thread_forget(&t);
	return rc;
}

/*
 * Reap a clone of a ward, however long that takes.  When the process is gone,
 * so is the clone, or it has another parent.
 */
static void
clone_reap(const struct ward *w, pid_t clone)
{
	struct child c;
	int failed, rc;
	long nap;

	failed = 0;
	for (nap = 100; ward_owns(w, clone, &c) && failed < TRIES;
	    nap += nap < 500000 ? nap : 0) {
		rc = 0;
		if (c.state == 'Z')
			rc = ward_stop(w->target, clone);
		else
			(void)kill(clone, SIGKILL);
		if (rc == 1)
			return;
		failed += rc == -1;
		nap_us(nap);
	}
}

/*
 * Reap what is left of a ward.  A clone that we were not told of may still be
 * in the making, and ends by itself; it looks like those of others, who want
 * them reaped, too.
 */
static void
ward_reap(const struct ward *w)
{
	struct finding_clone f = { w, w->clone };
	int i;

	if (w->clone != 0) {
		clone_reap(w, w->clone);
		return;
	}
	for (i = 0; i < LOOKS; i++) {
		f.clone = 0;
		(void)proc_list(0, NULL, find_pid, &f);
		if (f.clone != 0)
			clone_reap(w, f.clone);
		else
			nap_us(100000);
	}
}

/*
 * Remember what is told until the other end is closed; then reap.
 */
static void __attribute__((noreturn))
guard_run(int fd)
{
	struct ward w, *all, *v;
	size_t i, n;
	pid_t pid;

	all = NULL;
	n = 0;
	while (recv(fd, &w, sizeof w, 0) == sizeof w) {
		if (n > 0 && w.clone != 0 && all[n - 1].clone == 0) {
			all[n - 1].clone = w.clone;
			continue;
		}
		if ((v = reallocarray(all, n + 1, sizeof *v)) == NULL)
			break;
		all = v;
		all[n++] = w;
	}
	/* one may take long: none waits for another */
	for (i = 0; i < n; i++) {
		pid = i + 1 == n ? -1 : fork();
		if (pid > 0)
			continue;
		ward_reap(&all[i]);
		if (pid == 0)
			_exit(0);
	}
	while (wait(NULL) != -1 || errno == EINTR)
		continue;
	_exit(0);
}

/*
 * Start the guard.  To be called by a process without other threads.
 */
struct guard *
guard_begin(void)
{
	struct guard *g;
	sigset_t all, old;
	int fd[2];

	if ((g = malloc(sizeof *g)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1) {
		errstr_sys("socketpair");
		free(g);
		return NULL;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if ((g->pid = fork()) == 0) {
		(void)setsid();
		(void)prctl(PR_SET_NAME, "snap-guard");
		(void)dup2(fd[1], 0);
		(void)close_range(1, UINT32_MAX, 0);
		guard_run(0);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd[1]);
	g->fd = fd[0];
	if (g->pid == -1) {
		errstr_sys("fork");
		close(fd[0]);
		free(g);
		return NULL;
	}
	return g;
}

/*
 * Tell the guard that a process will be cloned now (clone is 0), and then of
 * its clone.
 */
int
guard_tell(struct guard *g, pid_t target, pid_t clone)
{
	struct ward w = { target, clone, 0 };
	struct timespec ts;
	uint64_t hz;

	hz = (uint64_t)sysconf(_SC_CLK_TCK);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	w.ticks = (uint64_t)ts.tv_sec * hz + (uint64_t)ts.tv_nsec * hz /
	    1000000000;
	if (send(g->fd, &w, sizeof w, MSG_NOSIGNAL) != sizeof w)
		return errstr_sys("snap-guard");
	return 0;
}

/*
 * All clones have been killed: let the guard reap them, and end.  False when
 * it still has to wait for something.
 */
bool
guard_end(struct guard *g)
{
	pid_t pid;
	long nap, waited;

	close(g->fd);
	waited = 0;
	for (nap = 100; (pid = waitpid(g->pid, NULL, WNOHANG)) == 0 &&
	    waited < PATIENCE_MS * 1000L; nap += nap < 20000 ? nap / 2 : 0) {
		nap_us(nap);
		waited += nap;
	}
	free(g);
	return pid != 0;
}
