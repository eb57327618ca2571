/*
 * Run one system call in a stopped thread, and return its result; read and
 * write the memory that calls use for arguments and results.
 *
 * After a call the thread is in ptrace's syscall-exit-stop. There the kernel
 * would ignore registers that mean "restart the interrupted call"
 * (-ERESTARTSYS). Therefore the thread is stopped again with PTRACE_INTERRUPT,
 * as it was at first, before its registers are restored.
 *
 * Usually the registers say how to restart the interrupted call. On arm64 the
 * kernel also keeps a restart code until the thread resumes, and our calls
 * overwrite it. Therefore we read it before our first call. After our last
 * call, we stop the thread at the exit of a call with the same restart code. If
 * we die in between, the return frame makes the thread begin its call again.
 */
#include "clock.h"
#include "run.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <unistd.h>

/*
 * Find out which call the thread of inj would restart, by looking at the entry
 * of that call. Let the thread run to the entry, and cancel the call there;
 * then the thread is ready for our calls. If a signal is to be handled first,
 * the thread does not get to the entry; the call then ends with EINTR.
 */
static int
repeat_ask(struct inject *inj)
{
	static const uint64_t none[6];
	struct __ptrace_syscall_info si;

	if (inject_step(inj, 0, START_MS) == -1)
		return -1;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, inj->tid, (void *)sizeof si, &si) ==
	    -1)
		return inject_refused(inj, "system call");
	if (!inj->entered && (si.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    si.entry.nr != SYS_restart_syscall))
		inj->restart.code = 0;
	return inject_load(inj, none) == -1 ||
	    inject_options(inj, inj->suspend) == -1 ? -1 : inject_leave(inj);
}

/*
 * Find out how to restart the call in which the thread of inj was interrupted.
 * This is called before each of our calls, but has an effect only before the
 * first. Return 0, or -1 with errstr set.
 */
static int
repeat_learn(struct inject *inj)
{
	if (inj->entered)
		return 0;
	inj->restart = restartinfo_read(inj->tid, &inj->regs);
	return inj->restart.ask ? repeat_ask(inj) : 0;
}

/*
 * Make the kernel restart the interrupted call of the thread of inj when the
 * thread resumes. To that end stop the thread at the exit of a call, and
 * restore its registers and signal mask there. Return 1 if this was done, 0 if
 * restoring the registers is enough, or -1 with errstr set.
 */
int
repeat_restore(struct inject *inj)
{
	const int code = inj->restart.code;
	const uint64_t arg[6] = { restartinfo_arg(&inj->regs) };
	struct gregs r = inj->regs;

	if (code == 0 || inj->unexpected)
		return 0;
	inj->restart.code = 0;	/* do not try again if this fails */
	if (inject_start(inj, SYS_getppid, arg, 0) == -1 ||
	    inject_leave(inj) == -1)
		return -1;
	restartinfo_load(&r, code);
	if (ptrace(PTRACE_SETSIGMASK, inj->tid, (void *)sizeof inj->mask,
	    &inj->mask) == -1 || gregs_write(inj->tid, &r) == -1)
		return inject_refused(inj, "what it was");
	inj->entered = false;
	return inject_halt(inj) == -1 ? -1 : 1;
}

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
 * Let the thread of inj run to the entry of a system call with arguments arg,
 * without waiting for the thread to get there. The caller must then call
 * inject_enter() or inject_start(). Return 0, or -1 with errstr set.
 */
int
inject_begincall(struct inject *inj, const uint64_t arg[6])
{
	return repeat_learn(inj) == -1 || inject_load(inj, arg) == -1 ? -1 :
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
	return inject_enter(inj, nr, arg, 0) == -1 ? -1 :
	    inject_callend(inj, ret);
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
 * Begin to run a system call in the thread of inj. arg has the arguments of
 * the call. This is the first of three steps; the others are
 * inject_callstart() and inject_callend(). Each step waits for the previous
 * one, so that several processes can make calls at the same time. The calling
 * thread must block all signals during all three steps. Return 0, or -1 with
 * errstr set.
 */
int
inject_callbegin(struct inject *inj, const uint64_t arg[6])
{
	return inject_may(inj) == -1 ? -1 : inject_begincall(inj, arg);
}

/*
 * Let the thread of inj make system call nr with arguments arg, without waiting
 * for the thread to get to the exit of the call. Return 0, or -1 with errstr
 * set.
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

/*
 * Write len bytes from buf to the memory of process or clone pid, at address
 * addr. The process must be stopped. Unlike a write to /proc/PID/mem, this
 * needs no right to write to files of other users. Return 0, or -1 with errstr
 * set.
 */
int
inject_put(pid_t pid, const void *buf, size_t len, uint64_t addr)
{
	struct iovec from, to;

	memcpy(&from.iov_base, &buf, sizeof buf);
	memcpy(&to.iov_base, &addr, sizeof addr);
	from.iov_len = to.iov_len = len;
	return process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)len ?
	    errstr_sys("memory of process %d", pid) : 0;
}

/*
 * Return the address of the scratch memory in the process of inj. It is at the
 * start of our mapping, and has INJECT_ROOM bytes. Without a mapping, it is at
 * the start of the unused stack, and has isa.stage bytes.
 */
uint64_t
inject_scratch(const struct inject *inj)
{
	return inj->map != 0 ? inj->map : inj->unused;
}

/*
 * Return 0 if len bytes fit into the scratch memory of inj, else -1 with errstr
 * set.
 */
static int
scratch_fits(const struct inject *inj, size_t len)
{
	const size_t room = inj->map != 0 ? INJECT_ROOM : isa.stage;

	return len <= room ? 0 : errstr_set("process %d: scratch memory has "
	    "%zu bytes, but %zu are needed", inj->pid, room, len);
}

/*
 * Read the result of a call, len bytes of the scratch memory of inj, into buf.
 * Return 0, or -1 with errstr set.
 */
int
inject_read(struct inject *inj, void *buf, size_t len)
{
	if (scratch_fits(inj, len) == -1)
		return -1;
	return pread(inj->mem, buf, len, (off_t)inject_scratch(inj)) !=
	    (ssize_t)len ? errstr_sys("/proc/%d/mem", inj->pid) : 0;
}

/*
 * Write the arguments of a call, len bytes at buf, to the scratch memory of
 * inj. Return 0, or -1 with errstr set.
 */
int
inject_write(struct inject *inj, const void *buf, size_t len)
{
	return scratch_fits(inj, len) == -1 ? -1 :
	    inject_put(inj->pid, buf, len, inject_scratch(inj));
}
