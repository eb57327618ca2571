/*
 * Signals that wait, for the core-N.img of a process and its threads.
 *
 * criu sends a process what waited while it makes it, and lets it go; what
 * it would take then, or loses, cannot wait so:
 *
 *	SIGTRAP		is what stops the process for criu itself
 *	SIGCHLD		of another thread than the first is discarded, where it
 *			is ignored, when its action is set
 *	SIGSTOP		which nothing blocks, would stop a process halfway.
 *			One that is stopped does without, for SIGCONT will
 *			discard it; another is stopped by it
 *	what ends it	and is not blocked would end a stopped process before
 *			it is stopped again
 */
#include "criumake.h"
#include "num.h"

#include <inttypes.h>
#include <string.h>

enum {			/* of amd64 and arm64 */
	SIG_TRAP = 5, SIG_CHLD = 17, SIG_CONT = 18, SIG_STOP = 19,
	SIG_TTOU = 22, SIG_URG = 23, SIG_WINCH = 28,
	DEFAULT = 0, IGNORE = 1		/* a handler */
};

struct waits {			/* what waits for a process or a thread */
	struct maketask	*proc;	/* borrowed, as all here; that leads it */
	struct maketask	*task;	/* for whom */
	bool		 whole;	/* for the process */
	struct recfile	 f;
	size_t		 n;
	uint64_t	 blocked;
	uint64_t	 handler[SIGNALS];	/* of signal 1 and up */
};

static bool
in_set(uint64_t set, uint64_t sig)
{
	return sig >= 1 && sig <= SIGNALS && (set >> (sig - 1) & 1) != 0;
}

/*
 * Return the blocked signals of thread t, bit 0 for signal 1.
 */
uint64_t
makecore_blocked(const struct maketask *t)
{
	struct recfile f;
	uint64_t v;

	if (linuxrec_find(&t->rec, "sigmask", &f) && f.len == 8)
		return num_get(f.data, 8);
	return maketask_status(t, "SigBlk", 16, &v, 1) == 1 ? v : 0;
}

/*
 * Leave in w->blocked the signals that all threads of its process block: what
 * waits for a process, waits for a thread that does not block it.
 */
static void
blocked_by_all(struct waits *w)
{
	const struct maketask *t;

	for (t = w->proc->thread; t != NULL; t = t->thread)
		if (!maketask_ended(t))
			w->blocked &= makecore_blocked(t);
}

/*
 * Set the handlers of the signals of its process.
 */
static int
handlers_read(struct waits *w)
{
	struct words l;
	uint64_t v[5];
	int rc;

	rc = words_open(&l, &w->proc->rec, w->proc->proc->pid, "sigaction");
	while (rc != -1 && (rc = words_next(&l)) == 1)
		if (words_form(&l, 0, "dxxxx", v) && v[0] >= 1 &&
		    v[0] <= SIGNALS)
			w->handler[v[0] - 1] = v[1];
	words_close(&l);
	return rc;
}

/*
 * Set w to what waits for thread t of process p or, with whole, for p, which
 * is t then.
 */
static int
waits_read(struct waits *w, struct maketask *p, struct maketask *t, bool whole)
{
	const char *name;

	memset(w, 0, sizeof *w);
	w->proc = p;
	w->task = t;
	w->whole = whole;
	name = whole ? "sigpending/process" : "sigpending/thread";
	if (!linuxrec_find(&t->rec, name, &w->f) || w->f.len == 0)
		return 0;
	if (w->f.len % SIGINFO != 0)
		return errstr_set("process %" PRIu64 ": %s: %zu bytes, not "
		    "of %d each", t->proc->pid, name, w->f.len, SIGINFO);
	w->n = w->f.len / SIGINFO;
	w->blocked = makecore_blocked(t);
	if (whole)
		blocked_by_all(w);
	return handlers_read(w);
}

static uint64_t
waits_signal(const struct waits *w, size_t i)
{
	return num_get(w->f.data + i * SIGINFO, 4);
}

static uint64_t
waits_handler(const struct waits *w, uint64_t sig)
{
	return sig >= 1 && sig <= SIGNALS ? w->handler[sig - 1] : IGNORE;
}

/*
 * Return whether SIGSTOP waits.
 */
static bool
waits_stop(const struct waits *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (waits_signal(w, i) == SIG_STOP)
			return true;
	return false;
}

/*
 * Return 1 if SIGSTOP waits for process p or one of its threads, so that it is
 * stopped when it goes on; 0 if not; or -1 with errstr.
 */
int
makecore_stops(struct maketask *p)
{
	struct maketask *t;
	struct waits w;
	bool stops;

	if (waits_read(&w, p, p, true) == -1)
		return -1;
	for (t = p, stops = waits_stop(&w); t != NULL && !stops;
	    t = t->thread) {
		if (waits_read(&w, p, t, false) == -1)
			return -1;
		stops = waits_stop(&w);
	}
	return stops;
}

/*
 * Return whether a signal would end a stopped process as soon as it is
 * restored.  SIGSTOP, which criu sends the process, is taken after what waits
 * for the thread, and after lower numbers.
 */
static bool
is_end(const struct waits *w, uint64_t sig)
{
	if (w->proc->stat.state != 'T' || in_set(w->blocked, sig) ||
	    waits_handler(w, sig) != DEFAULT)
		return false;
	return sig < SIG_STOP ? sig != SIG_CHLD && sig != SIG_CONT :
	    !w->whole && sig > SIG_TTOU && sig != SIG_URG && sig != SIG_WINCH;
}

/*
 * Note if a signal that waits hinders: see the head of this file.
 */
static int
signal_check(struct criumake *m, const struct waits *w, uint64_t sig)
{
	const char *why;

	if (sig == SIG_TRAP)
		why = "criu takes it for its own";
	else if (sig == SIG_CHLD && !w->whole && w->task != w->proc &&
	    waits_handler(w, sig) <= IGNORE)
		why = "criu loses it";
	else if (is_end(w, sig))
		why = "stopped as it is, it would end at once";
	else
		return 0;
	return make_never(m, w->task, "signal %" PRIu64 " waits in it: %s: "
	    "cannot be restored", sig, why);
}

/*
 * Set in q, a message of m's, the signals that wait for thread t of process p
 * or, with whole, for p, which is t then: siginfo_t after siginfo_t.  Return 0,
 * or -1 with errstr.
 */
int
makecore_pending(struct criumake *m, Criu__SignalQueue *q, struct maketask *p,
    struct maketask *t, bool whole)
{
	Criu__Siginfo *si;
	struct waits w;
	uint64_t sig;
	size_t i;

	if (waits_read(&w, p, t, whole) == -1)
		return -1;
	for (i = 0; i < w.n; i++) {
		sig = waits_signal(&w, i);
		if (signal_check(m, &w, sig) == -1)
			return -1;
		if (sig == SIG_STOP)
			continue;
		if ((si = MSG_PUSH(&m->msgs, q, signals)) == NULL)
			return -1;
		si->siginfo.len = SIGINFO;
		si->siginfo.data = (uint8_t *)(uintptr_t)w.f.data +
		    i * SIGINFO;
	}
	return 0;
}
