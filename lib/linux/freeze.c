/*
 * Stopping processes and letting them go: PTRACE_SEIZE and PTRACE_INTERRUPT
 * (ptrace(2)), which send no signal and leave a stopped process stopped.
 *
 * First all are looked at, for what cannot be seen of a stopped thread, or
 * takes long.  Then all threads of all processes are stopped.  Those that
 * appear meanwhile are found by listing again until nothing is new: what is
 * stopped makes no threads.  When we die, whatever the reason, the
 * kernel lets all of them go.
 */
#include "live.h"
#include "inject.h"

#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	PATIENCE_MS = 3000,	/* for one round of stopping */
	SLEEPER_MS = 300,	/* where all that is left was in state D */
	ENDING_MS = 20		/* for a process that ends to be a zombie */
};

/*
 * See what became of all threads that were seized: how many are not stopped
 * yet, and whether all of those slept uninterruptibly before we came.
 */
static size_t
live_poll(struct live *l, bool *asleep)
{
	struct lproc *p;
	struct lthread *t;
	size_t pending;

	pending = 0;
	*asleep = true;
	TAILQ_FOREACH(p, &l->procs, entry)
		TAILQ_FOREACH(t, &p->threads, entry) {
			if (t->hold != HOLD_SEIZED)
				continue;
			thread_poll(t);
			if (t->hold != HOLD_SEIZED)
				continue;
			pending++;
			if (t->state != 'D')
				*asleep = false;
		}
	return pending;
}

/*
 * Wait until all threads that were seized are stopped.  One that sleeps
 * uninterruptibly, for a dead disk or in vfork(2), is not waited for
 * forever: its registers cannot be had.
 */
static void
live_await(struct live *l)
{
	struct timespec nap = { 0, 20000 };
	struct lproc *p;
	struct lthread *t;
	uint64_t start;
	bool asleep;

	for (start = now_ms(); live_poll(l, &asleep) > 0;
	    nanosleep(&nap, NULL)) {
		if (now_ms() - start > (asleep ? SLEEPER_MS : PATIENCE_MS))
			break;
		if (nap.tv_nsec < 1000000)
			nap.tv_nsec += nap.tv_nsec / 4;
	}
	TAILQ_FOREACH(p, &l->procs, entry)
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->hold == HOLD_SEIZED && proc_died(p->pid, t->tid))
				t->hold = HOLD_GONE;
			else if (t->hold == HOLD_SEIZED) {
				t->hold = HOLD_BUSY;
				live_warn(l, "thread %d of process %d does "
				    "not stop (it was in state %c): taken "
				    "without its registers", t->tid, p->pid,
				    t->state);
			}
}

struct round {			/* of listing, and of looking or seizing */
	struct live	*live;
	struct lproc	*proc;
	bool		 seizing;
	bool		 grew;
};

/*
 * Add a thread that was found, and look at it.
 */
