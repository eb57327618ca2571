/*
 * System calls in another process: linux/inject/. The process computes with all
 * its registers. Its tracer is killed again and again, at random times, and
 * before and after each ptrace(2) request.
 */
#include "tracer.h"
#include "util.h"

#include "linux/inject/inject.h"
#include "linux/machine/machine.h"
#include "linux/stop/stop.h"
#include "state/state.h"
#include "../targets/spin.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__ || defined __aarch64__


enum { KILLS = 300 };

static struct seen {		/* shared with the process */
	atomic_long	 rounds;
	atomic_long	 wrong;
	atomic_long	 returned;
	atomic_long	 handled;
	atomic_int	 tid;	/* of the other thread that computes */
} *seen;

static pid_t target;

static long moment, fatal;	/* edges of requests; where it dies */
static long twisted;		/* the request before which registers change */
static bool astray;		/* they change to an invalid address */
static bool suspended;		/* the target's filters are suspended */
static long loose;		/* times it ran so, but not in a call */
static time_t later;		/* seconds added to all clocks */
static bool still;		/* clocks stand still */
static bool delayed;		/* it stops again before it continues */
static bool missed;		/* its stop is seen two seconds late */

static void
moment_pass(void)
{
	if (++moment == fatal)
		kill(getpid(), SIGKILL);
}

/*
 * Before the thread continues, change its system call.
 */
static void
call_twist(pid_t tid)
{
	static const uint64_t none[6];
	struct gregs r;
	bool was = astray;

	if (--twisted != 0)
		return;
	(void)gregs_read(tid, &r);
	if (was)
		gregs_jump(&r, 0);
	else
		call_load(&r, &(struct gadgets){ .call = gregs_pc(&r) },
		    gregs_sp(&r), SYS_exit_group, none);
	(void)gregs_write(tid, &r);
}

/*
 * Before the thread continues with suspended filters: count it unless it is at
 * the entry of a system call or at the stop of clone(2).
 */
static void
filter_watch(pid_t tid)
{
	struct __ptrace_syscall_info si;
	siginfo_t why;

	if (!suspended || (syscall(SYS_ptrace, PTRACE_GETSIGINFO, tid, NULL,
	    &why) == 0 &&
	    why.si_code == (SIGTRAP | PTRACE_EVENT_CLONE << 8)))
		return;
	if (syscall(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, tid, sizeof si,
	    &si) == -1 || si.op != PTRACE_SYSCALL_INFO_ENTRY)
		loose++;
}

/*
 * The ptrace(2) that the library calls. It also ends the tracer at the chosen
 * request.
 */
long
ptrace(tracer_request request, ...)
{
	void *addr, *data;
	va_list ap;
	pid_t pid;
	long rc, word;
	bool peeks;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	peeks = request == PTRACE_PEEKTEXT;
	moment_pass();
	if (request == PTRACE_SYSCALL)
		call_twist(pid);
	if (request == PTRACE_SETOPTIONS)
		suspended = ((uintptr_t)data & PTRACE_O_SUSPEND_SECCOMP) != 0;
	if (request == PTRACE_SYSCALL || request == PTRACE_CONT)
		filter_watch(pid);
	rc = syscall(SYS_ptrace, request, pid, addr, peeks ? &word : data);
	while (delayed && request == PTRACE_SYSCALL && later == 0)
		if (proc_state(pid, pid) == 't')
			later = 2;
	moment_pass();
	return peeks && rc == 0 ? word : rc;
}

/*
 * The clock_gettime(2) with which the library measures time.
 */
int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	static struct timespec began;
	int rc;

	rc = (int)syscall(SYS_clock_gettime, clock, ts);
	if (still && began.tv_sec == 0)
		began = *ts;
	if (still)
		*ts = began;
	ts->tv_sec += later;
	missed = missed && later == 0;
	return rc;
}

/*
 * The waitpid(2) with which the library waits for stops.
 */
pid_t
waitpid(pid_t pid, int *status, int options)
{
	if (!missed || pid != target)
		return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
	while (proc_state(pid, pid) != 't')
		usleep(100);
	later = 2;
	return 0;
}

static void __attribute__((noreturn))
compute(void)
{
	sigset_t blocked;

	for (;;) {
		seen->wrong += spin(5000);
		sigemptyset(&blocked);	/* musl's set is larger */
		sigprocmask(SIG_SETMASK, NULL, &blocked);
		seen->wrong += !sigisemptyset(&blocked);
		seen->rounds++;
	}
}

static void __attribute__((noreturn))
compute_tiled(void)
{
	(void)tiles_use();
	compute();
}

