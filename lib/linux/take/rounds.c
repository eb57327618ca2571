/*
 * Ask many processes at once, and handle those that cannot be asked. While a
 * process is stopped, all its threads are asked for state that a clone does not
 * inherit. The rest is asked of its clone, or of the process itself if it has
 * none.
 */
#include "linux/clone/clone.h"
#include "bisect.h"
#include "linux/proc/proc.h"
#include "taking.h"

#include <pthread.h>

/*
 * Handle process p, into which no call can be injected; errstr says why. Write
 * the reason to rec, the record of p, and warn the user. If p has no clone and
 * its memory can still change, the user was already warned of that. Then report
 * at most that p cannot be cloned. Do not report even this if another process
 * traces p or if the first thread of p has not stopped.
 */
static void
observe(struct live *l, struct lproc *p, struct filelist *rec)
{
	if (filelist_find(rec, "observed") == NULL)
		filelist_text(rec, "observed", "%s\n", snap_errstr());
	p->inert = true;
	if (p->clone > 0 || lproc_stands(p) == 0)
		live_warn(l, "process %d cannot be restored%s: no system call "
		    "can be injected: %s", p->pid, l->opts.clone &&
		    p->clone == 0 ? ", nor released at once" : "",
		    snap_errstr());
	else if (l->opts.clone && !lproc_has(p, HOLD_FOREIGN) &&
	    TAILQ_FIRST(&p->threads)->hold == HOLD_STOPPED)
		live_say(l, "process %d cannot be cloned: %s: all processes "
		    "stay stopped until everything is written", p->pid,
		    snap_errstr());
}

/*
 * Return 1 if thread t of process p can run injected calls. Return 0 if it
 * cannot: it is a kernel worker thread, or is not stopped. Return -1 with
 * errstr set if its stat cannot be read.
 */
static int
thread_runs(const struct lproc *p, const struct lthread *t)
{
	const struct file *stat = filelist_find(&t->seen, "stat");
	struct task now;

	if (t->hold != HOLD_STOPPED)
		return 0;
	if ((stat == NULL || task_stat(&now, stat->data, stat->len) == -1) &&
	    proc_stat(p->pid, t->tid, &now) == -1)
		return errno == ESRCH ? 0 : errstr_sys("/proc/%d/task/%d/stat",
		    p->pid, t->tid);
	return !now.worker;
}

/*
 * Ask the threads of a's process, except the first, for their state, by
 * injected calls. Skip threads that cannot run injected calls.
 */
static void
others_ask(struct asking *a)
{
	const struct lproc *p = a->proc;
	struct lthread *t;
	int rc;

	TAILQ_FOREACH(t, &p->threads, entry) {
		if (t->tid == p->pid || a->rc == -1 ||
		    (rc = thread_runs(p, t)) == 0)
			continue;
		a->to = &t->seen;
		if (rc == -1 || inject_thread(a->in, t) == -1)
			asking_failed(a);
		else
			ask_thread(a, 1);
	}
}

/*
 * Begin to inject calls into process p. The first calls go into leader, its
 * first thread. Return a handle, or NULL with errstr set if that is impossible.
 * If p has died, errno is ESRCH.
 */
static struct inject *
all_enter(struct lproc *p, struct lthread *leader)
{
	int runs = 0;

	errno = 0;
	if (leader->hold == HOLD_GONE || (leader->hold == HOLD_STOPPED &&
	    (runs = thread_runs(p, leader)) == 0))
		errstr_set("its first thread has ended");
	else if (leader->hold != HOLD_STOPPED)
		errstr_set("it is not stopped");
	else if (runs == 1 && mappings_read(p) == 0)
		/* room if another thread can be asked as well */
		return inject_begin(p, LSEEK(&p->threads, x->tid != p->pid &&
		    x->hold == HOLD_STOPPED) != NULL, &p->task.vma);
	return NULL;
}

/*
 * Begin to inject calls into the clone of process p. If p has no clone, inject
 * them into p itself, which is stopped. Return a handle, or NULL with errstr
 * set if that is impossible. If the clone or process has died, errno is ESRCH.
 */
