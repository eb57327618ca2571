/*
 * A system call in a stopped thread, from its beginning to what it returns.
 *
 * A thread is where we left it when it has run a call: at its end, in
 * ptrace's syscall-exit-stop.  There the kernel would not look at registers
 * that mean "repeat the call I was in" (-ERESTARTSYS); so before they are
 * put back the thread is stopped again as it was at first, with
 * PTRACE_INTERRUPT.
 */
#include "clock.h"
#include "run.h"

/*
 * Let the thread of in begin system call nr with arguments arg as inject_start
 * does, when it is known what the thread is to repeat; with is as there.
 * Return 0, or -1 with errstr.
 */
int
inject_enter(struct inject *in, long nr, const uint64_t arg[6], uintptr_t with)
{
	return repeat_learn(in) == -1 ? -1 : inject_start(in, nr, arg, with);
}

/*
 * Let the thread go to where it begins a system call, without waiting until it
 * is there: inject_enter or inject_start does, with the same number and
 * arguments.  Return 0, or -1 with errstr.
 */
int
inject_begincall(struct inject *in, long nr, const uint64_t arg[6])
{
	return repeat_learn(in) == -1 || inject_load(in, nr, arg) == -1 ? -1 :
	    inject_go(in, 0);
}

/*
 * Set *ret to what the system call that the thread of in has come to the end of
 * returned.  Return 0, or -1 with errstr.
 */
int
inject_result(struct inject *in, int64_t *ret)
{
	struct gregs r;

	if (gregs_read(in->tid, &r) == -1)
		return inject_refused(in, "registers");
	*ret = call_result(&r);
	return 0;
}

/*
 * Run system call nr with six arguments, arg, in the thread of in, whatever was
 * before: *ret is what it returned, from -4095 to -1 an error.  Return 0, or -1
 * with errstr if it could not be run.
 */
int
inject_make(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	if (inject_enter(in, nr, arg, 0) == -1 || inject_leave(in) == -1)
		return -1;
	return inject_result(in, ret);
}

/*
 * Look whether more may be asked of the process of in: nothing is of one that
 * did what it was not made to do.  Return 0, or -1 with errstr.
 */
int
inject_trust(const struct inject *in)
{
	return !in->odd ? 0 : errstr_set("process %d: it did not make the "
	    "system call that it was to make", in->pid);
}

/*
 * Return 0 if more may be asked of the process of in; or -1 with errstr, also
 * where it has been asked for as long as it may be.  A thread that hardly gets
 * a processor, for its cgroup has a limit, takes long for each call, and there
 * may be thousands.
 */
int
inject_may(const struct inject *in)
{
	if (inject_trust(in) == -1)
		return -1;
	return now_ms() < in->until ? 0 : errstr_set("process %d: it takes too "
	    "long to make system calls: is its cgroup limited?", in->pid);
}

/*
 * Do the same as inject_make, for who asks for a call: of in, nr with arg, into
 * ret.  Return 0, or -1 with errstr.
 */
int
inject_call(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	return inject_may(in) == -1 ? -1 : inject_make(in, ret, nr, arg);
}

/*
 * Run system call nr with arguments arg in the thread of in, in three steps,
 * each of which waits until the one before is done: this one, inject_callstart
 * with the same, and inject_callend.  Other processes may be at theirs
 * meanwhile, for all of which every signal has to be blocked.  Return 0, or -1
 * with errstr.
 */
int
inject_callbegin(struct inject *in, long nr, const uint64_t arg[6])
{
	return inject_may(in) == -1 ? -1 : inject_begincall(in, nr, arg);
}

/*
 * Let it begin the call.  Return 0, or -1 with errstr.
 */
int
inject_callstart(struct inject *in, long nr, const uint64_t arg[6])
{
	return inject_start(in, nr, arg, 0) == -1 ? -1 : inject_go(in, 0);
}

/*
 * Wait until it has made it, and set *ret to what that returned.  Return 0, or
 * -1 with errstr.
 */
int
inject_callend(struct inject *in, int64_t *ret)
{
	return inject_leave(in) == -1 ? -1 : inject_result(in, ret);
}