/*
 * Use pages below the current stack.
 */
static void __attribute__((noinline))
stack_touch(void)
{
	volatile char deep[512 * 1024];
	size_t i;

	for (i = 0; i < sizeof deep; i += 1024)
		deep[i] = 1;
}

static void *
compute_in(void *arg)
{
	(void)arg;
	stack_touch();
	seen->tid = gettid();
	compute();
}

static void __attribute__((noreturn))
compute_beside(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, compute_in, NULL) != 0)
		_exit(1);
	for (;;)
		pause();
}

static void
handle_count(int sig)
{
	(void)sig;
	seen->handled++;
}

static void __attribute__((noreturn))
compute_counting(void)
{
	(void)signal(SIGSEGV, handle_count);
	compute();
}

static void __attribute__((noreturn))
wait_long(void)
{
	const struct timespec far = { 1000000, 0 };

	for (;;) {
		seen->rounds++;
		/* no code before the call contains its number */
		syscall(SYS_nanosleep, &far, NULL);
		seen->returned++;
	}
}

static void
start(void (*run)(void))
{
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	target = fork();
	assert_int_not_equal(target, -1);
	if (target == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
	}
	while (seen->rounds == 0) {
		assert_int_equal(waitpid(target, NULL, WNOHANG), 0);
		usleep(1000);
	}
}

/*
 * Trace the process and stop it.
 */
static void
target_stop(void)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, target, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, target, NULL, NULL), 0);
	assert_int_equal(waitpid(target, &status, __WALL), target);
}

/*
 * Kill the process, and free what it shared with us.
 */
static void
target_kill(void)
{
	int status;

	kill(target, SIGKILL);
	assert_int_equal(waitpid(target, &status, 0), target);
	munmap(seen, sizeof *seen);
}

static void
target_end(void)
{
	long was;
	int i;

	assert_int_equal(waitpid(target, &i, WNOHANG), 0);
	/* the waiting process has progressed as far as it will */
	for (was = seen->rounds, i = 0; i < timeout(5000) &&
	    seen->rounds == was && seen->rounds > 1 + seen->returned; i++)
		usleep(1000);
	assert_int_not_equal(i, timeout(5000));
	assert_int_equal(seen->wrong, 0);
	/* snap-internals(7), BUGS: some calls may return EINTR */
	assert_between(seen->returned, 0, KILLS / 50);
	target_kill();
}

/*
 * Return true if the process computes within the timeout.
 */
static bool
goes_on(void)
{
	long was;
	int i;

	for (was = seen->rounds, i = 0; i < timeout(5000) &&
	    seen->rounds < was + 2; i++)
		usleep(1000);
	return i < timeout(5000);
}

/*
 * Return the content of a file of a process; "" if it has none.
 */
static void
file_read(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	n = 0;
	if ((f = fopen(path, "r")) != NULL) {
		n = fread(buf, 1, size - 1, f);
		fclose(f);
	}
	buf[n] = '\0';
}

/*
 * Return the system call of the process, as the library reads it.
 */
static struct seencall
call_now(void)
{
	return call_look(target, target);
}

/*
 * Stop it and send it signal sig, or 0, before it makes a call.
 */
static struct inject *
begin_with(int sig)
{
	const struct seencall c = call_now();
	int status;

	if (ptrace(PTRACE_SEIZE, target, NULL, NULL) == -1 ||
	    ptrace(PTRACE_INTERRUPT, target, NULL, NULL) == -1 ||
	    waitpid(target, &status, __WALL) != target)
		return NULL;
	(void)restart_call(target, &c);
	if (kill(target, sig) == -1)
		return NULL;
	return inject_begin(stopped(target, target, &c), true, NULL);
}

static struct inject *
begin(void)
{
	return begin_with(0);
}

/*
 * Make a clone, and set *pid to its ID.
 */
static int
clone_make(struct inject *in, pid_t *pid)
{
	*pid = 0;
	return inject_clonebegin(in) == -1 || inject_clonestart(in) == -1 ||
	    inject_cloneawait(in, pid) == -1 ||
	    inject_cloneend(in, pid) == -1 ? -1 : 0;
}

/*
 * Make calls in the process until this tracer is killed.
 */
static void __attribute__((noreturn))
trace(bool again, bool clones)
{
	static const uint64_t none[6];
	const struct seencall c = call_now();
	struct inject *in;
	pid_t pid;
	int64_t ret;
	int i;

	if ((in = begin()) == NULL)
		_exit(2);
	for (;;) {
		for (i = 0; i < 20; i++)
			if (inject_call(in, &ret, SYS_getppid, none) == -1 ||
			    ret != getppid())
				_exit(3);
		if (clones) {
			if (clone_make(in, &pid) == -1)
				_exit(4);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, __WALL);
		}
		if (again && (inject_end(in, 0) == -1 ||
		    (in = inject_begin(stopped(target, target, &c), true,
		    NULL)) == NULL))
			_exit(5);
	}
}

