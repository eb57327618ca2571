/*
 * What a thread goes on with that was stopped: the system call that it was in,
 * and the restartable sequence.
 */
#include "stopping.h"

#include <sys/ptrace.h>
#include <sys/user.h>

#include <errno.h>

#ifdef __x86_64__
/*
 * System calls that give up with EINTR when a thread is stopped, although
 * no signal is delivered: signal(7), "Interruption of system calls and
 * library functions by stop signals", and what waits on a socket with a
 * timeout.  Their numbers are those of arch/x86/entry/syscalls, for 64 and
 * for 32 bits; -1 where there is none.
 */
static const struct {
	int16_t	 nr64;
	int16_t	 nr32;
} gives_up[] = {
	{ 0, 3 },		/* read: a socket with SO_RCVTIMEO */
	{ 1, 4 },		/* write: a socket with SO_SNDTIMEO */
	{ 19, 145 },		/* readv */
	{ 20, 146 },		/* writev */
	{ 42, 362 },		/* connect: goes on with what it began */
	{ 43, 102 },		/* accept; socketcall */
	{ 44, 369 },		/* sendto */
	{ 45, 371 },		/* recvfrom */
	{ 46, 370 },		/* sendmsg */
	{ 47, 372 },		/* recvmsg */
	{ 65, 117 },		/* semop; ipc */
	{ 69, 400 },		/* msgsnd */
	{ 70, 401 },		/* msgrcv */
	{ 128, 177 },		/* rt_sigtimedwait */
	{ -1, 421 },		/* rt_sigtimedwait_time64 */
	{ 208, 247 },		/* io_getevents */
	{ 220, 420 },		/* semtimedop; semtimedop_time64 */
	{ 232, 256 },		/* epoll_wait */
	{ 281, 319 },		/* epoll_pwait */
	{ 288, 364 },		/* accept4 */
	{ 299, 337 },		/* recvmmsg */
	{ -1, 417 },		/* recvmmsg_time64 */
	{ 307, 345 },		/* sendmmsg */
	{ 333, 385 },		/* io_pgetevents */
	{ -1, 416 },		/* io_pgetevents_time64 */
	{ 426, 426 },		/* io_uring_enter */
	{ 441, 441 },		/* epoll_pwait2 */
};

/*
 * A thread whose system call gave up because we stopped it makes the call
 * again: the kernel is told what it tells itself in its other calls,
 * -ERESTARTNOHAND (include/linux/errno.h).  If a signal is to be handled
 * first, the call fails with EINTR after all, as it should.
 */
void
regs_restart(pid_t tid)
{
	enum { ERESTARTNOHAND = 514, CS32 = 0x23 };
	struct user_regs_struct r;
	size_t i;
	int nr;

	/* unlike PTRACE_GETREGSET, this has one form for 64 and 32 bits */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1 ||
	    (int32_t)r.rax != -EINTR)
		return;
	for (i = 0; i < sizeof gives_up / sizeof *gives_up; i++) {
		nr = r.cs == CS32 ? gives_up[i].nr32 : gives_up[i].nr64;
		if (nr == -1 || (int32_t)r.orig_rax != nr)
			continue;
		r.rax = (uint64_t)-(int64_t)ERESTARTNOHAND;
		(void)ptrace(PTRACE_SETREGS, tid, NULL, &r);
		return;
	}
}

/*
 * Read a word of the memory of a thread into *v.  Return false if there is
 * none.
 */
static bool
peek(pid_t tid, uint64_t at, uint64_t *v)
{
	long w;

	errno = 0;
	w = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)at, NULL);
	*v = (uint64_t)w;
	return errno == 0;
}

/*
 * A thread that stands in a restartable sequence goes on at its abort handler,
 * for it was interrupted: rseq(2), struct rseq_cs of <linux/rseq.h>.  The
 * kernel would send it there; but that it is in one is forgotten when it is
 * made to run something else.  Return true if it does.
 */
bool
regs_abort(pid_t tid)
{
	enum { RSEQ_CS = 8, START = 8, LENGTH = 16, ABORT = 24 };
	struct user_regs_struct r;
	struct rseqconf c;
	uint64_t cs, start, len, handler;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof c,
	    &c) != (long)sizeof c || c.area == 0 ||
	    !peek(tid, c.area + RSEQ_CS, &cs) || cs == 0 ||
	    !peek(tid, cs + START, &start) || !peek(tid, cs + LENGTH, &len) ||
	    !peek(tid, cs + ABORT, &handler) ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1 ||
	    r.rip - start >= len)
		return false;
	r.rip = handler;
	return ptrace(PTRACE_SETREGS, tid, NULL, &r) == 0;
}
#else
void
regs_restart(pid_t tid)
{
	(void)tid;
}

bool
regs_abort(pid_t tid)
{
	(void)tid;
	return false;
}
#endif
