/*
 * What threads tell that sleep, asked one at a time before all are stopped, so
 * that in the stop of a process with a thousand threads only those are asked
 * that have run since.
 *
 * A thread that is asked is stopped for less than a millisecond, while all
 * others run, and uses the dead part of its own stack (inject/dead.c).  So it
 * is one that sleeps on a stack of its own, and that no signals are sent to:
 * stop/threads.c tells why.
 *
 * What it told is changed by the thread alone: sigaltstack(2),
 * set_tid_address(2), prctl(2), personality(2), unshare(2) have no way to name
 * another one.  So it holds in the stop if the thread has run none of its own
 * code since.  Whatever can be had without its help, its registers among it, is
 * read in the stop.  That it has not run is seen by three signs together.
 *
 *	how often it came onto a processor (schedstat; kernel/sched/stats.h
 *	counts each time): once after it was asked, to sleep again; once
 *	more to be stopped; and as often as before that right before it was
 *	made to stop
 *	how long it was on a processor: not longer than it takes to go back
 *	to sleep, and to stop
 *	its general registers: those that it had when it was asked
 *
 * So it is with what the only thread of a process tells of that: setitimer(2),
 * timer_create(2), prctl(2).  It is asked as it would be in the stop; if a
 * timer is set, which goes on while it sleeps, it is asked then, too; and so
 * it is if it has one of timer_create(2) by then.
 *
 * What these do not show: that what it waited for came while it was stopped
 * to be asked, or as it was to stop for good, and that it then changed one of
 * these, and waited for the same again in the same place with the same general
 * registers, all within that time.
 */
#include "asking.h"
#include "clock.h"
#include "linux/stop/stop.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct ahead {			/* a process whose threads are asked */
	struct lproc	*proc;	/* borrowed */
	struct vmas	 vma;	/* owned */
	struct asking	 ask;
};

/*
 * Return true if thread t sleeps, and has done so since it was looked at.
 */
static bool
ahead_sleeps(struct ahead *a, struct lthread *t)
{
	struct ran now;

	return t->slept && t->ran.times > 0 &&
	    thread_ran(a->proc, t, &now) && now.times == t->ran.times &&
	    thread_judge(a->proc, t) == 0 && t->hold == HOLD_NONE &&
	    (t->rank == RANK_IDLE || t->tid == a->proc->pid);
}

/*
 * Stop thread t, which slept, and wait until it has stopped, as long as it
 * lacks nothing for that but a processor.  Return 0, or -1 if the process is
 * inside execve(2): no thread of it is to be asked.
 */
static int
ahead_stop(struct ahead *a, struct lthread *t)
{
	enum { SPINS = 200, NAPS = 200, MOST = 60000, NAP_US = 50 };
	int i, rc;

	rc = thread_seize(a->proc, t);
	if (rc != 0 || t->hold != HOLD_SEIZED) {
		t->hold = HOLD_NONE;
		return rc == SEIZE_WAITS ? -1 : 0;
	}
	thread_stop(a->proc, t);
	for (i = 0; thread_poll(a->proc, t), t->hold == HOLD_ASKED &&
	    (i < SPINS + NAPS || (i < MOST && thread_starves(a->proc, t)));
	    i++)
		if (i < SPINS)
			sched_yield();
		else
			nap_us(NAP_US);
	if (t->hold == HOLD_GONE)
		t->hold = HOLD_NONE;
	return 0;
}

/*
 * Ask thread t, which has stopped, if it slept until then.  Return 0, also if
 * it has no room for that; -1 if others of its process, too, would not do what
 * they are made to: it was odd, or its cgroup is frozen, and each would be
 * waited for.
 */
static int
ahead_tell(struct ahead *a, struct lthread *t)
{
	struct ran now;

	if (!thread_ran(a->proc, t, &now) || now.times != t->ran.times + 1)
		return 0;
	a->ask.rc = 0;
	a->ask.to = &t->told;
	if (inject_enterone(a->ask.in, t) == -1) {
		(void)inject_leaveone(a->ask.in, -1);
		return inject_islate(a->ask.in) ? -1 : 0;
	}
	ask_thread(&a->ask, 1);
	if (inject_leaveone(a->ask.in, asking_result(&a->ask)) == -1)
		return -1;
	regs_remember(t);
	t->asked = t->before.data != NULL && thread_ran(a->proc, t, &t->ran);
	return 0;
}

/*
 * Ask thread t, if it sleeps, and let it go.  Return 0, also if that cannot be
 * done; -1 if no other thread of its process is to be asked.
 */
static int
ahead_ask(struct ahead *a, struct lthread *t)
{
	int rc;

	if (!ahead_sleeps(a, t))
		return 0;
	rc = ahead_stop(a, t);
	if (t->hold == HOLD_STOPPED) {
		rc = ahead_tell(a, t);
		call_recount(a->proc, t);
		thread_release(t);
		t->strayed = t->hold == HOLD_ASKED;
	}
	if (t->asked) {
		t->apart = thread_apart(a->proc, t, a->proc->pid,
		    a->proc->spaces);
		filelist_read(&t->told, a->proc->pid, t->tid, "personality");
		filelist_keep(&t->told, &a->proc->toldlike, &t->kept);
	} else
		filelist_free(&t->told);
	/* it would not be let go when it stops at last */
	return t->hold == HOLD_ASKED ||
	    TAILQ_FIRST(&a->proc->threads)->hold == HOLD_ASKED ? -1 : rc;
}

