/*
 * A thread that sleeps tells what it has before all are stopped, and is asked
 * again if it has run since: linux/take/ahead.c, linux/stop/ran.c.
 */
#include "tracer.h"
#include "util.h"

#include "linux/live.h"
#include "linux/machine/machine.h"
#include "linux/stop/stop.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TRIES = 50,		/* it may be kept from going back to sleep */
	STACK = 64 * 1024
};

enum moment {			/* when the thread is woken */
	NEVER,
	ANSWERED,		/* when it was asked, and sleeps again */
	BEFORE_STOP,		/* before it is looked at for the stop */
	IN_STOP			/* after that, before it is to stop */
};

enum sign {			/* of what a thread told: it holds since */
	ASKED = 1,		/* it went back to sleep when it was asked, */
	STILL = 2,		/* slept until it was made to stop, */
	STAYED = 4		/* and did nothing else then */
};

static struct shared {		/* with the processes that are stopped */
	atomic_int	 tid;
	atomic_ulong	 count;
	_Atomic uintptr_t altstack; /* of the thread now */
} *shared;

static char area[STACK + 16 * 1024];
static int to[2];		/* a pipe that the thread waits for */
static pid_t sleeper, other;	/* its process, and one to be stopped first */
static enum moment moment;
static bool woken;
static int seizes;		/* of the thread, so far */

static long
switches(void)
{
	return proc_status(sleeper, shared->tid, "voluntary_ctxt_switches");
}

/*
 * Wait until the thread has left the processor of itself since it was counted.
 */
static void
await_sleep(long since)
{
	while (switches() <= since)
		usleep(100);
}

static void
wake(void)
{
	const unsigned long count = shared->count;
	const long since = switches();

	assert_int_equal(write(to[1], "", 1), 1);
	await_sleep(since);
	assert_int_equal(shared->count, count + 1);
	woken = true;
}

/*
 * What the library calls: ptrace(2), with the thread woken at a moment.
 */
long
ptrace(tracer_request request, ...)
{
	void *addr, *data;
	long rc, since;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	since = pid == shared->tid && request == PTRACE_DETACH ? switches() : 0;
	rc = syscall(SYS_ptrace, request, pid, addr, data);
	if (rc == -1 || woken)
		return rc;
	if (pid == other && request == PTRACE_SEIZE && moment == BEFORE_STOP)
		wake();
	if (pid != shared->tid)
		return rc;
	seizes += request == PTRACE_SEIZE;
	if (request == PTRACE_SEIZE && moment == IN_STOP && seizes == 2)
		wake();
	if (request == PTRACE_DETACH && moment == ANSWERED && seizes == 1) {
		await_sleep(since);
		wake();
	}
	return rc;
}

/*
 * Use 32 KB of the stack, and leave them: what the thread is asked to run needs
 * room below its stack pointer that is there already.
 */
static void __attribute__((noinline))
deepen(void)
{
	volatile char deep[32 * 1024];
	size_t i;

	for (i = 0; i < sizeof deep; i += 1024)
		deep[i] = 1;
}

/*
 * Have another alternate signal stack whenever woken, with the same registers.
 */
static void *
sleep_on(void *arg)
{
	stack_t ss = { .ss_size = STACK };
	char byte;

	deepen();
	shared->tid = gettid();
	for (;;) {
		ss.ss_sp = area + 16 * (shared->count % 1024);
		if (syscall(SYS_sigaltstack, &ss, NULL) == -1)
			_exit(1);
		shared->altstack = (uintptr_t)ss.ss_sp;
		shared->count++;
		if (syscall(SYS_read, to[0], &byte, 1, 0, 0, 0) != 1)
			_exit(1);
	}
	return arg;
}