static struct lthread *
thread_add(struct lproc *p, pid_t tid)
{
	struct lthread *t;

	if ((t = calloc(1, sizeof *t)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	t->tid = tid;
	if (tid == p->pid)
		TAILQ_INSERT_HEAD(&p->threads, t, entry);
	else
		TAILQ_INSERT_TAIL(&p->threads, t, entry);
	thread_look(p, t);
	return t;
}

static int
round_thread(void *arg, long tid)
{
	struct round *r = arg;
	struct lthread *t;

	TAILQ_FOREACH(t, &r->proc->threads, entry)
		if (t->tid == (pid_t)tid)
			break;
	if (t == NULL && (t = thread_add(r->proc, (pid_t)tid)) == NULL)
		return -1;
	if (!r->seizing || t->hold != HOLD_NONE)
		return 0;
	r->grew = true;
	return thread_seize(r->live, r->proc, t);
}

/*
 * Look at the threads of a process that are new, or seize them.
 */
static int
round_proc(struct round *r, struct lproc *p)
{
	struct task now = { 0 };

	if (p->skip || p->kernel)
		return 0;
	r->proc = p;
	if (TAILQ_EMPTY(&p->threads)) {
		if (proc_stat(p->pid, 0, &now) == -1) {
			lproc_leave(r->live, p);
			return 0;
		}
		p->kernel = now.kernel;
		if (now.kernel)
			live_warn(r->live, "process %d (%s) is a thread of "
			    "the kernel: it has no memory and no registers "
			    "of its own", p->pid, now.comm);
	}
	if (proc_list(p->pid, "task", round_thread, r) == -1) {
		if (*snap_errstr() == '\0')
			return 0;	/* it went away: live_settle tells */
		lproc_refuse(r->live, p);
	}
	return 0;
}

static int
round_child(void *arg, long pid)
{
	struct round *r = arg;
	struct task now = { 0 };

	if (lproc_find(r->live, (pid_t)pid) != NULL ||
	    proc_stat((pid_t)pid, 0, &now) == -1 || now.ppid == 0 ||
	    lproc_find(r->live, now.ppid) == NULL)
		return 0;
	r->grew = true;
	return live_found(r->live, (pid_t)pid);
}

/*
 * Let the threads of a process go.  One that has not stopped yet is waited for
 * for some milliseconds; if it stops later it goes on when this process ends.
 */
static void
lproc_release(struct lproc *p)
{
	const struct timespec nap = { 0, 1000000 };
	struct lthread *t;
	int i, status;

	TAILQ_FOREACH(t, &p->threads, entry) {
		for (i = 0; i < 10 && (t->hold == HOLD_SEIZED ||
		    t->hold == HOLD_BUSY); i++) {
			thread_poll(t);
			if (t->hold == HOLD_SEIZED)
				nanosleep(&nap, NULL);
		}
		if (t->hold == HOLD_STOPPED &&
		    ptrace(PTRACE_DETACH, t->tid, NULL, NULL) == -1)
			(void)waitpid(t->tid, &status, WNOHANG | __WALL);
		if (t->hold != HOLD_SEIZED && t->hold != HOLD_BUSY)
			t->hold = HOLD_NONE;
	}
	if (p->since != 0)
		p->held = (now_ns() - p->since) / 1000;
	p->since = 0;
}

/*
 * Is a process that has ended since it was looked at a zombie now?  Then so it
 * was when the others were stopped, and what was seen of it is not true.  One
 * that is about to end is waited for, for a moment.
 */
static bool
lproc_iszombie(struct lproc *p)
{
	const struct timespec nap = { 0, 1000000 };
	struct lthread *t;
	int i;

	if ((t = TAILQ_FIRST(&p->threads)) == NULL || t->tid != p->pid)
		return false;
	for (i = 0; i < ENDING_MS && proc_died(p->pid, p->pid); i++) {
		t->state = proc_state(p->pid, p->pid);
		if (t->state == 'Z') {
			thread_look(p, t);
			return true;
		}
		if (t->state == '\0')
			return false;
		nanosleep(&nap, NULL);
	}
	return false;
}

/*
 * Now that all are stopped: which thread of each process can be asked about
 * its memory, and which processes are gone.  One that is left out goes on.
 */
static void
live_settle(struct live *l)
{
	struct lproc *p;
	struct lthread *t;

	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->skip)
			lproc_release(p);
		if (p->skip || p->kernel)
			continue;
		TAILQ_FOREACH(t, &p->threads, entry) {
			if (t->hold == HOLD_NONE)	/* before its turn */
				t->hold = HOLD_GONE;
			if (p->mmtid == 0 && t->hold != HOLD_GONE)
				p->mmtid = t->tid;
		}
		if (p->mmtid == 0 && !lproc_iszombie(p))
			lproc_leave(l, p);
	}
}

/*
 * Look for what is new, and look at it or seize it.
 */
static int
live_round(struct round *r)
{
	struct live *l = r->live;
	struct lproc *p;

	r->grew = false;
	if (l->opts.descendants && proc_list(0, NULL, round_child, r) == -1)
		return -1;
	TAILQ_FOREACH(p, &l->procs, entry)
		if (round_proc(r, p) == -1)
			return -1;
	return 0;
}

/*
 * Look at all threads of all processes that are there now.  With clones,
 * what takes too long where every millisecond counts is done, too.
 */
static int
live_look(struct live *l)
{
	struct round r = { l, NULL, false, true };
	struct lproc *p;

	while (r.grew)
		if (live_round(&r) == -1)
			return -1;
	otherlinks_look(l);
	if (!l->opts.clone)
		return 0;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->skip || p->kernel || proc_read(p->pid, 0, "smaps",
		    &p->smaps) == -1)
			continue;
		if (vmas_parse(&p->before, p->smaps.data, p->smaps.len) == -1)
			return -1;
		if (!l->opts.observe)
			inject_learn(p->pid, &p->before);
	}
	if (l->opts.observe || (l->guard = guard_begin()) != NULL)
		return 0;
	live_say(l, "%s: all stay stopped while they are written",
	    snap_errstr());
	l->opts.clone = false;
	return 0;
}

/*
 * Some are stopped from here on, or none.
 */
static void
live_mark(struct live *l, bool stopped)
{
	l->stopped = stopped;
	if (l->opts.progress != NULL)
		l->opts.progress->held = stopped;
}

/*
 * Stop all threads of all processes of the set, and of their descendants
 * where the options say so.  On an error everything is let go.
 */
int
live_stop(struct live *l)
{
	struct round r = { l, NULL, true, true };

	if (live_look(l) == -1)
		return -1;
	while (r.grew) {
		live_mark(l, true);
		if (live_round(&r) == -1)
			goto fail;
		live_await(l);
	}
	live_settle(l);
	state_read(l);
	return 0;
fail:
	live_await(l);
	live_thaw(l);
	return -1;
}

/*
 * Let all threads go.
 */
void
live_release(struct live *l)
{
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		lproc_release(p);
	live_mark(l, false);
}

/*
 * End the taking, and let all threads go that still are stopped.
 */
void
live_thaw(struct live *l)
{
	struct lproc *p;

	take_finish(l);
	live_release(l);
	clones_end(l);
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (l->opts.verbose && p->held != 0)
			live_say(l, "process %d: stopped for %ju us", p->pid,
			    (uintmax_t)p->held);
		p->held = 0;
	}
}
