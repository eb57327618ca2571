/*
 * Set the process-wide part of core-N.img: limits, signal actions, timers and
 * attributes that threads share.
 */
#include "criumake.h"
#include "num.h"

enum { SIG_CHLD = 17, SIG_STOP = 19 };

/*
 * Set the resource limits in c to those of t. Both c and /proc/PID/limits list
 * them in the order of the RLIMIT_ constants; the file begins with a heading.
 */
static int
limits_set(struct criumake *m, Criu__TaskCore *c, const struct maketask *t)
{
	Criu__Rlimit *to;
	struct recfile f;
	struct scan text;
	struct limit l;
	size_t i;

	if (!linuxrec_find(&t->rec, "limits", &f))
		return errstr_set("process %" PRIu64 ": its limits are not in "
		    "the snapshot", t->proc->pid);
	if (MSG_PART(&m->msgs, c, rlimits) == NULL ||
	    (to = MSG_MANY(&m->msgs, c->rlimits, rlimits, LIMITS)) == NULL)
		return -1;
	text = scan_begin(f.data, f.len);
	(void)limits_next(&text, &l);
	for (i = 0; i < LIMITS; i++) {
		if (!limits_next(&text, &l) || !l.valid)
			return errstr_set("process %" PRIu64 ": limits: line "
			    "%zu: not a limit", t->proc->pid, i + 2);
		to[i].cur = l.cur;
		to[i].max = l.max;
	}
	return 0;
}

/*
 * Set the actions in c to those of t for all 62 signals that can have one, in
 * the order of their numbers.
 */
static int
sigactions_set(struct criumake *m, Criu__TaskCore *c, struct maketask *t)
{
	Criu__SaEntry *sa;
	struct words w;
	uint64_t v[5], want;
	size_t i;
	int rc;

	if ((sa = MSG_MANY(&m->msgs, c, sigactions, SIGACTIONS)) == NULL)
		return -1;
	if ((rc = maketask_words(t, "sigaction", &w)) == 0)
		return make_never(m, t, "its signal actions are not in the "
		    "snapshot");
	for (i = 0, want = 1; rc == 1 && i < SIGACTIONS; i++, want++) {
		want += want == 9 || want == 19;
		if (words_next(&w) != 1 || !words_form(&w, 0, "dxxxx", v) ||
		    v[0] != want)
			return words_bad(&w, "signal handler (x) flags (x) "
			    "restorer (x) mask (x)");
		MSG_FILL(&sa[i], "sigaction flags restorer mask", v + 1);
	}
	return rc == -1 ? -1 : 0;
}

/*
 * Set the three interval timers in c to those of t (setitimer(2)).
 */
static int
itimers_set(struct criumake *m, Criu__Timers *c, struct maketask *t)
{
	static const struct {
		const char	*name;
		size_t		 at;	/* offset of the field in the message */
	} timer[3] = {
		{ "real", offsetof(Criu__Timers, real) },
		{ "virtual", offsetof(Criu__Timers, virt) },
		{ "prof", offsetof(Criu__Timers, prof) }
	};
	ProtobufCMessage *to[3];
	struct words w;
	uint64_t v[2];
	size_t i;
	int rc;

	for (i = 0; i < 3; i++)
		if ((to[i] = msg_part(&m->msgs, &c->base, timer[i].at)) ==
		    NULL)
			return -1;
	if ((rc = maketask_words(t, "itimers", &w)) == 0)
		return make_never(m, t, "its interval timers are not in the "
		    "snapshot");
	for (i = 0; rc == 1 && i < 3; i++) {
		if (words_next(&w) != 1 || !words_form(&w, 1, "dd", v) ||
		    strcmp(w.word[0], timer[i].name) != 0)
			return words_bad(&w,
			    "real|virtual|prof interval left");
		msg_fill(to[i], "isec iusec vsec vusec", (uint64_t[]){
		    v[0] / USEC, v[0] % USEC, v[1] / USEC, v[1] % USEC });
		if (v[0] == 0 && v[1] != 0)
			make_since(m, SINCE_ITIMER);
	}
	return rc == -1 ? -1 : 0;
}

/*
 * Append to c a timer that timer_create(2) created. v has the numbers from the
 * timer's line, in the order in which timers_set() reads them.
 */
static int
posix_timer(struct criumake *m, Criu__Timers *c, struct maketask *t,
    const uint64_t *v)
{
	Criu__PosixTimer *p;
	struct maketask *who;

	/* a timer that notifies one thread names it by its ID in its PID
	   namespace */
	who = v[5] == 0 ? NULL : maketask_find(m, v[5]);
	if (v[5] != 0 && who == NULL)
		return make_refuse(m, t, NULL, WHY_TIMER, "timer %" PRIu64 ": "
		    "it is for thread %" PRIu64 ", which is not in the "
		    "snapshot", v[0], v[5]);
	if ((p = MSG_PUSH(&m->msgs, c, posix)) == NULL)
		return -1;
	MSG_FILL(p, "it_id clock_id si_signo it_sigev_notify sival_ptr - "
	    "overrun", v);
	MSG_FILL(p, "isec insec vsec vnsec", ((uint64_t[]){ v[7] / NSEC,
	    v[7] % NSEC, v[8] / NSEC, v[8] % NSEC }));
	if (who != NULL)
		MSG_FILL(p, "notify_thread_id", ((uint64_t[]){ who->pid }));
	return 0;
}

