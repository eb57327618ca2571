/*
 * Take a snapshot when something happens: parse the conditions of --when, and
 * wait until one of them is true. The processes are only looked at below /proc;
 * nothing in them is stopped or held.
 */
#include "job.h"
#include "bisect.h"
#include "clock.h"

#include <err.h>
#include <signal.h>
#include <unistd.h>

enum {
	MAX_CONDITIONS = 16,
	TICK_MS = 100,	/* between two looks at logs */
	SAMPLE_MS = 1000, /* between two looks at the processes */
	MAX_HOLD = 86400	/* maximum of ":SECONDS" */
};

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_PERCENT };

struct quantity {
	const char	*name;
	enum gauge	 what;
	enum unit	 unit;
};

static const struct quantity quantities[] = {
	{ "cpu", GAUGE_CPU, UNIT_PERCENT },
	{ "rss", GAUGE_RSS, UNIT_BYTES },
	{ "threads", GAUGE_THREADS, UNIT_COUNT },
	{ "fds", GAUGE_FDS, UNIT_COUNT },
	{ "psi-cpu", GAUGE_PSI_CPU, UNIT_PERCENT },
	{ "psi-io", GAUGE_PSI_IO, UNIT_PERCENT },
	{ "psi-memory", GAUGE_PSI_MEMORY, UNIT_PERCENT }
};

static struct condition {
	const char	*text;	/* borrowed; the argument of --when */
	const struct quantity *of; /* NULL: no limit */
	uint64_t	 limit;	/* percentages in hundredths */
	uint64_t	 hold;	/* how long the value must exceed the limit, in
				   ms */
	struct log	*log;	/* owned; NULL: no log */
} conditions[MAX_CONDITIONS];	/* if of and log are NULL: SIGUSR1 */
static size_t nconditions;

struct watched {		/* a process */
	pid_t		 pid;
	uint64_t	 start;	/* start time, as proc_began() returns it */
	bool		 seen;	/* it was found in the last look */
	uint64_t	 at;	/* time of the last look in ms; 0: none */
	uint64_t	 cpu;	/* processor time at that time, in ms */
	uint64_t	 since[MAX_CONDITIONS]; /* time in ms since which each
				   value exceeds its limit; 0: it does not */
};

struct watch {
	struct sources	 sources;
	struct watched	*v;	/* owned */
	size_t		 n;
};

/*
 * Parse s, the limit of quantity q, into *v. Return false if s is malformed.
 */
static bool
limit_parse(const struct quantity *q, const char *s, uint64_t *v)
{
	double percent;
	char *end;

	if (q->unit == UNIT_BYTES)
		return amount_bytes(s, v);
	if (q->unit == UNIT_COUNT)
		return amount_read(s, "", NULL, v);
	percent = strtod(s, &end);
	if (*s < '0' || *s > '9' || end != s + strspn(s, "0123456789.") ||
	    end[*end == '%'] != '\0' || percent > 1e6)
		return false;
	*v = (uint64_t)(percent * 100);
	return true;
}

/*
 * Parse the condition NAME>LIMIT[:SECONDS] into c. arg is modified. Exit with a
 * message if it is malformed.
 */
static void
limit_add(struct condition *c, char *arg)
{
	static const char *const example[] = {
		[UNIT_COUNT] = "500", [UNIT_BYTES] = "2G",
		[UNIT_PERCENT] = "80%"
	};
	const char *name = strsep(&arg, ">"), *limit, *why = NULL;

	c->of = SEEK_IN(quantities, strcmp(name, x->name) == 0);
	if (c->of == NULL)
		errx(2, "--when %s: not a condition: use cpu, rss, threads, "
		    "fds, psi-cpu, psi-io or psi-memory with >LIMIT, signal, "
		    "or log=FILE:REGEX", c->text);
	limit = arg == NULL ? "" : strsep(&arg, ":");
	if (!limit_parse(c->of, limit, &c->limit))
		errx(2, "--when %s: %s requires a limit, such as %s>%s",
		    c->text, name, name, example[c->of->unit]);
	if (arg != NULL)
		c->hold = (uint64_t)strtonum(arg, 1, MAX_HOLD, &why) * 1000;
	if (why != NULL)
		errx(2, "--when %s: \"%s\" is not a number of seconds from 1 "
		    "to %d", c->text, arg, MAX_HOLD);
}

/*
 * Add the condition arg, the argument of --when, which is borrowed. Exit with a
 * message if it is malformed.
 */
void
when_add(char *arg)
{
	struct condition *c = &conditions[nconditions];
	char *copy = must(strdup(arg));

	if (nconditions++ == MAX_CONDITIONS)
		errx(2, "--when: more than %d conditions", MAX_CONDITIONS);
	c->text = arg;
	if (strncmp(arg, "log=", 4) == 0) {
		/* it borrows the copy */
		if ((c->log = log_open(copy + 4)) == NULL)
			errx(2, "--when %s: %s", arg, snap_errstr());
		return;
	}
	if (strcmp(arg, "signal") != 0)
		limit_add(c, copy);
	free(copy);
}

/*
 * Return true if --when was given.
 */
bool
when_given(void)
{
	return nconditions > 0;
}

/*
 * Print that condition c is true: process pid has value v.
 */
