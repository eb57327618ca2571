/*
 * Run one system call in a stopped thread, and return its result.
 *
 * After a call the thread is in ptrace's syscall-exit-stop. There the kernel
 * would ignore registers that mean "restart the interrupted call"
 * (-ERESTARTSYS). Therefore it is stopped again with PTRACE_INTERRUPT, as it
 * was at first, before its registers are restored.
 */
#include "clock.h"
#include "run.h"

/*
 * Bring the thread of inj to the entry of system call nr with arguments arg.
 * Before the first call, find out how to restart the call that we interrupted.
 * Until the exit of the call, the ptrace(2) options opts are set as well.
 * Return 0, or -1 with errstr set.
 */
int
inject_enter(struct inject *inj, long nr, const uint64_t arg[6], uintptr_t opts)
{
	return repeat_learn(inj) == -1 ? -1 : inject_start(inj, nr, arg, opts);
}

/*
 * Let the thread of inj run to the entry of system call nr, without waiting for
 * the thread to get there. arg has the arguments. The caller must then call
 * inject_enter() or inject_start() with the same nr and arg. Return 0, or -1
 * with errstr set.
 */
int
inject_begincall(struct inject *inj, long nr, const uint64_t arg[6])
{
	return repeat_learn(inj) == -1 || inject_load(inj, nr, arg) == -1 ? -1 :
	    inject_go(inj, 0);
}

/*
 * Set *ret to the result of the system call that the thread of inj has made.
 * The thread must be stopped at the exit of the call. Return 0, or -1 with
 * errstr set.
 */
int
inject_result(struct inject *inj, int64_t *ret)
{
	struct gregs r;

	if (gregs_read(inj->tid, &r) == -1)
		return inject_refused(inj, "registers");
	*ret = call_result(&r);
	return 0;
}

/*
 * Run system call nr in the thread of inj, even after the time for calls is up.
 * arg has the six arguments of the call. Set *ret to the result of the call;
 * -4095 to -1 is an error. Return 0, or -1 with errstr set if the call could
 * not be run.
 */
int
inject_make(struct inject *inj, int64_t *ret, long nr, const uint64_t arg[6])
{
	if (inject_enter(inj, nr, arg, 0) == -1 || inject_leave(inj) == -1)
		return -1;
	return inject_result(inj, ret);
}

/*
 * Return 0 if the process of inj has done nothing but our calls. Otherwise
 * return -1 with errstr set; the process must then be left alone.
 */
int
inject_trust(const struct inject *inj)
{
	return !inj->unexpected ? 0 : errstr_set("process %d did not make the "
	    "injected system call", inj->pid);
}

/*
 * Return 0 if more calls may be made in the process of inj. Return -1 with
 * errstr set if it did something unexpected, or if its time is up. Without a
 * time limit, thousands of calls would take very long in a process whose cgroup
 * rarely lets it run.
 */
int
inject_may(const struct inject *inj)
{
	if (inject_trust(inj) == -1)
		return -1;
	return now_ms() < inj->until ? 0 : errstr_set("process %d takes too "
	    "long to make system calls (is its cgroup limited?)", inj->pid);
}

/*
 * Run system call nr with arguments arg in the thread of inj, and set *ret to
 * its result. Return 0. Return -1 with errstr set if inject_may() refuses the
 * call, or on another failure.
 */
int
inject_call(struct inject *inj, int64_t *ret, long nr, const uint64_t arg[6])
{
	return inject_may(inj) == -1 ? -1 : inject_make(inj, ret, nr, arg);
}

/*
 * Begin to run system call nr with arguments arg in the thread of inj. This is
 * the first of three steps; the others are inject_callstart(), with the same
 * arguments, and inject_callend(). Each step waits for the previous one, so
 * that several processes can make calls at the same time. The calling thread
 * must block all signals during all three steps. Return 0, or -1 with errstr
 * set.
 */
int
inject_callbegin(struct inject *inj, long nr, const uint64_t arg[6])
{
	return inject_may(inj) == -1 ? -1 : inject_begincall(inj, nr, arg);
}

/*
 * Let the thread of inj run from the entry of the call to its exit, without
 * waiting for the thread to get there. nr and arg are those given to
 * inject_callbegin(). Return 0, or -1 with errstr set.
 */
int
inject_callstart(struct inject *inj, long nr, const uint64_t arg[6])
{
	return inject_start(inj, nr, arg, 0) == -1 ? -1 : inject_go(inj, 0);
}

/*
 * Wait until the thread of inj reaches the exit of the call, and set *ret to
 * the result. Return 0, or -1 with errstr set.
 */
int
inject_callend(struct inject *inj, int64_t *ret)
{
	return inject_leave(inj) == -1 ? -1 : inject_result(inj, ret);
}
