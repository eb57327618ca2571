/*
 * What it takes to start a process again and /proc does not tell: some of it
 * the kernel tells us, the rest only the process itself, which is made to
 * ask.  It becomes files of the Linux record; snap(6), "State that restoring
 * takes", describes them.
 */
#include "clock.h"
#include "linux/inject/inject.h"
#include "taking.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <linux/membarrier.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	NSIGNALS = 64,
	/* of prctl(2), and membarrier(2), since Linux 3.5 and 6.3 */
	GET_TID_ADDRESS = 40,
	GET_REGISTRATIONS = 1 << 9
};

struct asking {			/* a process that is asked */
	struct inject	*in;
	struct filelist	*to;	/* the record that the answers go to */
};

static const uint64_t none[6];

/*
 * Make a call whose answer is not its result, but what it leaves in len bytes
 * of scratch memory.  Return 1, 0 if the call fails, or -1 with errstr.
 */
static int
ask(struct asking *a, long nr, const uint64_t arg[6], void *buf, size_t len)
{
	int64_t ret;

	if (inject_call(a->in, &ret, nr, arg) == -1)
		return -1;
	if (ret < 0)
		return 0;
	return inject_read(a->in, buf, len) == -1 ? -1 : 1;
}

/*
 * Record a number that prctl(2) leaves in memory, of size bytes, or, if that
 * is 0, returns.
 */
static int
ask_prctl(struct asking *a, const char *name, long option, size_t size,
    bool hex)
{
	uint64_t arg[6] = { (uint64_t)option };
	int64_t ret;
	uint64_t v;

	arg[1] = size > 0 ? inject_scratch(a->in) : 0;
	if (inject_call(a->in, &ret, SYS_prctl, arg) == -1)
		return -1;
	if (ret < 0)
		return 0;
	v = size > 0 ? 0 : (uint64_t)ret;
	if (size > 0 && inject_read(a->in, &v, size) == -1)
		return -1;
	filelist_text(a->to, name, hex ? "%jx\n" : "%ju\n", (uintmax_t)v);
	return 0;
}

static int
ask_thread(struct asking *a)
{
	const uint64_t arg[6] = { 0, inject_scratch(a->in) };
	stack_t ss;
	int rc;

	if ((rc = ask(a, SYS_sigaltstack, arg, &ss, sizeof ss)) == -1)
		return -1;
	if (rc == 1)
		filelist_text(a->to, "sigaltstack", "%jx %zu %x\n",
		    (uintmax_t)(uintptr_t)ss.ss_sp, ss.ss_size,
		    (unsigned int)ss.ss_flags);
	if (ask_prctl(a, "tid_address", GET_TID_ADDRESS, 8, true) == -1 ||
	    ask_prctl(a, "pdeath_signal", PR_GET_PDEATHSIG, 4, false) == -1)
		return -1;
	return ask_prctl(a, "securebits", PR_GET_SECUREBITS, 0, true);
}

/*
 * Record signal actions, as rt_sigaction(2) has them without the C library.
 */
static int
ask_sigactions(struct asking *a)
{
	uint64_t arg[6] = { 0, 0, inject_scratch(a->in), 8 }, v[4];
	struct buf b = { 0 };
	uint64_t sig;
	int rc;

	for (rc = 1, sig = 1; sig <= NSIGNALS && rc != -1; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP)
			continue;
		arg[0] = sig;
		rc = ask(a, SYS_rt_sigaction, arg, v, sizeof v);
		if (rc == 1)
			buf_printf(&b, "%ju %jx %jx %jx %jx\n", (uintmax_t)sig,
			    (uintmax_t)v[0], (uintmax_t)v[1],
			    (uintmax_t)v[2], (uintmax_t)v[3]);
	}
	if (rc == -1)
		buf_free(&b);
	else
		filelist_buf(a->to, "sigaction", &b);
	return rc == -1 ? -1 : 0;
}

static int
ask_itimers(struct asking *a)
{
	static const char *const name[] = { "real", "virtual", "prof" };
	uint64_t arg[6] = { 0, inject_scratch(a->in) };
	struct itimerval v;
	struct buf b = { 0 };
	size_t i;
	int rc;

	for (rc = 1, i = 0; i < 3 && rc != -1; i++) {
		arg[0] = i;
		rc = ask(a, SYS_getitimer, arg, &v, sizeof v);
		if (rc == 1)
			buf_printf(&b, "%s %jd %jd\n", name[i],
			    (intmax_t)v.it_interval.tv_sec * 1000000 +
			    v.it_interval.tv_usec,
			    (intmax_t)v.it_value.tv_sec * 1000000 +
			    v.it_value.tv_usec);
	}
	if (rc == -1)
		buf_free(&b);
	else
		filelist_buf(a->to, "itimers", &b);
	return rc == -1 ? -1 : 0;
}

