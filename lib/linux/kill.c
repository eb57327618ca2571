/*
 * The end of processes that go on elsewhere: those that we hold stopped are
 * killed, and never run again.
 */
#include "clock.h"
#include "linux/restore/open/open.h"
#include "linux/restore/socket/socket.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"
#include "live.h"

#include <errno.h>
#include <signal.h>

enum { ENDING_MS = 10000 };	/* for what was killed to be gone */

/*
 * Return true if process p is held: a thread of it is stopped by us.
 */
static bool
lproc_isheld(const struct lproc *p)
{
	return lproc_istaken(p) && lproc_has(p, HOLD_STOPPED);
}

/*
 * Return 0 if all processes of set l that are held may be killed, else -1 with
 * errstr: who may trace a process may not always (kill(2), CAP_KILL).
 */
int
live_cankill(const struct live *l)
{
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (lproc_isheld(p) && kill(p->pid, 0) == -1 && errno == EPERM)
			return errstr_set("process %d cannot be killed: "
			    "CAP_KILL is needed", p->pid);
	return 0;
}

/*
 * Kill process p, which is held.  Its threads are to be waited for then, for
 * the parent to know: threads_poll.
 */
static void
lproc_kill(struct lproc *p)
{
	struct lthread *t;

	/* its number is that of no other then */
	(void)kill(p->pid, SIGKILL);
	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_STOPPED)
			t->hold = HOLD_ASKED;
}

/*
 * Kill all processes of set l that are held stopped, and wait until they are
 * gone, for their parents to reap.  None of them runs an instruction more.
 * Return how many they were, or -1 with errstr where one is not gone within
 * ten seconds: it was killed all the same.
 */
int
live_kill(struct live *l)
{
	const struct lproc *last;
	struct lproc *p;
	uint64_t start;
	int n = 0;

	take_finish(l);
	tcpunlock_repair();
	TAILQ_FOREACH(p, &l->procs, entry)
		if (lproc_isheld(p)) {
			lproc_kill(p);
			n++;
		}
	for (start = now_ms();; nap_us(100)) {
		last = NULL;
		TAILQ_FOREACH(p, &l->procs, entry)
			if (threads_poll(p, NULL) > 0)
				last = p;
		if (last == NULL) {
			tcphold_end(l, true);
			return n;
		}
		if (now_ms() - start > ENDING_MS)
			return errstr_set("process %d was killed, but is not "
			    "gone yet", last->pid);
	}
}
