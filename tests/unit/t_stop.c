/*
 * Stopping and releasing threads that do not stop or go at once: linux/stop/.
 */
#include "tracer.h"
#include "util.h"

#include "linux/stop/stopping.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LIMIT = 1,		/* seconds, as -t */
	MAX_TEXT = 256
};

static int failing;		/* number of release requests that fail */
static bool tardy;		/* the next attempt to seize a thread succeeds
				   only after the time limit of -t, and then its
				   timer expires */

/*
 * Seize thread tid when snap's time is up, and do not return: the handler of
 * the timer jumps out.
 */
static void
seize_late(pid_t tid)
{
	sigset_t alarm;

	tardy = false;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	usleep((LIMIT * 1000 + 50) * 1000);
	(void)syscall(SYS_ptrace, PTRACE_SEIZE, tid, NULL, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	for (;;)
		pause();
}

/*
 * The ptrace(2) that the library calls, with faults.
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
	if (request == PTRACE_SEIZE && tardy)
		seize_late(pid);
	if (request == PTRACE_DETACH && failing > 0) {
		failing--;
		errno = EIO;
		return -1;
	}
	return syscall(SYS_ptrace, request, pid, addr, data);
}

static pid_t
start(void)
{
	pid_t pid;

	if ((pid = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_not_equal(pid, -1);
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

	for (i = 0; i < timeout(5000) && t->hold != hold; i++) {
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
	*p = (struct lproc){ .pid = start() };
	*t = (struct lthread){ .tid = p->pid };
	assert_int_equal(thread_seize(p, t), 0);
	thread_stop(p, t);
	poll_until(p, t, HOLD_STOPPED);
}

/*
 * A thread that could not be released is not treated as released.
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
	assert_int_equal(t.hold, HOLD_INTERRUPTED);
	end(p.pid);
	free(t.general.data);
}

/*
 * A failed release is repeated.
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
 * Let process pid, which is stopped, run to the stop of a system call.
 */
static void
run_to_call(pid_t pid)
{
	siginfo_t si;

	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL,
	    (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOWAIT |
	    __WALL), 0);
	assert_int_equal(si.si_status, SIGTRAP | 0x80);
}

/*
 * A thread in the stop of a system call is released, also if it was late.
 */
static void
call_is_released(void **state)
{
	struct lthread t;
	struct lproc p;
	int late;

	(void)state;
	for (late = 0; late < 2; late++) {
		start_stopped(&p, &t);
		run_to_call(p.pid);
		if (late)
			late_add(p.pid);
		failing = late ? 0 : 3;
		if (!late)
			thread_release(&t);
		assert_int_equal(late_release(), 0);
		assert_int_equal(failing, 0);
		assert_int_equal(proc_status(p.pid, 0, "TracerPid"), 0);
		end(p.pid);
		free(t.general.data);
	}
}

static void
message(void *arg, const char *text)
{
	strlcpy(arg, text, MAX_TEXT);
}

/*
 * A thread that was seized although its process is left out is released.
 */
static void
seized_too_late_is_released(void **state)
{
	char text[MAX_TEXT] = "", want[MAX_TEXT];
	const struct liveopts o = { .timeout = LIMIT, .warn = message,
	    .arg = text };
	struct live *l;
	pid_t pid;

	(void)state;
	pid = start();
	assert_non_null(l = live_new(&o));
	assert_int_equal(live_addpid(l, pid), 0);
	tardy = true;
	assert_int_equal(live_stop(l), 0);
	snprintf(want, sizeof want, "process %d does not stop: it is inside "
	    "execve(2): left out", pid);
	assert_string_equal(text, want);
	assert_int_equal(proc_status(pid, 0, "TracerPid"), 0);
	live_free(l);
	end(pid);
}

/*
 * A thread that stops after its release is released while the snapshot is
 * written.
 */
static void
late_is_released_by_next(void **state)
{
	char text[MAX_TEXT] = "";
	const struct liveopts o = { .no_inject = true, .warn = message,
	    .arg = text };
	struct lthread t;
	struct lproc p;
	struct snap *s;
	struct live *l;
	struct proc *next;
	pid_t pid;

	(void)state;
	pid = start();
	assert_non_null(s = snap_new());
	assert_non_null(l = live_new(&o));
	assert_int_equal(live_addpid(l, pid), 0);
	assert_int_equal(live_stop(l), 0);
	start_stopped(&p, &t);
	late_add(p.pid);
	/* as if it had stopped only now */
	assert_int_equal(ptrace(PTRACE_CONT, p.pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, p.pid, NULL, NULL), 0);
	assert_int_equal(waitid(P_PID, (id_t)p.pid, &(siginfo_t){ 0 },
	    WSTOPPED | WNOWAIT | __WALL), 0);
	assert_int_equal(live_take(l, s, NULL, NULL), 0);
	assert_int_equal(live_next(l, &next), 1);
	assert_int_equal(proc_status(p.pid, 0, "TracerPid"), 0);
	live_free(l);
	snap_free(s);
	assert_string_equal(text, "");
	end(p.pid);
	end(pid);
	free(t.general.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_is_known),
		cmocka_unit_test(release_is_tried_again),
		cmocka_unit_test(call_is_released),
		cmocka_unit_test(seized_too_late_is_released),
		cmocka_unit_test(late_is_released_by_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
