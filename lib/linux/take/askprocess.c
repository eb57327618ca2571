/*
 * State that /proc and ptrace(2) do not show and a process must be asked for by
 * injected system calls: signal actions, timers, keyrings(7) and settings.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "taking.h"
#include "vec.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <linux/keyctl.h>

#include <signal.h>
#include <time.h>

enum {
	NSIGNALS = 64,
	ROOM = 448, /* minimum size of the scratch memory, in bytes:
		       inject_scratch() */
	MAX_KEYS = ROOM / 4,
	GET_TID_ADDRESS = 40, /* option of prctl(2), since Linux 3.5 */
	GET_REGISTRATIONS = 1 << 9	/* command of membarrier(2), since
					   Linux 6.3 */
};

/*
 * Return the signals whose actions the process of a must be asked for: those
 * that it catches or ignores (proc_pid_status(5)), and SIGCHLD, whose flag
 * SA_NOCLDWAIT has an effect without a handler. Bit 0 represents signal 1. If
 * the status of the process cannot be read, return all signals.
 */
static uint64_t
signals_set(const struct asking *a)
{
	uint64_t caught, ignored;

	return proc_signals(a->proc->mmtid, 0, &caught, &ignored) ?
	    caught | ignored | UINT64_C(1) << (SIGCHLD - 1) : UINT64_MAX;
}

/*
 * Record the signal actions of the n processes v, as the kernel's
 * rt_sigaction(2) returns them. If a signal has the default action in all of
 * them, do not ask: record zeros.
 */
static void
ask_sigactions(struct asking *v, size_t n)
{
	uint64_t arg[6] = { 0, 0, 0, 8 }, asked, got[4], sig;
	struct asking *a;
	bool asks;

	for (asked = 0, a = v; a < v + n; a++)
		asked |= signals_set(a);
	for (sig = 1; sig <= NSIGNALS; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP)
			continue;
		arg[0] = sig;
		asks = (asked >> (sig - 1) & 1) != 0;
		if (asks)
			ask_each(v, n, SYS_rt_sigaction, arg, 2);
		memset(got, 0, sizeof got);
		for (a = v; a < v + n; a++)
			if (!asks || asking_got(a, got, sizeof got))
				buf_printf(&a->told, "%ju %jx %jx %jx %jx\n",
				    (uintmax_t)sig, (uintmax_t)got[0],
				    (uintmax_t)got[1], (uintmax_t)got[2],
				    (uintmax_t)got[3]);
	}
	asking_reported(v, n, "sigaction");
}

static void
ask_itimers(struct asking *v, size_t n)
{
	static const char *const name[] = { "real", "virtual", "prof" };
	uint64_t arg[6] = { 0 };
	struct itimerval it;
	struct asking *a;
	size_t i;

	for (i = 0; i < 3; i++) {
		arg[0] = i;
		ask_each(v, n, SYS_getitimer, arg, 1);
		for (a = v; a < v + n; a++)
			if (asking_got(a, &it, sizeof it))
				buf_printf(&a->told, "%s %jd %jd\n", name[i],
				    (intmax_t)it.it_interval.tv_sec * 1000000 +
				    it.it_interval.tv_usec,
				    (intmax_t)it.it_value.tv_sec * 1000000 +
				    it.it_value.tv_usec);
	}
	asking_reported(v, n, "itimers");
}

/*
 * Add the POSIX timer with this ID to the answers of a. text is the entry of
 * the timer in /proc/PID/timers. Ask the process, by injected calls, for the
 * remaining time and the overruns of the timer.
 */
static void
ask_timer(struct asking *a, long id, const char *text)
{
	const uint64_t arg[6] = { (uint64_t)id };
	struct itimerspec v;
	unsigned int kind;
	char notify[32];
	int clock, sig, tid;
	uintmax_t value;
	const char *p;

	if (sscanf(text, "signal: %d/%jx notify: %31[^/]/%*[^.].%d ClockID: %d",
	    &sig, &value, notify, &tid, &clock) != 5)
		return;
	kind = strcmp(notify, "signal") == 0 ? SIGEV_SIGNAL :
	    strcmp(notify, "thread") == 0 ? SIGEV_THREAD : SIGEV_NONE;
	p = strstr(text, "/tid.");
	if (p != NULL && p < strstr(text, "ClockID"))
		kind |= SIGEV_THREAD_ID;
	else
		tid = 0;
	ask_each(a, 1, SYS_timer_gettime, arg, 1);
	if (!asking_got(a, &v, sizeof v))
		return;
	ask_each(a, 1, SYS_timer_getoverrun, arg, 0);
	if (a->rc == 0)
		buf_printf(&a->told, "%ld %d %d %u %jx %d %jd %jd %jd\n", id,
		    clock, sig, kind, value, tid,
		    (intmax_t)(a->ret < 0 ? 0 : a->ret),
		    timespec_ns(&v.it_interval), timespec_ns(&v.it_value));
}

static void
ask_timers(struct asking *a)
{
	struct bytes t;
	const char *s;
	char *text;
	long id;
	int n;

	if (proc_read(a->proc->pid, 0, "timers", &t) == -1)
		return;
	text = mem_dup(t.data, t.len);
	free(t.data);
	if (text == NULL) {
		asking_failed(a);
		return;
	}
	for (s = text; a->rc == 0 && (s = strstr(s, "ID: ")) != NULL; s += n) {
		n = 4;
		/* skip the "ID: " in "ClockID: " */
		if ((s == text || s[-1] == '\n') &&
		    sscanf(s, "ID: %ld\n%n", &id, &n) == 1)
			ask_timer(a, id, s + n);
	}
	free(text);
	if (a->told.len > 0)
		asking_reported(a, 1, "posix_timers");
}