/*
 * Set all timers in c to those of t.
 */
static int
timers_set(struct criumake *m, Criu__TaskCore *c, struct maketask *t)
{
	struct words w;
	uint64_t v[9];
	int rc;

	if (MSG_PART(&m->msgs, c, timers) == NULL ||
	    itimers_set(m, c->timers, t) == -1)
		return -1;
	rc = maketask_words(t, "posix_timers", &w);
	while (rc != -1 && (rc = words_next(&w)) == 1)
		if (!words_form(&w, 0, "diidxdddd", v))
			return words_bad(&w, "id clock signal notify value (x) "
			    "thread overruns interval left");
		else
			rc = posix_timer(m, c->timers, t, v);
	return rc;
}

/*
 * Return the signal that stopped process t. If none is recorded, return
 * SIGSTOP. The signal is in the siginfo of the ptrace stop that snap saw
 * (PTRACE_EVENT_STOP in ptrace(2)).
 */
static uint32_t
stop_signal(const struct maketask *t)
{
	enum { SIG_TTOU = 22, EVENT_STOP = 128 };
	struct recfile f;
	uint64_t code;

	if (linuxrec_find(&t->rec, "siginfo", &f) && f.len >= 12) {
		code = num_get(f.data + 8, 4);
		if (code >> 8 == EVENT_STOP && (code & 0xff) >= SIG_STOP &&
		    (code & 0xff) <= SIG_TTOU)
			return code & 0xff;
	}
	return SIG_STOP;
}

/*
 * Record a note for each keyring of t that has keys, because criu does not
 * restore keyrings.
 */
static int
keyrings_note(struct criumake *m, const struct maketask *t)
{
	static const char *const name[] = { "process", "session" };
	char file[32];
	uint64_t n;
	size_t i;
	int rc;

	for (rc = 0, i = 0; i < sizeof name / sizeof *name && rc != -1; i++) {
		snprintf(file, sizeof file, "keyring/%s", name[i]);
		rc = maketask_one(t, file, "d", "number", &n);
		if (rc == 1 && n > 0)
			rc = make_note(m, t, NULL, "the keyring of its %s, "
			    "with %" PRIu64 " key%s, is not restored", name[i],
			    n, n == 1 ? "" : "s");
	}
	return rc == -1 ? -1 : 0;
}

/*
 * Set in c the attributes that t changed through prctl(2), personality(2),
 * membarrier(2), loginuid and oom_score_adj. Record notes on those that criu
 * does not restore.
 */
static int
traits_set(struct criumake *m, Criu__TaskCore *c, struct maketask *t)
{
	const char *uid = maketask_text(t, "loginuid");
	uint64_t v;
	int rc;

	/* a process in a user namespace may not set its login UID */
	if (uid != NULL && number_parse(uid, 'd', &v) && v <= UINT32_MAX &&
	    !m->users)
		MSG_FILL(c, "loginuid", &v);
	if ((rc = maketask_one(t, "personality", "x", "bits (x)", &v)) == -1)
		return -1;
	if (rc == 1) {
		c->personality = (uint32_t)v;
		if (v != 0 && make_note(m, t, NULL, "its personality, %" PRIx64
		    ", is not restored", v) == -1)
			return -1;
	}
	v = t->stat.v[STAT_EXITSIGNAL];
	if (t != m->root && v != SIG_CHLD && make_note(m, t, NULL, "its exit "
	    "signal, %" PRIu64 ", becomes SIGCHLD when it is restored", v) ==
	    -1)
		return -1;
	if (keyrings_note(m, t) == -1 || (rc = maketask_one(t,
	    "oom_score_adj", "i", "number", &v)) == -1)
		return -1;
	if (rc == 1)
		MSG_FILL(c, "oom_score_adj", &v);
	if ((rc = maketask_must(m, t, "child_subreaper", "d", "number",
	    &v)) == -1)
		return -1;
	if (rc == 1)
		MSG_FILL(c, "child_subreaper", &v);
	if ((rc = maketask_one(t, "membarrier", "x", "commands (x)",
	    &v)) == -1)
		return -1;
	if (rc == 1 && v != 0) {
		MSG_FILL(c, "membarrier_registration_mask", &v);
		make_since(m, SINCE_MEMBARRIER);
	}
	return 0;
}

/*
 * Set in c the state of process t that its threads share. Return 0, or -1 with
 * errstr set.
 */
int
makecore_task(struct criumake *m, Criu__TaskCore *c, struct maketask *t)
{
	int rc;

	if ((rc = t->stat.state == 'T' ? 1 : makecore_stops(t)) == -1)
		return -1;
	if (rc == 1) {
		c->task_state = STOPPED;
		c->has_stop_signo = true;
		c->stop_signo = stop_signal(t);
		if (c->stop_signo != SIG_STOP)
			make_since(m, SINCE_STOP);
	}
	c->flags = (uint32_t)t->stat.v[STAT_FLAGS];
	c->blk_sigset = makecore_blocked(t);
	/* criu before 3.18 reads this, not the same field of the thread */
	c->has_cg_set = t->cgset != 0;
	c->cg_set = t->cgset;
	if (traits_set(m, c, t) == -1 || limits_set(m, c, t) == -1 ||
	    sigactions_set(m, c, t) == -1 || timers_set(m, c, t) == -1 ||
	    MSG_PART(&m->msgs, c, signals_s) == NULL)
		return -1;
	return makecore_pending(m, c->signals_s, t, t, true);
}
