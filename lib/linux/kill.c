/*
 * End processes that continue elsewhere: the ones that we hold stopped never
 * run again here.
 */
#include "bisect.h"
#include "clock.h"
#include "linux/proxy/proxy.h"
#include "linux/restore/open/open.h"
#include "linux/restore/socket/socket.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"
#include "live.h"

#include <signal.h>

enum { ENDING_MS = 10000 };	/* time limit for killed processes to end */

/*
 * Return true if process p is in the snapshot and we hold one of its threads
 * stopped.
 */
static bool
lproc_isheld(const struct lproc *p)
{
	return lproc_istaken(p) && lproc_has(p, HOLD_STOPPED);
}

/*
 * Check that we may kill all processes of set l that we hold stopped.
 * Permission to trace a process does not imply permission to kill it (kill(2),
 * CAP_KILL). Return 0, or -1 with errstr set.
 */
int
live_cankill(const struct live *l)
{
	const struct lproc *p = LSEEK(&l->procs, lproc_isheld(x) &&
	    kill(x->pid, 0) == -1 && errno == EPERM);

	return p == NULL ? 0 : errstr_set("process %d cannot be killed: "
	    "CAP_KILL is needed", p->pid);
}

/*
 * Check that no process of set l that we hold stopped has received a signal
 * since its signals were recorded. Return 0, or -1 with errstr set.
 */
int
live_unsignaled(const struct live *l)
{
	const struct lproc *p;
	const struct lthread *t;
	int sig;

	TAILQ_FOREACH(p, &l->procs, entry)
		TAILQ_FOREACH(t, &p->threads, entry)
			if (lproc_istaken(p) && t->hold == HOLD_STOPPED &&
			    (sig = regs_signal(t)) != 0)
				return errstr_set("process %d received signal "
				    "%d during the move", p->pid, sig);
	return 0;
}

/*
 * Return true if process p was stopped before it was captured.
 */
static bool
lproc_wasstopped(const struct lproc *p)
{
	const struct lthread *t = lproc_leader(p);

	return t != NULL && t->state == 'T';
}

/*
 * Make all processes of set l that are stopped stay stopped when they are
 * released, even if this program dies: keep their TCP connections locked, and
 * send them SIGSTOP. Append the process ID of each to pids, after a blank, and
 * also to ran if it was not stopped before it was captured. Return 0, or -1
 * with errstr set and nothing changed; also if one has received a signal.
 */
int
live_park(struct live *l, struct buf *pids, struct buf *ran)
{
	const struct lproc *p;

	take_finish(l);
	/* before SIGSTOP, which discards SIGCONT */
	if (live_unsignaled(l) == -1)
		return -1;
	/* the time limit of the stop may be used up */
	proxy_hold(false);
	if (tcpunlock_leave(true) == -1) {
		/* it may be left locked: report how to unlock it */
		(void)tcphold_end(l, true);
		return errstr_wrap("TCP connections");
	}
	l->parked = true;
	TAILQ_FOREACH(p, &l->procs, entry)
		if (lproc_isheld(p)) {
			(void)kill(p->pid, SIGSTOP);
			buf_printf(pids, " %d", p->pid);
			if (!lproc_wasstopped(p))
				buf_printf(ran, " %d", p->pid);
		}
	return 0;
}

/*
 * Undo live_park(). As the processes are still stopped, SIGCONT removes the
 * pending SIGSTOP; a process that handles SIGCONT receives it. A process that
 * was stopped before it was captured stays so.
 */
void
live_unpark(struct live *l)
{
	struct lproc *p;

	if (!l->parked)
		return;
	l->parked = false;
	(void)tcpunlock_leave(false);
	TAILQ_FOREACH(p, &l->procs, entry)
		if (lproc_isheld(p) && !lproc_wasstopped(p))
			(void)kill(p->pid, SIGCONT);
}

/*
 * The processes of set l run on another machine from now on: end the time that
 * is reported as their stop.
 */
void
live_moved(struct live *l)
{
	struct lproc *p;

	(void)step_begin(&l->steps, STEP_NONE);
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->since != 0)
			p->held = (now_ns() - p->since) / 1000;
		p->since = 0;
	}
}

/*
 * Kill all processes of set l that we hold stopped. Wait until they have ended
 * and their parents can reap them. None of them executes another instruction.
 * Return the number of processes. If one has not ended after ten seconds,
 * return -1 with errstr set; it was sent SIGKILL nevertheless.
 */
int
live_kill(struct live *l)
{
	const struct lproc *last;
	struct lproc *p;
	struct lthread *t;
	uint64_t start;
	bool silent;
	int n = 0;

	take_finish(l);
	/* the time limit of the stop may be used up */
	proxy_hold(false);
	silent = tcpunlock_repair() == 0;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (!lproc_isheld(p))
			continue;
		n++;
		/* we trace it, so its number cannot be reused yet */
		(void)kill(p->pid, SIGKILL);
		/* threads_poll() waits for them: its parent can reap it then */
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->hold == HOLD_STOPPED)
				t->hold = HOLD_INTERRUPTED;
	}
	for (start = now_ms();; nap_us(100)) {
		last = NULL;
		TAILQ_FOREACH(p, &l->procs, entry)
			if (threads_poll(p) > 0)
				last = p;
		if (last == NULL || now_ms() - start > ENDING_MS)
			break;
	}
	if (tcphold_end(l, true) && !silent)
		tcphold_wait(l);
	return last == NULL ? n : errstr_set("process %d was killed, but has "
	    "not ended yet", last->pid);
}