static void
killed(void (*run)(void), bool again, bool clones)
{
	struct timespec t = { 0, 0 };
	pid_t tracer;
	int i, refused, status;

	start(run);
	srandom(1);
	for (refused = i = 0; i < KILLS / timeout(1); i++) {
		if ((tracer = fork()) == 0)
			trace(again, clones);
		t.tv_nsec = random() % 4000000;
		nanosleep(&t, NULL);
		kill(tracer, SIGKILL);
		assert_int_equal(waitpid(tracer, &status, 0), tracer);
		/*
		 * attempts that take too long on a busy machine are given up,
		 * as is one if several others left no room on the stack
		 */
		if (WIFEXITED(status))
			refused += WEXITSTATUS(status) != 2 || !goes_on();
		assert_int_equal(kill(target, 0), 0);
	}
	assert_between(refused, 0, KILLS / 50);
	target_end();
}

static void
killed_in_calls(void **state)
{
	(void)state;
	killed(compute, false, false);
}

static void
killed_anywhere(void **state)
{
	(void)state;
	killed(compute, true, false);
}

/*
 * A process that used tiles, which must be restored as well.
 */
static void
killed_tiled(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	if ((pid = fork()) == 0)
		_exit(tiles_use() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		skip_because("the processor has no tiles");
	killed(compute_tiled, true, false);
}

static void
killed_waiting(void **state)
{
	(void)state;
	killed(wait_long, true, false);
}

/*
 * Wait until the process is in system call nr.
 */
static void
call_await(long nr)
{
	char buf[256];
	int i;

	for (i = 0; i < timeout(5000); i++) {
		file_read(target, "syscall", buf, sizeof buf);
		if (buf[0] != 'r' && strtol(buf, NULL, 10) == nr)
			return;
		usleep(1000);
	}
	fail_msg("it is not in call %ld: %s", nr, buf);
}

/*
 * A process whose call was interrupted, and continues with restart_syscall(2),
 * waits on if its tracer is killed during a call.
 */
static void
killed_restarted(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;
	pid_t tracer;
	int i, status;

	(void)state;
	start(wait_long);
	call_await(SYS_nanosleep);
	target_stop();
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	call_await(SYS_restart_syscall);
	for (i = 0; i < timeout(1000) && call_now().nr != SYS_nanosleep; i++)
		usleep(1000);
	if (i == timeout(1000) && geteuid() != 0) {
		target_kill();
		skip_because("only root sees which call goes on");
	}
	if ((tracer = fork()) == 0) {
		if ((in = begin()) == NULL ||
		    inject_call(in, &ret, SYS_getppid, none) == -1)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_int_equal(status, SIGKILL);
	call_await(SYS_nanosleep);
	assert_int_equal(seen->returned, 0);
	target_kill();
}

static void
killed_cloning(void **state)
{
	(void)state;
	killed(compute, true, true);
}

/*
 * Make calls in it, and a clone, once.
 */
static void __attribute__((noreturn))
trace_once(void)
{
	static const uint64_t none[6];
	struct inject *in;
	pid_t pid;
	int64_t ret;
	int i;

	if ((in = begin()) == NULL)
		_exit(2);
	for (i = 0; i < 2; i++)
		if (inject_call(in, &ret, SYS_getppid, none) == -1 ||
		    ret != getppid())
			_exit(3);
	if (clone_make(in, &pid) == -1)
		_exit(4);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	if (inject_end(in, 0) == -1)
		_exit(5);
	ptrace(PTRACE_DETACH, target, NULL, NULL);
	_exit(0);
}

/*
 * Return true if a child of the process lives.
 */
static bool
target_hasclone(void)
{
	char buf[4096], name[32], *next, *p, *state;
	bool lives;

	snprintf(name, sizeof name, "task/%d/children", target);
	file_read(target, name, buf, sizeof buf);
	lives = false;
	for (p = strtok_r(buf, " ", &next); p != NULL && !lives;
	    p = strtok_r(NULL, " ", &next)) {
		char stat[512];

		file_read((pid_t)strtol(p, NULL, 10), "stat", stat,
		    sizeof stat);
		state = strrchr(stat, ')');
		lives = state != NULL && strncmp(state, ") Z", 3) != 0 &&
		    strncmp(state, ") X", 3) != 0;
	}
	return lives;
}

static void
killed_each(void (*run)(void), void (*once)(void))
{
	static char before[1 << 16], after[1 << 16];
	pid_t tracer;
	int i, status;

	start(run);
	file_read(target, "maps", before, sizeof before);
	for (fatal = 1;; fatal++) {
		moment = 0;
		if ((tracer = fork()) == 0) {
			/* the machine cannot be too slow */
			still = true;
			once();
		}
		assert_int_equal(waitpid(tracer, &status, 0), tracer);
		if (!goes_on() || seen->wrong != 0)
			fail_msg("moment %ld: it does not go on", fatal);
		for (i = 0; i < timeout(5000) && target_hasclone(); i++)
			usleep(1000);
		if (i == timeout(5000))
			fail_msg("moment %ld: its clone lives", fatal);
		file_read(target, "maps", after, sizeof after);
		if (strcmp(before, after) != 0)
			fail_msg("moment %ld:\n%s\n%s", fatal, before, after);
		if (WIFEXITED(status))
			break;
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
	if (WEXITSTATUS(status) != 0)
		fail_msg("moment %ld: it gives up: %d", fatal,
		    WEXITSTATUS(status));
	assert_true(fatal > 50);
	fatal = 0;
	target_end();
}

static void
killed_at_each_request(void **state)
{
	(void)state;
	killed_each(compute, trace_once);
}

/*
 * Nothing is run in a process, and its memory is not written, while one of its
 * threads runs, or another process that shares its memory.
 */
static void
running_is_left(void **state)
{
	struct lthread beside = { .hold = HOLD_SEIZED };
	struct lthread first = { .hold = HOLD_STOPPED };
	struct lproc p = { 0 };

	(void)state;
	start(compute_beside);
	p.pid = first.tid = target;
	beside.tid = seen->tid;
	TAILQ_INIT(&p.threads);
	TAILQ_INSERT_TAIL(&p.threads, &first, entry);
	TAILQ_INSERT_TAIL(&p.threads, &beside, entry);
	assert_null(inject_begin(&p, false, NULL));
	assert_non_null(strstr(snap_errstr(), "does not stop"));
	beside.hold = HOLD_GONE;
	p.sharer = getpid();
	assert_null(inject_begin(&p, false, NULL));
	assert_non_null(strstr(snap_errstr(), "shares its memory"));
	target_end();
}

/*
 * After the timeout no more calls are made in a process; it is restored.
 */
static void
patience_ends(void **state)
{
	static const uint64_t none[6];
	static char before[1 << 16], after[1 << 16];
	struct inject *in;
	int64_t ret;

	(void)state;
	start(compute);
	file_read(target, "maps", before, sizeof before);
	assert_ptr_not_equal(in = begin(), NULL);
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	later = 3600;
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), -1);
	assert_non_null(strstr(snap_errstr(), "takes too long"));
	assert_int_equal(inject_end(in, -1), -1);
	later = 0;
	file_read(target, "maps", after, sizeof after);
	assert_string_equal(before, after);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	target_end();
}

/*
 * A thread that stopped in time is not given up, even if a busy machine looks
 * at it only after the timeout.
 */
static void
stop_is_seen_late(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;

	(void)state;
	start(compute);
	assert_ptr_not_equal(in = begin(), NULL);
	missed = true;
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	assert_int_equal(ret, getpid());
	assert_false(missed);
	later = 0;
	assert_int_equal(inject_end(in, 0), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	target_end();
}

/*
 * A signal that stopped a thread is handled, even if it is seen only after the
 * timeout of the call.
 */
static void
signal_is_seen_late(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;

	(void)state;
	start(compute_counting);
	assert_ptr_not_equal(in = begin(), NULL);
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	kill(target, SIGSEGV);
	delayed = true;
	(void)inject_call(in, &ret, SYS_getppid, none);
	delayed = false;
	assert_int_equal(later, 2);
	later = 0;
	(void)inject_end(in, 0);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	assert_true(goes_on());
	assert_int_equal(seen->handled, 1);
	target_end();
}

/*
 * A process is restored if it is in a call when the attempt is given up.
 */
static void
call_is_given_up(void **state)
{
	static const struct timespec far = { 1000, 0 };
	static char before[1 << 16], after[1 << 16];
	uint64_t arg[6] = { 0 };
	struct inject *in;

	(void)state;
	start(compute);
	file_read(target, "maps", before, sizeof before);
	assert_ptr_not_equal(in = begin(), NULL);
	assert_int_equal(inject_write(in, &far, sizeof far), 0);
	arg[0] = inject_scratch(in);
	assert_int_equal(inject_callbegin(in, arg), 0);
	assert_int_equal(inject_callstart(in, SYS_nanosleep, arg), 0);
	assert_int_equal(inject_end(in, -1), -1);
	assert_int_not_equal(errno, ESRCH);
	loose = 0;		/* it was stopped before it continued */
	file_read(target, "maps", after, sizeof after);
	assert_string_equal(before, after);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	target_end();
}

/*
 * The caller gets SIGCHLD of its child that ended while the library waited for
 * a thread.
 */
static void
child_is_told(void **state)
{
	static const struct timespec ten = { 0, 10000000 };
	uint64_t nap[6] = { 0 };
	const struct sigaction plain = { .sa_handler = SIG_DFL },
	    unstopped = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
	sigset_t set, old;
	siginfo_t si;
	struct inject *in;
	int64_t ret;
	pid_t child;
	int status;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	start(compute);
	/* the stop of a traced process sends none */
	sigaction(SIGCHLD, &unstopped, NULL);
	sigprocmask(SIG_BLOCK, &set, &old);
	assert_ptr_not_equal(in = begin(), NULL);
	if ((child = fork()) == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(inject_write(in, &ten, sizeof ten), 0);
	nap[2] = inject_scratch(in);
	assert_int_equal(inject_call(in, &ret, SYS_ppoll, nap), 0);
	assert_int_equal(ret, 0);
	assert_int_equal(inject_end(in, 0), 0);
	sigpending(&set);
	assert_true(sigismember(&set, SIGCHLD));
	assert_int_equal(waitpid(child, &status, 0), child);
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGCHLD, &plain, NULL);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	target_end();
}

static void *
be_told(void *mask)
{
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	child_is_told(NULL);
	return NULL;
}

/*
 * The same holds if the caller is not the first thread.
 */
static void
child_is_told_to_thread(void **state)
{
	sigset_t set, old;
	pthread_t t;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	assert_int_equal(pthread_create(&t, NULL, be_told, &old), 0);
	pthread_join(t, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*
 * Another call than the requested one is not made, and is an error. After that,
 * only the call that unmaps our memory is made.
 */
static void
another_call(void **state)
{
	static const uint64_t none[6];
	static char before[1 << 16], after[1 << 16];
	struct inject *in;
	pid_t pid;
	int64_t ret;

	(void)state;
	start(compute);
	file_read(target, "maps", before, sizeof before);
	assert_ptr_not_equal(in = begin(), NULL);
	twisted = 1;
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), -1);
	assert_non_null(strstr(snap_errstr(), "other than the injected"));
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), -1);
	assert_non_null(strstr(snap_errstr(), "did not make"));
	assert_int_equal(clone_make(in, &pid), -1);
	assert_false(target_hasclone());
	assert_int_equal(inject_end(in, 0), 0);
	assert_int_equal(errno, EPROTO);
	file_read(target, "maps", after, sizeof after);
	assert_string_equal(before, after);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	target_end();
}