/*
 * Write to b a timer that /proc/PID/timers tells of, with what only the
 * process knows: the time that is left, and the overruns.
 */
static int
ask_timer(struct asking *a, struct buf *b, long id, const char *text)
{
	uint64_t arg[6] = { (uint64_t)id, inject_scratch(a->in) };
	struct itimerspec v;
	unsigned int kind;
	char notify[32];
	uintmax_t value;
	int64_t over;
	int clock, rc, sig, tid;
	char *p;

	if (sscanf(text, "signal: %d/%jx notify: %31[^/]/%*[^.].%d ClockID: %d",
	    &sig, &value, notify, &tid, &clock) != 5)
		return 0;
	kind = strcmp(notify, "signal") == 0 ? SIGEV_SIGNAL :
	    strcmp(notify, "thread") == 0 ? SIGEV_THREAD : SIGEV_NONE;
	p = strstr(text, "/tid.");
	if (p != NULL && p < strstr(text, "ClockID"))
		kind |= SIGEV_THREAD_ID;
	else
		tid = 0;
	if ((rc = ask(a, SYS_timer_gettime, arg, &v, sizeof v)) != 1)
		return rc;
	if (inject_call(a->in, &over, SYS_timer_getoverrun, arg) == -1)
		return -1;
	buf_printf(b, "%ld %d %d %u %jx %d %jd %jd %jd\n", id, clock, sig,
	    kind, value, tid, (intmax_t)(over < 0 ? 0 : over),
	    timespec_ns(&v.it_interval), timespec_ns(&v.it_value));
	return 0;
}

static int
ask_timers(struct asking *a, pid_t pid)
{
	struct buf b = { 0 };
	struct bytes t;
	const char *s;
	char *text;
	long id;
	int n, rc;

	if (proc_read(pid, 0, "timers", &t) == -1)
		return 0;
	text = strndup((const char *)t.data, t.len);
	free(t.data);
	if (text == NULL)
		return errstr_set("out of memory");
	rc = 0;
	for (s = text; rc == 0 && (s = strstr(s, "ID: ")) != NULL; s += n) {
		n = 4;
		/* not that of "ClockID: " */
		if ((s == text || s[-1] == '\n') &&
		    sscanf(s, "ID: %ld\n%n", &id, &n) == 1)
			rc = ask_timer(a, &b, id, s + n);
	}
	free(text);
	if (rc == -1 || b.len == 0)
		buf_free(&b);
	else
		filelist_buf(a->to, "posix_timers", &b);
	return rc;
}

static int
ask_process(struct asking *a, pid_t pid)
{
	const uint64_t query[6] = { GET_REGISTRATIONS };
	int64_t ret;

	if (ask_sigactions(a) == -1 || ask_itimers(a) == -1 ||
	    ask_timers(a, pid) == -1 ||
	    inject_call(a->in, &ret, SYS_brk, none) == -1)
		return -1;
	filelist_text(a->to, "brk", "%jx\n", (uintmax_t)ret);
	if (ask_prctl(a, "dumpable", PR_GET_DUMPABLE, 0, false) == -1 ||
	    ask_prctl(a, "child_subreaper", PR_GET_CHILD_SUBREAPER, 4,
	    false) == -1 ||
	    ask_prctl(a, "thp_disable", PR_GET_THP_DISABLE, 0, false) == -1 ||
	    inject_call(a->in, &ret, SYS_membarrier, query) == -1)
		return -1;
	if (ret >= 0)
		filelist_text(a->to, "membarrier", "%jx\n", (uintmax_t)ret);
	return 0;
}

/*
 * Return what a clock of ours shows a process, in ns: it may be in another
 * time namespace, time_namespaces(7).
 */