static pid_t
start(void *(*run)(void *))
{
	pthread_t t;
	pid_t pid;

	if ((pid = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (run != NULL)
			pthread_create(&t, NULL, run, NULL);
		for (;;)
			pause();
	}
	assert_int_not_equal(pid, -1);
	return pid;
}

static void
end(pid_t pid)
{
	pid_t got;

	kill(pid, SIGKILL);
	/* any: where a test failed, its threads are still traced by us */
	while ((got = waitpid(-1, NULL, __WALL)) != pid && (got != -1 ||
	    errno == EINTR))
		continue;
}

static int
begin(void **state)
{
	*shared = (struct shared){ 0 };
	assert_int_equal(pipe(to), 0);
	other = start(NULL);
	sleeper = start(sleep_on);
	while (shared->count == 0 ||
	    proc_state(sleeper, shared->tid) != 'S' ||
	    proc_state(sleeper, sleeper) != 'S' ||
	    proc_state(other, other) != 'S')
		usleep(1000);
	(void)state;
	return 0;
}

static int
finish(void **state)
{
	(void)state;
	end(sleeper);
	end(other);
	close(to[0]);
	close(to[1]);
	return 0;
}

/*
 * Return the alternate signal stack that thread t told of.
 */
static uintptr_t
stack_told(const struct lproc *p, struct lthread *t)
{
	const struct file *f;

	thread_recall(p, t);
	f = filelist_find(t->stayed ? &t->told : &t->seen, "sigaltstack");
	assert_non_null(f);
	return strtoull((const char *)f->data, NULL, 16);
}

/*
 * Stop both processes, with the thread woken at moment m, and see that what it
 * told is that of the stop.  Return true if the signs of that were these.
 */
static bool
stop_both(enum moment m, unsigned int signs)
{
	struct liveopts o = { .out = -1 };
	struct lthread *t;
	struct lproc *p;
	struct live *l;
	uintptr_t told;
	bool as;

	moment = m;
	woken = false;
	seizes = 0;
	assert_non_null(l = live_new(&o));
	assert_non_null(lproc_add(l, other));
	assert_non_null(p = lproc_add(l, sleeper));
	assert_int_equal(live_stop(l), 0);
	assert_int_equal(woken, m != NEVER);
	assert_non_null(t = TAILQ_NEXT(TAILQ_FIRST(&p->threads), entry));
	assert_int_equal(t->tid, shared->tid);
	told = stack_told(p, t);
	as = t->same && t->asked == !!(signs & ASKED) &&
	    t->still == !!(signs & STILL) && t->stayed == !!(signs & STAYED);
	live_thaw(l);
	live_free(l);
	assert_int_equal(told, shared->altstack);
	return as;
}

/*
 * Stop them until the signs are these.
 */
static void
stop_until(enum moment m, unsigned int signs)
{
	struct lproc p = { .pid = sleeper, .taskdir = -1 };
	struct lthread t = { .tid = shared->tid };
	size_t held;
	struct ran r;
	bool told;
	int i;

	for (held = 0; held < NHELD; held++)
		t.held[held] = -1;
	told = thread_ran(&p, &t, &r);
	threads_close(&p);
	if (!isa.injects)
		skip_because("nothing runs in a process of this machine");
	if (!told)
		skip_because("no count of how often threads ran");
	for (i = 0; i < TRIES && !stop_both(m, signs); i++)
		continue;
	/* an emulated one takes longer than a thread may that stayed: ran.c */
	if (i == TRIES && patience(1) > 1)
		skip_because("this machine is too slow for it");
	assert_between(i, 0, TRIES - 1);
}

static void
sleeper_is_not_asked_again(void **state)
{
	(void)state;
	stop_until(NEVER, ASKED | STILL | STAYED);
}

static void
ran_after_its_answer(void **state)
{
	(void)state;
	stop_until(ANSWERED, 0);
}

static void
ran_before_the_stop(void **state)
{
	(void)state;
	stop_until(BEFORE_STOP, ASKED);
}

static void
ran_in_the_stop(void **state)
{
	(void)state;
	stop_until(IN_STOP, ASKED | STILL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sleeper_is_not_asked_again,
		    begin, finish),
		cmocka_unit_test_setup_teardown(ran_after_its_answer, begin,
		    finish),
		cmocka_unit_test_setup_teardown(ran_before_the_stop, begin,
		    finish),
		cmocka_unit_test_setup_teardown(ran_in_the_stop, begin,
		    finish),
	};

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