/*
 * A fault signal sent by kill(2) during a call is handled once, afterwards. One
 * caused by a call of ours is never handled, but works as before when it is
 * sent later.
 */
static void
faults_are_told_apart(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;
	int i;

	(void)state;
	start(compute_counting);
	assert_ptr_not_equal(in = begin(), NULL);
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	kill(target, SIGSEGV);
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	assert_int_equal(ret, getpid());
	assert_int_equal(seen->handled, 0);
	assert_int_equal(inject_end(in, 0), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	assert_true(goes_on());
	assert_int_equal(seen->handled, 1);
	assert_ptr_not_equal(in = begin(), NULL);
	twisted = 1;
	astray = true;
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), -1);
	astray = false;
	(void)inject_end(in, -1);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	assert_true(goes_on());
	assert_int_equal(seen->handled, 1);
	kill(target, SIGSEGV);
	for (i = 0; i < timeout(5000) && seen->handled == 1; i++)
		usleep(1000);
	assert_int_equal(seen->handled, 2);
	target_end();
}

static void __attribute__((noreturn))
compute_filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 2, 0),
		/* ASan calls it before functions that do not return */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sigaltstack, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog prog = { sizeof filter / sizeof *filter, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	compute();
}

/*
 * Seccomp filters are suspended during our calls only. They are not for a call
 * that is not made, nor in a clone.
 */