/*
 * Note of all threads of process p that were asked how they have run until
 * they slept again.  One that came onto a processor more often than to go back
 * to sleep, or has run for longer than that takes, may have changed what it
 * told; one that has not yet, will be seen to have run since.
 */
static void
ahead_settle(struct lproc *p)
{
	struct lthread *t;
	struct ran now;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->asked) {
			t->asked = thread_ran(p, t, &now) &&
			    now.times == t->ran.times + 1 &&
			    ran_briefly(&t->ran, &now);
			t->ran = now;
		}
	threads_close(p);
}

/*
 * Ask the threads of process p that sleep.  Return true; false if one of them
 * is to stop and has not, by then.
 */
static bool
proc_askahead(struct lproc *p)
{
	struct ahead a = { .proc = p };
	const struct vmas *l = &p->vma;
	struct lthread *t;
	struct bytes maps;
	bool held;

	if (l->n == 0) {
		if (proc_read(p->pid, 0, "maps", &maps) == -1)
			return true;
		if (vmas_parse(&a.vma, maps.data, maps.len) == 0)
			l = &a.vma;
		free(maps.data);
	}
	held = false;
	spaces_read(p, p->pid, p->spaces);
	if (l->n > 0 && (a.ask.in = inject_alone(p, l)) != NULL) {
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->tid != p->pid && ahead_ask(&a, t) == -1) {
				held = t->hold == HOLD_ASKED ||
				    TAILQ_FIRST(&p->threads)->hold ==
				    HOLD_ASKED;
				break;
			}
		inject_free(a.ask.in);
	}
	threads_close(p);
	vmas_free(&a.vma);
	return !held;
}

/*
 * Return true if what was told of the process tells of no timer that is set.
 */
static bool
told_untimed(const struct filelist *told)
{
	static const char none[] = "real 0 0\nvirtual 0 0\nprof 0 0\n";
	const struct file *f;

	f = filelist_find(told, "itimers");
	return f != NULL && f->len == sizeof none - 1 &&
	    memcmp(f->data, none, f->len) == 0 &&
	    filelist_find(told, "posix_timers") == NULL;
}

/*
 * Ask thread t, which has stopped and is the only one of its process, if it
 * slept until then.  The threads are listed once more: if there is another one
 * by now, which runs, nothing is asked.
 */
static void
only_tell(struct ahead *a, struct lthread *t)
{
	struct ran now;

	if (!thread_ran(a->proc, t, &now) || now.times != t->ran.times + 1 ||
	    threads_list(a->proc, true) != 0 ||
	    (a->ask.in = inject_begin(a->proc, false, NULL)) == NULL)
		return;
	a->ask.to = &t->told;
	a->ask.pid = t->tid;
	ask_process(&a->ask, 1);
	ask_thread(&a->ask, 1);
	if (inject_end(a->ask.in, asking_result(&a->ask)) == -1 ||
	    !told_untimed(&t->told))
		return;
	regs_remember(t);
	t->asked = t->before.data != NULL && thread_ran(a->proc, t, &t->ran);
}

/*
 * Ask the only thread of process p, if it sleeps, for p too.  Return true;
 * false if it is to stop and has not, by then.
 */
static bool
only_askahead(struct lproc *p, struct lthread *t)
{
	struct ahead a = { .proc = p };

	if (ahead_sleeps(&a, t)) {
		(void)ahead_stop(&a, t);
		if (t->hold == HOLD_STOPPED) {
			only_tell(&a, t);
			call_recount(p, t);
			thread_release(t);
			t->strayed = t->hold == HOLD_ASKED;
		}
		if (!t->asked)
			filelist_free(&t->told);
	}
	threads_close(p);
	return t->hold != HOLD_ASKED;
}

/*
 * Ask all threads of set l that sleep, before any is to stay stopped, where
 * something may be run in them.  What cannot be asked now is asked in the stop:
 * that begins at once when there is one that does not stop, as who sleeps
 * uninterruptibly by now, for it stays stopped from when it does; or when
 * this takes long: in a cgroup that is frozen, each process is waited for.
 */
void
state_readahead(struct live *l)
{
	enum { AHEAD_MS = 2000 };
	const uint64_t until = now_ms() + AHEAD_MS;
	struct lthread *t;
	struct lproc *p;
	bool only;

	if (l->opts.observe)
		return;
	TAILQ_FOREACH(p, &l->procs, entry) {
		t = TAILQ_FIRST(&p->threads);
		if (p->skip || p->kernel || p->core != NULL || t == NULL ||
		    t->tid != p->pid)
			continue;
		if (now_ms() >= until)
			break;
		only = TAILQ_NEXT(t, entry) == NULL;
		/* without clones, more is asked of the process */
		if (only ? l->opts.clone && !only_askahead(p, t) :
		    !proc_askahead(p))
			break;
	}
	/* they had the time to go back to sleep */
	TAILQ_FOREACH(p, &l->procs, entry)
		ahead_settle(p);
}