static void
limit_say(const struct condition *c, pid_t pid, uint64_t v)
{
	char text[400], has[40];

	if (c->of->unit == UNIT_BYTES)
		(void)amount_text(has, sizeof has, v);
	else if (c->of->unit == UNIT_PERCENT)
		snprintf(has, sizeof has, "%ju.%02ju%%", (uintmax_t)v / 100,
		    (uintmax_t)v % 100);
	else
		snprintf(has, sizeof has, "%ju", (uintmax_t)v);
	snprintf(text, sizeof text, "%.200s: process %d has %s", c->text, pid,
	    has);
	say(NULL, text);
}

/*
 * Look at process p at time now, in ms. Return 1 if a condition is true, 0 if
 * none is, or -1 with errstr set.
 */
static int
watched_look(struct watched *p, uint64_t now)
{
	const uint64_t last = p->at, cpu = p->cpu;
	const struct condition *c;
	uint64_t used, v;
	size_t i;
	int rc;

	p->at = now;
	for (i = 0; i < nconditions; i++) {
		c = &conditions[i];
		if (c->of == NULL)
			continue;
		if ((rc = proc_gauge(p->pid, c->of->what, &v)) != 0)
			return rc == 1 ? 0 : -1;
		if (c->of->what == GAUGE_CPU) {
			used = v - cpu;
			p->cpu = v;
			v = last == 0 ? 0 : used * 10000 / (now - last);
		}
		if (v <= c->limit)
			p->since[i] = 0;
		else if (p->since[i] == 0)
			p->since[i] = now;
		if (v > c->limit && now - p->since[i] >= c->hold) {
			limit_say(c, p->pid, v);
			return 1;
		}
	}
	return 0;
}

/*
 * Record that process pid is to be looked at. This is a sources_fn; arg is the
 * struct watch.
 */
static int
watch_see(void *arg, pid_t pid, bool found)
{
	struct watch *w = arg;
	struct watched *p;
	struct task t;
	uint64_t start;

	(void)found;
	if ((pid = proc_leader(pid)) == -1 || pid == getpid() ||
	    proc_stat(pid, 0, &t) == -1 || (t.memkb == 0 && proc_ended(pid)))
		return 0;
	if (t.kernel)
		errx(1, "process %d (%s) is a kernel thread: --when cannot "
		    "wait for it", pid, t.comm);
	start = proc_began(pid);
	p = SEEK(w->v, w->n, x->pid == pid && x->start == start);
	if (p == NULL) {
		MUST_ROOM(w->v, w->n);
		p = &w->v[w->n++];
		*p = (struct watched){ .pid = pid, .start = start };
	}
	p->seen = true;
	return 0;
}

/*
 * Look at all processes of w. Return 1 if a condition is true, 0 if none is, or
 * -1 with errstr set. Set *left to false if there is no process.
 */
static int
watch_look(struct watch *w, bool *left)
{
	uint64_t now;
	size_t i, n;
	int rc = 0;

	same_check(&w->sources.live);
	if (!sources_each(&w->sources, watch_see, w))
		return errstr_set("there is nothing to wait for");
	/* a name must match a process only in the first look */
	w->sources.absent = true;
	now = now_ms();
	for (i = n = 0; i < w->n; i++)
		if (w->v[i].seen) {
			w->v[n] = w->v[i];
			w->v[n++].seen = false;
		}
	w->n = n;
	*left = n > 0;
	for (i = 0; i < n && rc == 0; i++)
		rc = watched_look(&w->v[i], now);
	return rc;
}

/*
 * Wait for TICK_MS, or until SIGUSR1 arrives if that is a condition. Return
 * true if it arrived, or if a log has a line that was waited for.
 */
static bool
events_await(void)
{
	const struct timespec tick = { 0, TICK_MS * 1000000L };
	char line[200], text[500];
	bool found = false;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < nconditions; i++)
		if (conditions[i].log == NULL && conditions[i].of == NULL)
			sigaddset(&set, SIGUSR1);
	if (sigtimedwait(&set, NULL, &tick) == SIGUSR1) {
		say(NULL, "signal: SIGUSR1 arrived");
		return true;
	}
	for (i = 0; i < nconditions && !found; i++)
		if (conditions[i].log != NULL &&
		    log_look(conditions[i].log, line, sizeof line)) {
			snprintf(text, sizeof text, "%.200s: %s",
			    conditions[i].text, line);
			say(NULL, text);
			found = true;
		}
	return found;
}

/*
 * Wait until one of the conditions is true. The limits are for the live
 * processes of s; absent ones are ignored if s says so. Return 1 if a condition
 * is true. Return 0 with errstr set if no process is left, or -1 with errstr
 * set.
 */
int
when_wait(const struct sources *s)
{
	struct watch w = { .sources = *s };
	uint64_t next = 0;
	bool left = true;
	int rc = 0;

	do {
		if (now_ms() >= next) {
			rc = watch_look(&w, &left);
			next = now_ms() + SAMPLE_MS;
		}
		/* threads of the moment before may stop only now */
		(void)late_release();
		if (rc == 0 && left && (rc = events_await()) == 0 &&
		    SEEK(conditions, nconditions, x->log == NULL ||
		    !log_isover(x->log)) == NULL)
			rc = errstr_set("the log has ended, and no condition "
			    "of --when became true");
	} while (rc == 0 && left);
	free(w.v);
	if (rc == 0)
		(void)errstr_set("no process is left, and no condition of "
		    "--when became true");
	return rc;
}