static void
filter_holds(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	pid_t pid;
	int64_t ret;

	(void)state;
	start(compute_filtered);
	in = begin();
	if (in == NULL) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
		skip_because("filters of seccomp(2) cannot be suspended here");
	}
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	assert_int_equal(ret, getpid());
	assert_int_equal(clone_make(in, &pid), 0);
	twisted = 1;
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), -1);
	assert_int_equal(inject_end(in, 0), 0);
	assert_false(suspended);
	assert_int_equal(loose, 0);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	assert_true(goes_on());
	target_end();
}

/*
 * Bytes written are read back, and registers, mask and mappings are the same
 * afterwards.
 */
static void
puts_back(void **state)
{
	static const uint64_t none[6];
	struct gregs was, is;
	struct inject *in;
	uint64_t arg[6] = { 0 }, mask[2];
	char buf[64], what[64] = "written and read";
	int64_t ret;

	(void)state;
	start(compute);
	target_stop();
	assert_int_equal(gregs_read(target, &was), 0);
	ptrace(PTRACE_GETSIGMASK, target, (void *)8, &mask[0]);
	assert_ptr_not_equal(in = inject_begin(stopped_anywhere(target), true,
	    NULL), NULL);
	assert_int_equal(inject_call(in, &ret, SYS_getpid, none), 0);
	assert_int_equal(ret, target);
	assert_int_equal(inject_call(in, &ret, 1 << 20, none), 0);
	assert_int_equal(ret, -ENOSYS);
	assert_int_equal(inject_write(in, what, sizeof what), 0);
	assert_int_equal(inject_read(in, buf, sizeof buf), 0);
	assert_memory_equal(buf, what, sizeof buf);
	arg[0] = PR_GET_NAME;
	arg[1] = inject_scratch(in);
	assert_int_equal(inject_call(in, &ret, SYS_prctl, arg), 0);
	assert_int_equal(inject_read(in, buf, 16), 0);
	assert_string_equal(buf, "t_inject");
	assert_int_equal(inject_end(in, 0), 0);
	assert_int_equal(gregs_read(target, &is), 0);
	ptrace(PTRACE_GETSIGMASK, target, (void *)8, &mask[1]);
	assert_memory_equal(&was, &is, sizeof was);
	assert_int_equal(mask[0], mask[1]);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	target_end();
}