static intmax_t
clock_seen(clockid_t clock, const char *name, const struct bytes *ours,
    const struct bytes *theirs)
{
	const struct bytes *const v[] = { theirs, ours };
	struct timespec ts;
	intmax_t sec, nsec, t;
	char text[256], *s;
	size_t i;

	clock_gettime(clock, &ts);
	t = timespec_ns(&ts);
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof text, "%.*s", (int)v[i]->len,
		    v[i]->data == NULL ? "" : (const char *)v[i]->data);
		if ((s = strstr(text, name)) == NULL ||
		    sscanf(s + strlen(name), "%jd %jd", &sec, &nsec) != 2)
			continue;
		sec = sec * 1000000000 + nsec;
		t += i == 0 ? sec : -sec;
	}
	return t;
}

static void
add_clocks(struct filelist *l, pid_t pid)
{
	struct bytes ours = { 0 }, theirs = { 0 };
	intmax_t monotonic, boottime;

	if (proc_read(pid, 0, "timens_offsets", &theirs) == -1 ||
	    proc_read(getpid(), 0, "timens_offsets", &ours) == -1)
		theirs.len = ours.len = 0;
	monotonic = clock_seen(CLOCK_MONOTONIC, "monotonic", &ours, &theirs);
	boottime = clock_seen(CLOCK_BOOTTIME, "boottime", &ours, &theirs);
	filelist_text(l, "clocks", "monotonic %jd\nboottime %jd\n", monotonic,
	    boottime);
	free(ours.data);
	free(theirs.data);
}

/*
 * Return 1 if thread t runs what process p makes it run, 0 if not: the
 * kernel's workers in a process do not. -1 with errstr if that cannot be seen.
 */
static int
thread_runs(const struct lproc *p, const struct lthread *t)
{
	struct task now;

	if (t->hold != HOLD_STOPPED)
		return 0;
	if (proc_stat(p->pid, t->tid, &now) == -1)
		return errno == ESRCH ? 0 : errstr_sys("/proc/%d/task/%d/stat",
		    p->pid, t->tid);
	return !now.worker;
}

/*
 * Ask all threads of process p, the one that leads it for the process too.
 * Return 0, or -1 with errstr; errno is ESRCH then if p has died.
 */
static int
ask_all(struct lproc *p, struct lthread *leader)
{
	struct asking a;
	struct lthread *t;
	int rc;

	errno = 0;
	if (leader->hold == HOLD_GONE)
		return errstr_set("its first thread has ended");
	if (leader->hold != HOLD_STOPPED)
		return errstr_set("it is not stopped");
	a.to = &leader->seen;
	if ((a.in = inject_begin(p->pid, true)) == NULL)
		return -1;
	rc = ask_process(&a, p->pid);
	TAILQ_FOREACH(t, &p->threads, entry) {
		if (rc == -1 || (rc = thread_runs(p, t)) != 1)
			continue;
		a.to = &t->seen;
		rc = inject_thread(a.in, t->tid);
		if (rc == 0)
			rc = ask_thread(&a);
	}
	return inject_end(a.in, rc);
}

/*
 * Nothing can be asked of process p: tell why, in the record and, where that
 * was not told for another reason, the user.
 */
static void
observe(struct live *l, struct lproc *p, struct lthread *leader)
{
	filelist_text(&leader->seen, "observed", "%s\n", snap_errstr());
	p->inert = true;
	if (leader->hold == HOLD_STOPPED || leader->hold == HOLD_GONE)
		live_warn(l, "process %d cannot be restored%s: nothing can be "
		    "run in it: %s", p->pid, l->opts.clone ? ", nor let go at "
		    "once" : "", snap_errstr());
}

/*
 * Read the state of all processes of a set, which are stopped.  In those in
 * which nothing is to be run, or can be, only what is seen from outside.
 */
void
state_read(struct live *l)
{
	struct lthread *t, *leader;
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry) {
		leader = NULL;
		TAILQ_FOREACH(t, &p->threads, entry) {
			if (t->hold == HOLD_STOPPED)
				thread_outside(p, t);
			if (t->tid == p->pid)
				leader = t;
		}
		if (p->skip || p->mmtid == 0 || leader == NULL)
			continue;
		add_clocks(&leader->seen, p->pid);
		if (l->opts.observe)
			filelist_text(&leader->seen, "observed", "asked for\n");
		else if (ask_all(p, leader) == 0)
			continue;
		else if (errno != ESRCH && !proc_died(p->pid, p->mmtid))
			observe(l, p, leader);
		else
			lproc_leave(l, p);
	}
}
