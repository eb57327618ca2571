/*
 * Stop processes and release them: PTRACE_SEIZE and PTRACE_INTERRUPT
 * (ptrace(2)), which send no signal and leave a stopped process stopped.
 *
 * First all threads are looked at, to read facts that a stopped thread no
 * longer shows, or that take long to read. Then all threads of all processes
 * are seized, which may have to wait (stop/attach.c). When that is done, or the
 * time is up, all are stopped. Threads and processes that appear until then are
 * found by listing again until nothing is new, as a stopped process creates
 * none. If we die for any reason, the kernel releases all of them.
 */
#include "clock.h"
#include "linux/clone/clone.h"
#include "linux/file/file.h"
#include "linux/inject/inject.h"
#include "linux/restore/open/open.h"
#include "linux/restore/socket/socket.h"
#include "linux/proxy/proxy.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"
#include "live.h"
#include "state/state.h"

#include <signal.h>
#include <unistd.h>

enum {
	COMING_MS = 5000,	/* time limit for processes that keep
				   entering a cgroup */
	LOOKS = 8,		/* maximum number of rounds for looking at
				   threads, and for seizing them */
	PREPARED_PART = 4	/* prepared copies take at most a quarter of
				   the memory we may use */
};

struct round {			/* one round of listing processes and looking
				   at or seizing threads */
	struct live	*live;
	bool		 seizing;
	uint64_t	 until;	/* deadline for processes inside execve(2), in
				   ms, as returned by now_ms() */
	bool		 grew;
	bool		 waits;	/* true if a process is inside execve(2) and
				   must be seized later */
};

/*
 * Seize the new threads of process p: become their tracer, while they keep
 * running. Return the result of threads_seize(). If the time limit for
 * execve(2) has passed, return -1 instead of SEIZE_WAITS.
 */
static int
round_seize(struct round *r, struct lproc *p)
{
	int rc;

	if ((rc = threads_seize(p)) != SEIZE_WAITS)
		return rc;
	if (now_ms() >= r->until) {
		threads_giveup(p);
		return exec_refused(p->pid);
	}
	r->waits = true;
	/* execve(2) may wait for a thread of p to end, which must be reaped */
	(void)live_poll(r->live);
	return rc;
}

/*
 * List the new threads of process p and look at them. If round r is for
 * seizing, seize them. If p cannot be captured, leave it out.
 */
static void
round_proc(struct round *r, struct lproc *p)
{
	struct task now = { 0 };
	int rc;

	if (!lproc_istaken(p))
		return;
	if (TAILQ_EMPTY(&p->threads)) {
		/* after a timeout, looking at its threads fails as well */
		if (proc_stat(p->pid, 0, &now) == -1 && errno != ETIMEDOUT) {
			lproc_leave(r->live, p);
			return;
		}
		p->kernel = now.kernel;
		if (now.kernel)
			live_warn(r->live, "process %d (%s) is a kernel "
			    "thread: it has no memory or registers of its "
			    "own", p->pid, now.comm);
	}
	rc = threads_list(p, true);
	/* live_settle() reports a process that has gone */
	if (rc == 1)
		return;
	if (rc == 0 && r->seizing && !p->kernel)
		rc = round_seize(r, p);
	if (p->tracer != 0)
		live_warn(r->live, "process %d is traced by process %ld: "
		    "captured without stopping it, and without its "
		    "registers", p->pid, p->tracer);
	p->tracer = 0;
	if (rc == -1)
		lproc_refuse(r->live, p);
	r->grew |= rc > 0;
}

static int
round_child(void *arg, long pid)
{
	struct round *r = arg;
	long parent;
	int rc;

	if (lproc_find(r->live, (pid_t)pid) != NULL ||
	    proxy_isours((pid_t)pid) ||
	    (parent = proc_status((pid_t)pid, 0, "PPid")) <= 0 ||
	    lproc_find(r->live, (pid_t)parent) == NULL)
		return 0;
	rc = live_add(r->live, (pid_t)pid, true);
	r->grew |= lproc_find(r->live, (pid_t)pid) != NULL;
	return rc;
}

/*
 * Find new processes and threads of the set, and look at them or seize them.
 */
static int
live_round(struct round *r)
{
	struct live *l = r->live;
	struct lproc *p;

	r->grew = r->waits = false;
	if ((l->opts.descendants &&
	    proc_list(0, NULL, round_child, r) == -1) ||
	    live_members(l, &r->grew) == -1)
		return -1;
	TAILQ_FOREACH(p, &l->procs, entry)
		round_proc(r, p);
	return 0;
}

/*
 * Find the processes of set l and their threads, and look at the threads. Stop
 * after LOOKS rounds; later ones are found in the stop.
 */
static int
live_list(struct live *l)
{
	struct round r = { .live = l, .grew = true };
	int i;

	for (i = 0; r.grew && i < LOOKS; i++)
		if (live_round(&r) == -1)
			return -1;
	return 0;
}

/*
 * Find the processes of set l, with their descendants if the options ask for
 * that, and call fn with arg and the process ID of each. Nothing is stopped.
 * Return 0, or -1 with errstr set if that fails or fn returns -1.
 */
int
live_each(struct live *l, choose_fn fn, void *arg)
{
	struct lproc *p;

	if (live_list(l) == -1)
		return -1;
	TAILQ_FOREACH(p, &l->procs, entry)
		if (lproc_istaken(p) && fn(arg, p->pid) == -1)
			return -1;
	return 0;
}

