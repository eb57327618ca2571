/*
 * Restart the system call of an x86-64 thread that was interrupted by our stop.
 */
#include "linux/machine/machine.h"
#include "restart.h"

#ifdef __x86_64__

#include <sys/ptrace.h>
#include <sys/user.h>

#include <errno.h>
#include <string.h>

/*
 * System calls that fail with EINTR when a thread is stopped, although no
 * signal is delivered: those in signal(7), "Interruption of system calls and
 * library functions by stop signals", and waits on a socket with a timeout.
 * Numbers are those of arch/x86/entry/syscalls, for 64 and 32 bits; -1 where
 * there is none.
 */
static const struct {
	int16_t	 nr64;
	int16_t	 nr32;
} gives_up[] = {
	{ 0, 3 },		/* read from a socket with SO_RCVTIMEO */
	{ 1, 4 },		/* write to a socket with SO_SNDTIMEO */
	{ 19, 145 },		/* readv */
	{ 20, 146 },		/* writev */
	{ 40, 187 },		/* sendfile */
	{ -1, 239 },		/* sendfile64 */
	{ 42, 362 },		/* connect; if restarted, it continues the
				   connection attempt */
	{ 43, 102 },		/* accept; in 32-bit programs, socketcall */
	{ 44, 369 },		/* sendto */
	{ 45, 371 },		/* recvfrom */
	{ 46, 370 },		/* sendmsg */
	{ 47, 372 },		/* recvmsg */
	{ 65, 117 },		/* semop; in 32-bit programs, ipc */
	{ 69, 400 },		/* msgsnd */
	{ 70, 401 },		/* msgrcv */
	{ 128, 177 },		/* rt_sigtimedwait */
	{ -1, 421 },		/* rt_sigtimedwait_time64 */
	{ 208, 247 },		/* io_getevents */
	{ 220, 420 }, /* semtimedop; in 32-bit programs, semtimedop_time64 */
	{ 232, 256 },		/* epoll_wait */
	{ 275, 313 },		/* splice */
	{ 281, 319 },		/* epoll_pwait */
	{ 288, 364 },		/* accept4 */
	{ 299, 337 },		/* recvmmsg */
	{ -1, 417 },		/* recvmmsg_time64 */
	{ 307, 345 },		/* sendmmsg */
	{ 327, 378 },		/* preadv2, with offset -1 */
	{ 328, 379 },		/* pwritev2, with offset -1 */
	{ 333, 385 },		/* io_pgetevents */
	{ -1, 416 },		/* io_pgetevents_time64 */
	{ 426, 426 },		/* io_uring_enter */
	{ 441, 441 },		/* epoll_pwait2 */
};

/*
 * Return false: registers identify the interrupted call, so seencall.sleeps is
 * not needed.
 */
bool
restart_counts(int64_t nr)
{
	(void)nr;
	return false;
}

/*
 * If a call of thread tid failed with EINTR because we stopped the thread, make
 * the kernel restart the call. To do so, set its result to -ERESTARTNOHAND, as
 * the kernel does for other calls. If a signal is to be handled first, the call
 * still fails with EINTR. Return true if the result was set.
 */
bool
restart_call(pid_t tid, const struct seencall *seen)
{
	enum { CS32 = 0x23 };
	struct user_regs_struct r;
	size_t i;
	int nr;

	(void)seen;	/* the register orig_rax has the number of the call */
	/* unlike PTRACE_GETREGSET, it has one layout for 64 and 32 bits */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1 ||
	    (int32_t)r.rax != -EINTR)
		return false;
	for (i = 0; i < sizeof gives_up / sizeof *gives_up; i++) {
		nr = r.cs == CS32 ? gives_up[i].nr32 : gives_up[i].nr64;
		if (nr == -1 || (int32_t)r.orig_rax != nr)
			continue;
		r.rax = (uint64_t)-(int64_t)ERESTARTNOHAND;
		return ptrace(PTRACE_SETREGS, tid, NULL, &r) == 0;
	}
	return false;
}

bool
restart_due(const void *now, size_t len)
{
	struct user_regs_struct r;

	if (len != sizeof r)	/* these are the registers of a 32-bit thread */
		return true;
	memcpy(&r, now, sizeof r);
	return (int32_t)r.rax == -EINTR;
}

/*
 * Return code 0, because registers are enough to restart the interrupted call.
 */
struct restartinfo
restartinfo_read(pid_t tid, const struct gregs *r)
{
	(void)tid;
	(void)r;
	return (struct restartinfo){ 0, false };
}

uint64_t
restartinfo_arg(const struct gregs *r)
{
	(void)r;
	return 0;
}

void
restartinfo_load(struct gregs *r, int code)
{
	(void)r;
	(void)code;
}

#endif