/*
 * The system calls in which the process waits before it handles a signal.
 */
static const struct waits {
	const char	*name;
	long		 nr;
	int		 flags;		/* flags of the handler */
	bool		 ends;		/* with EINTR, after the handler */
	bool		 timed;		/* continues as restart_syscall(2) */
} waits[] = {
	{ "nanosleep", SYS_nanosleep, SA_RESTART, true, true },
	{ "clock_nanosleep", SYS_clock_nanosleep, SA_RESTART, true, false },
	{ "ppoll", SYS_ppoll, SA_RESTART, true, false },
	{ "epoll_pwait", SYS_epoll_pwait, SA_RESTART, true, false },
	{ "read", SYS_read, 0, true, false },
	{ "read again", SYS_read, SA_RESTART, false, false },
	{ "futex", SYS_futex, 0, true, false },
	{ "timed futex", SYS_futex, SA_RESTART, true, true },
};

static const struct waits *waiting;	/* the current one */

static void __attribute__((noreturn))
wait_interrupted(void)
{
	const struct sigaction sa = { .sa_handler = handle_count,
	    .sa_flags = waiting->flags };
	struct timespec far = { 1 << 20, 0 };
	uint64_t arg[6] = { 0 };
	char event[32];		/* large enough for struct epoll_event */
	int pair[2], word = 0;

	if (sigaction(SIGUSR1, &sa, NULL) == -1 ||
	    sigaction(SIGSEGV, &sa, NULL) == -1 || pipe(pair) == -1)
		_exit(1);
	switch (waiting->nr) {
	case SYS_nanosleep:
		arg[0] = (uintptr_t)&far;
		break;
	case SYS_clock_nanosleep:
		clock_gettime(CLOCK_MONOTONIC, &far);
		far.tv_sec += 1 << 20;
		arg[0] = CLOCK_MONOTONIC;
		arg[1] = TIMER_ABSTIME;
		arg[2] = (uintptr_t)&far;
		break;
	case SYS_ppoll:
		arg[2] = (uintptr_t)&far;
		break;
	case SYS_epoll_pwait:
		(void)epoll_create1(0);		/* for call_is_itself() */
		arg[0] = (uint64_t)epoll_create1(0);
		arg[1] = (uintptr_t)event;
		arg[2] = 1;
		arg[3] = UINT64_MAX;
		break;
	case SYS_read:
		arg[0] = (uint64_t)pair[0];
		arg[1] = (uintptr_t)&word;
		arg[2] = 1;
		break;
	case SYS_futex:
		arg[0] = (uintptr_t)&word;
		arg[3] = waiting->timed ? (uintptr_t)&far : 0;
		break;
	}
	seen->rounds++;
	for (;;) {
		if (syscall(waiting->nr, arg[0], arg[1], arg[2], arg[3], 0,
		    0) != -1 || errno != EINTR)
			seen->wrong++;
		seen->returned++;
		far.tv_sec = 1 << 20;
	}
}