/*
 * Look at all threads of all processes before they are stopped. If clones are
 * to be made, also do now what would prolong the stop: read the mappings, start
 * the guard, and prepare copies of shared memory.
 */
static int
live_look(struct live *l)
{
	struct lproc *p;
	uint64_t most;

	if (live_list(l) == -1)
		return -1;
	hardlinks_look(l);
	if (sharers_record(l) == -1)
		return -1;
	if (!l->opts.clone)
		return 0;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (l->opts.flags || !lproc_istaken(p))
			continue;
		mappings_look(l, p);
		inject_learn(p->pid, &p->task.vma);
	}
	if ((l->guard = guard_begin()) == NULL) {
		live_say(l, "%s: all processes stay stopped until everything "
		    "is written", snap_errstr());
		l->opts.clone = false;
		return 0;
	}
	most = headroom_ours() / PREPARED_PART;
	if (l->opts.memory != 0 && l->opts.memory < most)
		most = l->opts.memory;
	if (l->opts.early == 0)
		prepared_make(l, most);
	/* to prepare much takes long, and mappings change */
	TAILQ_FOREACH(p, &l->procs, entry)
		if (l->prepared != NULL && lproc_istaken(p) && !l->opts.flags)
			mappings_relook(l, p);
	return 0;
}

/*
 * Record whether processes are stopped: in l, in the times of its steps, for
 * the proxy, the spools, and the progress display.
 */
static void
live_mark(struct live *l, bool stopped)
{
	l->stopped = stopped;
	if (!stopped)
		spool_inmemory(false);
	(void)step_begin(&l->steps, stopped ? STEP_STOP : STEP_NONE);
	proxy_hold(stopped);
	if (l->opts.progress != NULL)
		l->opts.progress->held = stopped;
}

/*
 * Seize all threads of all processes: become their tracer, while they keep
 * running. Poll the threads after each round: a thread that receives a signal
 * stops, and must be continued at once.
 */
static int
live_seize(struct round *r)
{
	int i, rc;

	/* ask no name service: it may be among the seized processes */
	r->live->stopped = true;
	r->grew = true;
	for (i = rc = 0; rc == 0 && ((r->grew && i < LOOKS) || r->waits); i++) {
		rc = live_round(r);
		(void)live_poll(r->live);
	}
	return rc;
}

/*
 * Return true if more than COMING_MS have passed since start, a time of
 * now_ms(), and round r has left no process for later. Then also warn the user
 * that new processes keep appearing. Call this while they do: stopped processes
 * create none, but other processes may move some into the cgroup, and a parent
 * that may not be stopped may create some.
 */
static bool
live_overrun(const struct round *r, uint64_t start)
{
	if (r->waits || now_ms() - start <= COMING_MS)
		return false;
	live_warn(r->live, "new processes keep appearing: the last ones "
	    "are left out");
	return true;
}

/*
 * Stop all threads of all processes of set l. If the options ask for that, also
 * stop their descendants. Return 0, or -1 with errstr set and all threads
 * released.
 */
int
live_stop(struct live *l)
{
	struct round r = { .live = l, .seizing = true };
	uint64_t start;
	int rc;

	(void)late_release();
	proxy_ready();
	if (live_look(l) == -1)
		return -1;
	r.until = now_ms() + l->opts.timeout * 1000;
	rc = live_seize(&r);
	live_mark(l, true);
	if (l->opts.clone)
		live_boost(l);
	start = now_ms();
	(void)live_halt(l);
	for (r.grew = true; rc == 0 && r.grew && !live_overrun(&r, start);) {
		(void)step_begin(&l->steps, STEP_STOP);
		rc = live_round(&r);
		r.grew |= live_halt(l);
	}
	if (rc == -1) {
		live_thaw(l);
		return -1;
	}
	live_settle(l);
	(void)step_begin(&l->steps, STEP_ASK);
	state_read(l);
	(void)step_begin(&l->steps, STEP_MEMORY);
	return 0;
}

/*
 * Release all stopped threads of set l.
 */
void
live_release(struct live *l)
{
	struct lproc *p;

	if (l->stopped)
		(void)step_begin(&l->steps, STEP_RELEASE);
	/* the time limit of the stop may be used up */
	proxy_hold(false);
	if (tcphold_end(l, l->parked) && l->parked)
		tcphold_wait(l);
	passed_close(l);
	TAILQ_FOREACH(p, &l->procs, entry) {
		/* a SIGCONT since live_park() has removed the first one */
		if (l->parked && lproc_istaken(p) &&
		    lproc_has(p, HOLD_STOPPED))
			(void)kill(p->pid, SIGSTOP);
		threads_release(p);
	}
	live_unboost(l);
	live_mark(l, false);
}

/*
 * End the capture of set l, and release all threads that are still stopped.
 */
void
live_thaw(struct live *l)
{
	struct lproc *p;

	take_finish(l);
	files_refuse(false);
	live_release(l);
	live_unyield(l);
	clones_end(l);
	live_warnmissed(l);
	if (l->opts.verbose)
		live_reportheld(l);
	TAILQ_FOREACH(p, &l->procs, entry)
		p->held = 0;
	l->steps = (struct steps){ .now = STEP_NONE };
	l->copied = 0;
}
