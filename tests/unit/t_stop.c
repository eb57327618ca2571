/*
 * Stopping threads and letting them go, where that does not go at once:
 * linux/stop/, and linux/take/ahead.c.
 */
#include "tracer.h"
#include "util.h"

#include "linux/live.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct shared {		/* with the processes that are stopped */
	atomic_int	 tid;
	atomic_bool	 sleeps;
	atomic_bool	 over;	/* the child of vfork(2) is to end */
} *shared;

static int failing;		/* so many requests to let go are to fail */
static long seized;		/* how often that was asked for */
static pid_t deaf;		/* is to sleep uninterruptibly when asked */
static int to[2];		/* a pipe that it waits for */

/*
 * What the library calls: ptrace(2), with faults.
 */
long
ptrace(tracer_request request, ...)
{
	void *addr, *data;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	seized += request == PTRACE_SEIZE;
	if (request == PTRACE_DETACH && failing > 0) {
		failing--;
		errno = EIO;
		return -1;
	}
	if (request == PTRACE_INTERRUPT && pid == deaf) {
		assert_int_equal(write(to[1], "", 1), 1);
		while (proc_state(deaf, deaf) != 'D')
			usleep(1000);
	}
	return syscall(SYS_ptrace, request, pid, addr, data);
}

/*
 * Sleep; then, when there is something to read, until a child of vfork(2) ends.
 */
static void *
sleep_deeply(void *arg)
{
	char byte;

	(void)arg;
	shared->tid = gettid();
	shared->sleeps = true;
	if (read(to[0], &byte, 1) != 1)
		_exit(1);
	/* the C library's is not for a thread that others outlive */
	if (syscall(SYS_clone, CLONE_VFORK | CLONE_VM | SIGCHLD, 0, 0,
	    0, 0) == 0) {
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		while (!shared->over)
			syscall(SYS_sched_yield);
		syscall(SYS_exit_group, 0);
	}
	for (;;)
		pause();
}

static pid_t
start(void *(*run)(void *))
{
	pthread_t t;
	pid_t pid;

	shared->sleeps = false;
	if ((pid = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (run != NULL)
			pthread_create(&t, NULL, run, NULL);
		else
			shared->sleeps = true;
		for (;;)
			pause();
	}
	assert_int_not_equal(pid, -1);
	while (!shared->sleeps)
		usleep(1000);
	return pid;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) == -1 && errno == EINTR)
		continue;
}

static void
poll_until(struct lproc *p, struct lthread *t, enum hold hold)
{
	int i;

	for (i = 0; i < patience(5000) && t->hold != hold; i++) {
		thread_poll(p, t);
		usleep(1000);
	}
	assert_int_equal(t->hold, hold);
}

/*
 * Set *p to a process that was stopped, and *t to its thread.
 */
static void
start_stopped(struct lproc *p, struct lthread *t)
{
	*p = (struct lproc){ .pid = start(NULL), .taskdir = -1 };
	*t = (struct lthread){ .tid = p->pid };
	assert_int_equal(thread_seize(p, t), 0);
	thread_stop(p, t);
	poll_until(p, t, HOLD_STOPPED);
}

/*
 * A thread that could not be let go is not taken for one that was.
 */
static void
held_is_known(void **state)
{
	struct lthread t;
	struct lproc p;

	(void)state;
	start_stopped(&p, &t);
	failing = 1000;
	thread_release(&t);
	failing = 0;
	assert_int_equal(t.hold, HOLD_ASKED);
	end(p.pid);
	free(t.general.data);
}

/*
 * Once is not for good.
 */
static void
release_is_tried_again(void **state)
{
	struct lthread t;
	struct lproc p;

	(void)state;
	start_stopped(&p, &t);
	failing = 1;
	thread_release(&t);
	assert_int_equal(failing, 0);
	assert_int_equal(t.hold, HOLD_NONE);
	assert_int_equal(proc_status(p.pid, 0, "TracerPid"), 0);
	end(p.pid);
	free(t.general.data);
}

/*
 * When a thread does not stop that is to tell something before the others do,
 * none else is asked: it is to be let go as soon as it does.
 */
static void
late_one_ends_the_asking(void **state)
{
	struct liveopts o = { .clone = true };
	struct live *l;
	struct lproc *p[2];
	struct lthread *t;
	long was;
	int i;

	(void)state;
	assert_int_equal(pipe(to), 0);
	assert_non_null(l = live_new(&o));
	for (i = 0; i < 2; i++) {
		assert_non_null(p[i] = lproc_add(l, start(sleep_deeply)));
		if (i == 0)
			deaf = shared->tid;
		while (proc_state(p[i]->pid, shared->tid) != 'S' ||
		    proc_state(p[i]->pid, p[i]->pid) != 'S')
			usleep(1000);
		assert_int_equal(threads_list(p[i], true), 0);
	}
	was = seized;
	state_readahead(l);
	assert_int_equal(seized - was, 1);
	assert_non_null(t = TAILQ_NEXT(TAILQ_FIRST(&p[0]->threads), entry));
	assert_int_equal(t->tid, deaf);
	assert_int_equal(t->hold, HOLD_ASKED);
	deaf = 0;
	shared->over = true;
	threads_release(p[0]);
	assert_int_equal(t->hold, HOLD_NONE);
	assert_int_equal(proc_status(p[0]->pid, t->tid, "TracerPid"), 0);
	end(p[0]->pid);
	end(p[1]->pid);
	live_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_is_known),
		cmocka_unit_test(release_is_tried_again),
		cmocka_unit_test(late_one_ends_the_asking),
	};

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