/*
 * Wait until the process waits in a system call. Return its number.
 */
static long
call_awaited(void)
{
	char buf[256];
	int i;

	for (i = 0; i < timeout(5000); i++) {
		file_read(target, "syscall", buf, sizeof buf);
		if (*buf >= '0' && *buf <= '9')
			return strtol(buf, NULL, 10);
		usleep(1000);
	}
	return -1;
}

/*
 * Stop the waiting process, make calls in it, and let it go. Send it the
 * signals before and between the calls, if they are not 0.
 */
static void
call_interrupted(int before, int between)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;

	if (call_awaited() == -1)
		fail_msg("%s: does not wait", waiting->name);
	assert_ptr_not_equal(in = begin_with(before), NULL);
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	kill(target, between);
	assert_int_equal(inject_call(in, &ret, SYS_getppid, none), 0);
	assert_int_equal(ret, getpid());
	assert_int_equal(inject_end(in, 0), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
}

/*
 * After our calls the process waits on for the rest of its time, times times,
 * even if it got a signal that is ignored. If it handles a signal that came
 * before or between the calls, the wait ends as usual.
 */
static void
waits_signalled(const struct waits *w, int times, int before, int between)
{
	int i, k;

	waiting = w;
	start(wait_interrupted);
	for (i = 0; i < times; i++) {
		call_interrupted(i == 0 ? SIGWINCH : 0, i == 1 ? SIGWINCH : 0);
		/* before it waits again, it may be seen in its former call */
		for (k = 0; k < timeout(1000) && call_awaited() !=
		    (w->timed ? SYS_restart_syscall : w->nr); k++)
			usleep(1000);
		if (k == timeout(1000))
			fail_msg("%s: waits anew", w->name);
	}
	call_interrupted(before, between);
	for (k = 0; k < timeout(5000) && (seen->handled == 0 ||
	    seen->returned != w->ends); k++)
		usleep(1000);
	if (k == timeout(5000) || seen->wrong != 0 || seen->handled != 1)
		fail_msg("%s: %ld handled, %ld returned, %ld wrong", w->name,
		    seen->handled, seen->returned, seen->wrong);
	target_kill();
}

static void
waits_on(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof waits / sizeof *waits; i++) {
		waits_signalled(&waits[i], 0, SIGUSR1, 0);
		waits_signalled(&waits[i], 0, SIGSEGV, 0);
		waits_signalled(&waits[i], 1, 0, SIGUSR1);
		waits_signalled(&waits[i], 3, SIGUSR1, 0);
	}
}

/*
 * Let the stopped process handle SIGUSR1; stop it as it leaves rt_sigreturn(2).
 */
static void
handler_left(void)
{
	struct __ptrace_syscall_info si = { 0 };
	int i, sig, status;

	assert_int_equal(ptrace(PTRACE_SETOPTIONS, target, NULL,
	    (void *)PTRACE_O_TRACESYSGOOD), 0);
	kill(target, SIGUSR1);
	for (sig = i = 0; i < 20; i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, target, NULL,
		    (void *)(uintptr_t)sig), 0);
		assert_int_equal(waitpid(target, &status, __WALL), target);
		sig = status >> 8 == SIGUSR1 ? SIGUSR1 : 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		if (si.op == PTRACE_SYSCALL_INFO_ENTRY &&
		    si.entry.nr == SYS_rt_sigreturn)
			return;
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, target,
		    (void *)sizeof si, &si) > 0);
	}
	fail_msg("it does not leave its handler");
}

/*
 * A call that returned EINTR before a signal was handled is not restarted when
 * the handler returns to it. It was not interrupted by us.
 */
static void
ended_call_is_left(void **state)
{
	static const struct waits w = { "epoll_pwait", SYS_epoll_pwait,
	    SA_RESTART, true, false };
	struct seencall c = { 0 };
	struct gregs was, is;
	int i;

	(void)state;
	waiting = &w;
	start(wait_interrupted);
	assert_int_equal(call_awaited(), w.nr);
	c = call_now();
	target_stop();
	handler_left();
	assert_int_equal(gregs_read(target, &was), 0);
	assert_false(restart_call(target, &c));
	assert_int_equal(gregs_read(target, &is), 0);
	assert_memory_equal(&was, &is, sizeof was);
	assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
	for (i = 0; i < timeout(5000) && seen->returned == 0; i++)
		usleep(1000);
	assert_int_equal(seen->returned, 1);
	assert_int_equal(seen->handled, 1);
	target_kill();
}

