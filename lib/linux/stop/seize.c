/*
 * One thread: to look at it before it is stopped, at the system call that it is
 * in as well, which its registers may not tell afterwards (linux/machine/); to
 * begin to stop it, and to see whether it has.  attach.c makes us its tracer.
 */
#include "clock.h"
#include "restart.h"
#include "stopping.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Return how often a thread had gone to sleep, as status tells.
 */
static uint64_t
sleeps_told(const void *status, size_t len)
{
	return status_first(status, len, "voluntary_ctxt_switches", 10);
}

/*
 * Return the number of the call that a thread waits in: nr, as syscall tells,
 * or that which restart_syscall(2) goes on with, as wchan, which was read next,
 * and the first argument tell.
 */
static int64_t
call_first(int64_t nr, const struct file *wchan, uint64_t first)
{
	static const struct {
		const char	*name;
		int64_t		 nr;
	} timed[] = {
#ifdef SYS_poll
		{ "poll", SYS_poll },
#endif
		{ "nanosleep", SYS_nanosleep },
		{ "clock_nanosleep", SYS_clock_nanosleep },
		{ "futex", SYS_futex }
	};
	const char *name;
	char in[64];
	size_t i;

	if (nr != SYS_restart_syscall || wchan == NULL)
		return nr;
	snprintf(in, sizeof in, "%.*s", (int)wchan->len,
	    (const char *)wchan->data);
	name = restart_name(in, first);
	for (i = 0; name != NULL && i < sizeof timed / sizeof *timed; i++)
		if (strcmp(timed[i].name, name) == 0)
			return timed[i].nr;
	return nr;
}

/*
 * Return what l tells of the call: status of it was read first, then syscall,
 * then wchan.
 */
struct seencall
call_seen(const struct filelist *l)
{
	const struct file *status = filelist_find(l, "status"),
	    *f = filelist_find(l, "syscall");
	struct seencall c = { .nr = -1 };
	char text[256];

	if (f == NULL)
		return c;
	snprintf(text, sizeof text, "%.*s", (int)f->len, (const char *)f->data);
	if (sscanf(text, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %"
	    SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &c.nr,
	    &c.arg[0], &c.arg[1], &c.arg[2], &c.arg[3], &c.arg[4], &c.arg[5],
	    &c.sp, &c.pc) != 9)
		c.nr = -1;
	c.nr = call_first(c.nr, filelist_find(l, "wchan"), c.arg[0]);
	if (restart_counts(c.nr) && status != NULL)
		c.sleeps = sleeps_told(status->data, status->len);
	return c;
}

/*
 * See what call thread t of process p is in, which is not stopped yet.
 */
static void
call_look(const struct lproc *p, struct lthread *t)
{
	struct filelist l = { 0 };

	filelist_read(&l, p->pid, t->tid, "status");
	filelist_read(&l, p->pid, t->tid, "syscall");
	filelist_read(&l, p->pid, t->tid, "wchan");
	t->seencall = call_seen(&l);
	filelist_free(&l);
}

/*
 * Read of thread t of process p what can only be seen before it is stopped by
 * us: afterwards it sleeps in the stop of ptrace(2).  What was seen before is
 * forgotten.  The kernel stack, which root alone may read, is left out if p
 * dumps core: it shows how the core is written, no more.
 */
void
thread_look(struct lproc *p, struct lthread *t)
{
	static const char *const name[] = {
		"comm", "stat", "status", "syscall", "wchan", "stack"
	};
	const size_t n = sizeof name / sizeof *name - (p->core != NULL);
	size_t i;

	filelist_free(&t->seen);
	for (i = 0; i < n; i++)
		filelist_read(&t->seen, p->pid, t->tid, name[i]);
	t->seencall = call_seen(&t->seen);
}

/*
 * Look at thread t of process p, which is about to be seized, if it is not
 * known yet which system call it is in: nobody has looked, or another tracer
 * had it stopped then, an earlier snapshot perhaps, and it is on its way back
 * to the call.  Without that, the call would fail with EINTR if we were killed
 * while the thread makes calls of ours (frame_regs of linux/machine/).  It is
 * waited for while it runs.  This is done before the thread is seized, for a
 * signal that is sent to a traced thread may wake another one (threads.c).
 */
void
thread_relook(struct lproc *p, struct lthread *t)
{
	enum { TRIES = 5, NAP_US = 1000 };
	const int64_t *nr = &t->seencall.nr;
	int i;

	for (i = 0; i < TRIES && (*nr == -1 || *nr == SYS_restart_syscall);
	    i++) {
		if (i > 0)
			nap_us(NAP_US);
		if (t->seen.n > 0)
			thread_look(p, t);
		else
			call_look(p, t);
		if (proc_state(p->pid, t->tid) != 'R' || *nr == -1)
			return;
	}
}

/*
 * Return true if thread tid of process pid has a child.  Where the kernel does
 * not tell (proc_pid_children(5)), it has none.
 */
static bool
thread_haschild(pid_t pid, pid_t tid)
{
	ssize_t n;
	char c;
	int fd;

	if ((fd = proc_open(pid, tid, "children", O_RDONLY)) == -1)
		return false;
	n = read(fd, &c, 1);
	close(fd);
	return n == 1;
}

/*
 * See what thread t of process p is doing, before it is seized, and set its
 * rank.  Return 0, or -1 with errstr where nothing can be seen, or where it
 * dumps core: asked to stop, it would give that up, and end (dump_interrupted
 * of fs/coredump.c).
 */
