/*
 * Set the pending signals of a process and its threads for core-N.img.
 *
 * criu sends a process its pending signals while creating it, and then lets it
 * run. Some signals would be lost or delivered too early:
 *
 *	SIGTRAP		criu itself stops the process with it
 *	SIGCHLD		if pending for another thread than the first, and
 *			ignored or default, discarded when its action is set
 *	SIGSTOP		cannot be blocked and would stop a process halfway.
 *			Leave it out if the process is stopped, because SIGCONT
 *			discards it anyway; else restore the process as stopped
 *	fatal ones	that are not blocked would end a stopped process before
 *			it is stopped again
 */
#include "criumake.h"
#include "num.h"

enum {			/* signal numbers on amd64 and arm64 */
	SIG_TRAP = 5, SIG_CHLD = 17, SIG_CONT = 18, SIG_STOP = 19,
	SIG_TTOU = 22, SIG_URG = 23, SIG_WINCH = 28,
	DEFAULT = 0, IGNORE = 1		/* values of SIG_DFL and SIG_IGN */
};

struct pending {		/* pending signals of a process or a thread */
	struct maketask	*proc;	/* borrowed; first thread of the process */
	struct maketask	*task;	/* borrowed; thread for which the signals are
				   pending */
	bool		 whole;	/* the signals are pending for the whole
				   process */
	struct recfile	 f;
	size_t		 n;
	uint64_t	 blocked;
	uint64_t	 handler[SIGNALS]; /* indexed by signal number - 1 */
};

/*
 * Return the set of signals that thread t blocks. Bit 0 is signal 1.
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
 * Set w->handler from the signal actions of w->proc.
 */
static int
handlers_read(struct pending *w)
{
	struct words l;
	uint64_t v[5];
	int rc;

	rc = maketask_words(w->proc, "sigaction", &l);
	while (rc != -1 && (rc = words_next(&l)) == 1)
		if (words_form(&l, 0, "dxxxx", v) && v[0] >= 1 &&
		    v[0] <= SIGNALS)
			w->handler[v[0] - 1] = v[1];
	return rc;
}

/*
 * Set w to the signals that are pending for thread t of process p. If whole is
 * true, set w to those that are pending for the whole process; the caller must
 * then pass p as t.
 */
static int
pending_read(struct pending *w, struct maketask *p, struct maketask *t,
    bool whole)
{
	const struct maketask *u;
	const char *name;

	memset(w, 0, sizeof *w);
	w->proc = p;
	w->task = t;
	w->whole = whole;
	name = whole ? "sigpending/process" : "sigpending/thread";
	if (!linuxrec_find(&t->rec, name, &w->f) || w->f.len == 0)
		return 0;
	if (w->f.len % SIGINFO != 0)
		return errstr_set("process %" PRIu64 ": %s: %zu bytes, not a "
		    "multiple of %d", t->proc->pid, name, w->f.len, SIGINFO);
	w->n = w->f.len / SIGINFO;
	w->blocked = makecore_blocked(t);
	/* any thread can take a signal that is pending for the process */
	for (u = p->thread; whole && u != NULL; u = u->thread)
		if (!maketask_ended(u))
			w->blocked &= makecore_blocked(u);
	return handlers_read(w);
}

static uint64_t
pending_signal(const struct pending *w, size_t i)
{
	return num_get(w->f.data + i * SIGINFO, 4);
}

static uint64_t
pending_handler(const struct pending *w, uint64_t sig)
{
	return sig >= 1 && sig <= SIGNALS ? w->handler[sig - 1] : IGNORE;
}

/*
 * Return true if SIGSTOP is one of the pending signals in w.
 */
static bool
pending_stop(const struct pending *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (pending_signal(w, i) == SIG_STOP)
			return true;
	return false;
}

/*
 * Check whether process p will stop as soon as it runs again. It will if
 * SIGSTOP is pending for it or one of its threads. Return 1 if it will, 0 if
 * not, or -1 with errstr set.
 */
int
makecore_stops(struct maketask *p)
{
	struct maketask *t;
	struct pending w;
	bool stops;

	if (pending_read(&w, p, p, true) == -1)
		return -1;
	for (t = p, stops = pending_stop(&w); t != NULL && !stops;
	    t = t->thread) {
		if (pending_read(&w, p, t, false) == -1)
			return -1;
		stops = pending_stop(&w);
	}
	return stops;
}

/*
 * Return true if pending signal sig would end a stopped process right after its
 * restore. criu stops the process with SIGSTOP. The kernel delivers other
 * signals first if they are pending for the thread or have lower numbers.
 */
static bool
is_end(const struct pending *w, uint64_t sig)
{
	if (w->proc->stat.state != 'T' || pending_handler(w, sig) != DEFAULT ||
	    w->blocked >> (sig - 1) & 1)
		return false;
	return sig < SIG_STOP ? sig != SIG_CHLD && sig != SIG_CONT :
	    !w->whole && sig > SIG_TTOU && sig != SIG_URG && sig != SIG_WINCH;
}

/*
 * Record an obstacle if pending signal sig cannot be restored, for a reason
 * given at the head of this file.
 */
static int
signal_check(struct criumake *m, const struct pending *w, uint64_t sig)
{
	const char *why;

	if (sig == SIG_TRAP)
		why = "criu would take it for its own";
	else if (sig == SIG_CHLD && !w->whole && w->task != w->proc &&
	    pending_handler(w, sig) <= IGNORE)
		why = "criu loses it";
	else if (is_end(w, sig))
		why = "it would end the stopped process at once";
	else
		return 0;
	return make_never(m, w->task, "signal %" PRIu64 " is pending: %s: "
	    "cannot be restored", sig, why);
}

/*
 * Append to q the signals, except SIGSTOP, that are pending for thread t of
 * process p, each as one siginfo_t. If whole is true, append those that are
 * pending for the whole process; the caller must then pass p as t. Return 0, or
 * -1 with errstr set.
 */
int
makecore_pending(struct criumake *m, Criu__SignalQueue *q, struct maketask *p,
    struct maketask *t, bool whole)
{
	Criu__Siginfo *si;
	struct pending w;
	uint64_t sig;
	size_t i;

	if (pending_read(&w, p, t, whole) == -1)
		return -1;
	for (i = 0; i < w.n; i++) {
		sig = pending_signal(&w, i);
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