/*
 * Return true unless key is the user keyring, which every session has anyway.
 */
static bool
key_counts(struct asking *a, int32_t key)
{
	const uint64_t arg[6] = { KEYCTL_DESCRIBE, (uint64_t)(int64_t)key, 0,
	    ROOM };
	char text[ROOM + 1];

	ask_each(a, 1, SYS_keyctl, arg, 2);
	if (a->ret <= 0 || a->ret > ROOM ||
	    !asking_got(a, text, (size_t)a->ret))
		return true;
	text[a->ret] = '\0';
	return strncmp(text, "keyring;", 8) != 0 ||
	    strstr(text, ";_uid.") == NULL;
}

/*
 * Record the number of keys in the process keyring of each of the n processes
 * v. Record nothing if there is no such keyring or it is empty. Asking for a
 * process keyring does not create it.
 */
static void
ask_processkeys(struct asking *v, size_t n)
{
	const uint64_t arg[6] = { KEYCTL_READ,
	    (uint64_t)(int64_t)KEY_SPEC_PROCESS_KEYRING, 0,
	    MAX_KEYS * sizeof(int32_t) };
	struct asking *a;

	ask_each(v, n, SYS_keyctl, arg, 2);
	for (a = v; a < v + n; a++)
		if (a->rc == 0 && a->ret > 0)
			filelist_text(a->to, "keyring/process", "%d\n",
			    (int)(a->ret / (int64_t)sizeof(int32_t)));
}

/*
 * Record the number of keys in the session keyring of a, not counting the user
 * keyring. a must be a clone, since keyctl(2) creates a session keyring if
 * there is none. If there are more than MAX_KEYS keys, do not look for the user
 * keyring among them: the number then includes it.
 */
void
ask_sessionkeys(struct asking *a)
{
	const uint64_t arg[6] = { KEYCTL_READ,
	    (uint64_t)(int64_t)KEY_SPEC_SESSION_KEYRING, 0,
	    MAX_KEYS * sizeof(int32_t) };
	int32_t key[MAX_KEYS];
	int i, n, count;

	ask_each(a, 1, SYS_keyctl, arg, 2);
	if (a->rc == -1 || a->ret <= 0)
		return;
	count = n = (int)(a->ret / (int64_t)sizeof *key);
	if (n <= MAX_KEYS && !asking_got(a, key, (size_t)a->ret))
		return;
	for (i = 0; n <= MAX_KEYS && i < n && a->rc == 0; i++)
		count -= !key_counts(a, key[i]);
	if (count > 0 && a->rc == 0)
		filelist_text(a->to, "keyring/session", "%d\n", count);
}

/*
 * Ask the first threads of the n processes v, by injected calls, for process
 * state that a clone does not inherit: timers, keys, and whether the process
 * adopts orphans (copy_signal of kernel/fork.c, copy_creds of kernel/cred.c).
 */
void
ask_process(struct asking *v, size_t n)
{
	struct asking *a;

	ask_itimers(v, n);
	for (a = v; a < v + n; a++)
		if (a->rc == 0)
			ask_timers(a);
	ask_processkeys(v, n);
	ask_number(v, n, "child_subreaper", SYS_prctl, PR_GET_CHILD_SUBREAPER,
	    4, false);
}

/*
 * Ask n threads, one for each element of v, by injected calls, for their own
 * state: the alternate signal stack, TID address, parent death signal, and
 * securebits.
 */
void
ask_thread(struct asking *v, size_t n)
{
	static const uint64_t none[6];
	struct asking *a;
	stack_t ss;

	ask_each(v, n, SYS_sigaltstack, none, 1);
	for (a = v; a < v + n; a++)
		if (asking_got(a, &ss, sizeof ss))
			filelist_text(a->to, "sigaltstack", "%jx %zu %x\n",
			    (uintmax_t)(uintptr_t)ss.ss_sp, ss.ss_size,
			    (unsigned int)ss.ss_flags);
	ask_number(v, n, "tid_address", SYS_prctl, GET_TID_ADDRESS, 8, true);
	ask_number(v, n, "pdeath_signal", SYS_prctl, PR_GET_PDEATHSIG, 4,
	    false);
	ask_number(v, n, "securebits", SYS_prctl, PR_GET_SECUREBITS, 0, true);
}

/*
 * Ask the n processes v, or their clones, by injected calls, for state that
 * both have: signal actions (copy_sighand of kernel/fork.c) and memory state
 * (dup_mm).
 */
void
ask_memory(struct asking *v, size_t n)
{
	ask_sigactions(v, n);
	ask_number(v, n, "brk", SYS_brk, 0, 0, true);
	ask_number(v, n, "dumpable", SYS_prctl, PR_GET_DUMPABLE, 0, false);
	ask_number(v, n, "thp_disable", SYS_prctl, PR_GET_THP_DISABLE, 0,
	    false);
	ask_number(v, n, "membarrier", SYS_membarrier, GET_REGISTRATIONS, 0,
	    true);
}