int
thread_judge(const struct lproc *p, struct lthread *t)
{
	struct procstat st;
	bool leads;
	int last;

	leads = t->tid == p->pid || thread_haschild(p->pid, t->tid);
	last = proc_readstat(p->pid, t->tid, &st);
	t->state = st.state;
	if (last == -1 && errno != ESRCH && errno != ENOENT)
		return errstr_sys("/proc/%d/task/%d/stat", p->pid, t->tid);
	if (t->state == '\0') {
		t->hold = HOLD_GONE;
		return 0;
	}
	if (last >= STAT_FLAGS && (st.v[STAT_FLAGS] & PF_DUMPCORE) != 0 &&
	    (st.v[STAT_FLAGS] & PF_EXITING) == 0)
		return errstr_set("process %d dumps core", p->pid);
	/* it may have had one while it was looked at */
	if (leads || thread_haschild(p->pid, t->tid))
		t->rank = RANK_TOLD;
	else
		t->rank = t->state == 'S' ? RANK_IDLE : RANK_RUNS;
	return 0;
}

/*
 * Make the request what of ptrace(2), with data, that lets thread tid run or
 * has it stop.  What fails, with the thread there, is tried again, for the
 * thread would stay as it is.  Return 0, or -1 with errno.
 */
int
thread_ptrace(int what, pid_t tid, uintptr_t data)
{
	enum { TRIES = 3 };
	int i, rc;

	for (rc = -1, i = 0; rc == -1 && i < TRIES; i++) {
		rc = (int)ptrace(what, tid, NULL, (void *)data);
		if (rc == -1 && errno == ESRCH)
			break;
	}
	return rc;
}

/*
 * Return true if thread t, which leads its process, is stopped, and we know
 * it.
 */
static bool
thread_stands(const struct lthread *t)
{
	siginfo_t si = { 0 };

	return t->hold == HOLD_STOPPED && proc_state(t->tid, t->tid) == 't' &&
	    waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOHANG | WNOWAIT |
	    __WALL) == 0 && si.si_pid == 0;
}

/*
 * The number of thread t of process p, which was seized, is that of none now.
 * If it has made an execve(2), it has the number of the thread that led p, and
 * is still traced by us: then that one is seized, and is to stop if t was,
 * whatever was known of it.
 */
static void
thread_lost(struct lproc *p, struct lthread *t)
{
	struct lthread *first = lproc_leader(p);
	enum hold was = t->hold;

	t->hold = HOLD_GONE;
	if (first == NULL || t == first || thread_stands(first) ||
	    proc_died(p->pid, p->pid))
		return;
	if (was != HOLD_SEIZED &&
	    thread_ptrace(PTRACE_INTERRUPT, p->pid, 0) == -1)
		return;
	first->hold = was == HOLD_SEIZED ? HOLD_SEIZED : HOLD_ASKED;
	if (was != HOLD_SEIZED && p->since == 0)
		p->since = now_ns();
}

/*
 * Have thread t of process p, which was seized, stop.
 */
void
thread_stop(struct lproc *p, struct lthread *t)
{
	t->hold = HOLD_ASKED;
	if (thread_ptrace(PTRACE_INTERRUPT, t->tid, 0) == -1)
		thread_lost(p, t);
}

/*
 * Return true if a signal stops whom it is delivered to and who does not
 * handle it.
 */
static bool
is_stop(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	    sig == SIGTTOU;
}

/*
 * See what became of thread t of process p, which was seized.  If it has
 * stopped, its general registers are kept.  If it is gone, the thread that
 * leads p may be to stop by then.
 */
void
thread_poll(struct lproc *p, struct lthread *t)
{
	enum { CALL = 0x80 };	/* at the edge of one that was injected */
	uintptr_t sig;
	int status;
	pid_t rc;

	rc = waitpid(t->tid, &status, WNOHANG | __WALL);
	if (rc == 0 || (rc == -1 && errno == EINTR))
		return;
	if (rc == -1) {
		thread_lost(p, t);
		return;
	}
	if (!WIFSTOPPED(status)) {
		t->hold = HOLD_GONE;
		return;
	}
	if (status >> 16 == PTRACE_EVENT_STOP) {
		t->hold = HOLD_STOPPED;
		/* who is stopped by a signal gave up for that, not for us */
		regs_settle(t, WSTOPSIG(status) == SIGTRAP);
		return;
	}
	/*
	 * A signal came first.  It is delivered as if we were not here; the
	 * stop comes right behind it.  If it is one that is ignored, only we
	 * have made it interrupt anything.
	 */
	if (!is_stop(WSTOPSIG(status)))
		(void)restart_call(t->tid, &t->seencall);
	sig = WSTOPSIG(status) == (SIGTRAP | CALL) ? 0 :
	    (uintptr_t)WSTOPSIG(status);
	if (thread_ptrace(PTRACE_CONT, t->tid, sig) == -1 && errno == ESRCH)
		t->hold = HOLD_GONE;
}

/*
 * Let thread t go, which is stopped.  One that cannot be let go, for it is
 * about to die, is as one that is to stop: it is seen to until it is gone.
 */
void
thread_release(struct lthread *t)
{
	uintptr_t sig;
	int status;
	pid_t rc;

	t->hold = HOLD_NONE;
	for (sig = 0; thread_ptrace(PTRACE_DETACH, t->tid, sig) == -1;) {
		do
			rc = waitpid(t->tid, &status, WNOHANG | __WALL);
		while (rc == -1 && errno == EINTR);
		if (rc == 0)
			t->hold = HOLD_ASKED;
		if (rc != t->tid || !WIFSTOPPED(status))
			break;
		/* it ran, and has stopped again */
		sig = status >> 16 == 0 ? (uintptr_t)WSTOPSIG(status) : 0;
	}
}