/*
 * A call is restarted only if it is the one that was seen: not if the process
 * has slept since then, nor if its arguments differ.
 */
static void
call_is_itself(void **state)
{
	static const struct waits w = { "epoll_pwait", SYS_epoll_pwait,
	    SA_RESTART, true, false };
	struct seencall real, other;
	int i;

	(void)state;
	waiting = &w;
	start(wait_interrupted);
	for (i = 0; i < 4; i++) {
		assert_int_equal(call_awaited(), w.nr);
		other = real = call_now();
		other.arg[0]--;
		other.sleeps -= i == 0;
		other.arg[3] += i == 1;
		other.sp -= i == 2;
		other.pc += i == 3;
		target_stop();
		(void)restart_call(target, &other);
		assert_int_equal(ptrace(PTRACE_DETACH, target, NULL, NULL), 0);
		assert_int_equal(call_awaited(), w.nr);
		assert_int_equal(call_now().arg[0], real.arg[0]);
	}
	assert_int_equal(seen->wrong, 0);
	target_kill();
}

#ifdef __x86_64__

static bool by_int80;		/* how wait_once() makes its call */

/*
 * Wait in an ioctl(2).
 */
static void __attribute__((noreturn))
wait_once(void)
{
	static struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { 1, &allow };
	void *low;
	long fd, rc;

	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    (fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program)) == -1)
		_exit(1);
	seen->rounds++;
	for (;;) {
		if (by_int80)
			__asm__ volatile ("int $0x80" : "=a" (rc) : "a" (54),
			    "b" (fd), "c" (SECCOMP_IOCTL_NOTIF_RECV),
			    "d" (low) : "memory", "r8", "r9", "r10", "r11");
		else
			rc = ioctl((int)fd, SECCOMP_IOCTL_NOTIF_RECV, low);
		seen->returned++;
	}
}

/*
 * An ioctl(2) that we interrupted is not restarted, whichever numbers of system
 * calls its process uses.
 */
static void
ioctl_is_left(void **state)
{
	struct user_regs_struct r;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		by_int80 = i == 1;
		start(wait_once);
		assert_int_equal(call_awaited(), by_int80 ? 54 : SYS_ioctl);
		target_stop();
		/* since Linux 6.6 it is restarted; pretend an older kernel */
		assert_int_equal(ptrace(PTRACE_GETREGS, target, NULL, &r), 0);
		r.rax = (uint64_t)-(int64_t)EINTR;
		assert_int_equal(ptrace(PTRACE_SETREGS, target, NULL, &r), 0);
		assert_false(restart_call(target, &(struct seencall){ 0 }));
		target_kill();
	}
}

#endif

/*
 * If the process is killed before a call, the call is an error.
 */
static void
target_dies(void **state)
{
	static const uint64_t none[6];
	struct inject *in;
	int64_t ret;
	int status;

	(void)state;
	start(compute);
	assert_ptr_not_equal(in = begin(), NULL);
	kill(target, SIGKILL);
	assert_int_equal(inject_call(in, &ret, SYS_getpid, none), -1);
	assert_non_null(strstr(snap_errstr(), "exited"));
	assert_int_equal(inject_end(in, 0), -1);
	waitpid(target, &status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_back),
		cmocka_unit_test(target_dies),
		cmocka_unit_test(waits_on),
		cmocka_unit_test(ended_call_is_left),
		cmocka_unit_test(call_is_itself),
#ifdef __x86_64__
		cmocka_unit_test(ioctl_is_left),
#endif
		cmocka_unit_test(another_call),
		cmocka_unit_test(running_is_left),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(stop_is_seen_late),
		cmocka_unit_test(signal_is_seen_late),
		cmocka_unit_test(call_is_given_up),
		cmocka_unit_test(child_is_told),
		cmocka_unit_test(child_is_told_to_thread),
		cmocka_unit_test(faults_are_told_apart),
		cmocka_unit_test(filter_holds),
		cmocka_unit_test(killed_at_each_request),
		cmocka_unit_test(killed_in_calls),
		cmocka_unit_test(killed_anywhere),
		cmocka_unit_test(killed_tiled),
		cmocka_unit_test(killed_waiting),
		cmocka_unit_test(killed_restarted),
		cmocka_unit_test(killed_cloning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
	return 0;
}

#endif