static struct inject *
rest_enter(struct lproc *p)
{
	struct inject *in = p->calls;

	errno = 0;
	if (p->clone == 0)
		return inject_begin(p, false, &p->task.vma);
	p->calls = NULL;
	if (inject_resume(in) == 0)
		return in;
	(void)inject_relinquish(in, -1);
	errno = clone_lost(p) ? ESRCH : 0;
	return NULL;
}

/*
 * End the injection of calls into a. If rest is true and a is a clone, first
 * ask it for the keys in its session keyring. If the clone or process has died,
 * errno is ESRCH.
 */
static int
asking_end(struct asking *a, bool rest)
{
	struct lproc *p = a->proc;
	int rc;

	if (!rest || p->clone == 0)
		return inject_end(a->in, asking_result(a));
	ask_sessionkeys(a);
	rc = inject_relinquish(a->in, asking_result(a));
	errno = rc == -1 && clone_lost(p) ? ESRCH : 0;
	return rc;
}

/*
 * Handle a failure to inject calls into process p or its clone; errstr and
 * errno describe it. If p died before it was recorded, leave it out. If p or
 * its clone died later, do nothing. Otherwise write the reason to the record of
 * p.
 */
static void
ask_failed(struct live *l, const struct round *r, struct lproc *p)
{
	struct lthread *leader = TAILQ_FIRST(&p->threads);

	if (r->rest && errno != ESRCH)
		observe(l, p, &leader->rec);
	else if (!r->rest && errno != ESRCH && !proc_died(p->pid, p->mmtid))
		observe(l, p, &leader->seen);
	else if (!r->rest)
		lproc_leave(l, p);
}

/*
 * Ask all processes of round r for their state, by injected calls. Leave r
 * empty.
 */
static void
round_ask(struct live *l, struct round *r)
{
	struct asking *a;

	if (r->rest)
		ask_memory(r->v, r->n);
	else {
		ask_process(r->v, r->n);
		ask_thread(r->v, r->n);
		for (a = r->v; a < r->v + r->n; a++)
			others_ask(a);
	}
	/* no more calls are injected into those that are not clones */
	for (a = r->v; a < r->v + r->n; a++)
		if (a->rc == 0 && a->proc->clone == 0)
			inject_ending(a->in);
	for (a = r->v; a < r->v + r->n; a++)
		if (asking_end(a, r->rest) == -1)
			ask_failed(l, r, a->proc);
	r->n = 0;
}

/*
 * Begin a series of rounds, in which processes are asked for their state by
 * injected calls. If rest is false, ask for the state that a clone does not
 * inherit. If rest is true, ask for the rest of the state; clones are asked
 * instead of their processes. ask_end() ends the series.
 */
void
ask_begin(struct round *r, bool rest)
{
	sigset_t all;

	r->n = 0;
	r->rest = rest;
	/* inject_end() restores what inject_begin() has saved */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &r->ours);
}

/*
 * Ask the processes that are still in round r for their state. Then restore the
 * signal mask.
 */
void
ask_end(struct live *l, struct round *r)
{
	round_ask(l, r);
	pthread_sigmask(SIG_SETMASK, &r->ours, NULL);
}

/*
 * Add process p to round r, to be asked for its state by injected calls. If p
 * does not fit in, first ask the processes that are already in the round;
 * ask_end() asks those in the last round. If r->rest is false, all threads of p
 * are asked, and the first also for the state of the process; p must be
 * stopped. If r->rest is true, only the clone of p is asked, for the state that
 * both have. If p has no clone, p itself is asked.
 */
void
ask(struct live *l, struct round *r, struct lproc *p)
{
	struct lthread *leader = TAILQ_FIRST(&p->threads);
	struct inject *in;

	/* processes that share memory would find each other's injected calls
	   on their stacks; a clone has memory of its own */
	if (r->n == MAX_ASKED || (p->clone == 0 &&
	    SEEK(r->v, r->n, lproc_shares(x->proc, p)) != NULL))
		round_ask(l, r);
	in = r->rest ? rest_enter(p) : all_enter(p, leader);
	if (in != NULL)
		r->v[r->n++] = (struct asking){ .in = in, .proc = p,
		    .to = r->rest ? &leader->rec : &leader->seen };
	else
		ask_failed(l, r, p);
}
