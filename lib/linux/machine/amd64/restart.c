/*
 * Restart the system call of an x86-64 thread that was interrupted by our stop.
 */
#include "linux/machine/machine.h"
#include "restart.h"

#ifdef __x86_64__

#include <sys/ptrace.h>
#include <sys/user.h>

#include <linux/audit.h>

#include <errno.h>
#include <string.h>

/*
 * Return true if the interrupted call of thread tid, in registers r, must not
 * be made again. After close(2), the descriptor may belong to another file.
 * Some drivers do part of an ioctl(2) request and then fail with EINTR. Any
 * other call that fails with EINTR has done nothing. Such calls are listed in
 * signal(7), "Interruption of system calls and library functions by stop
 * signals". A call that uses a file also fails with EINTR if the server of the
 * file, for example a FUSE server, answers EINTR. If connect(2) is restarted,
 * it continues the connection attempt. Numbers are those of
 * arch/x86/entry/syscalls. 64-bit code also makes 32-bit calls, by int $0x80.
 */
static bool
is_once(pid_t tid, const struct user_regs_struct *r)
{
	const int32_t nr = (int32_t)r->orig_rax;
	struct __ptrace_syscall_info si;

	if (nr < 0 || ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof si,
	    &si) == -1)
		return true;
	return si.arch == AUDIT_ARCH_I386 ? nr == 6 || nr == 54 :
	    nr == 3 || nr == 16;
}

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
	struct user_regs_struct r;

	(void)seen;	/* the register orig_rax has the number of the call */
	/* unlike PTRACE_GETREGSET, it has one layout for 64 and 32 bits */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1 ||
	    (int32_t)r.rax != -EINTR || is_once(tid, &r))
		return false;
	r.rax = (uint64_t)-(int64_t)ERESTARTNOHAND;
	return ptrace(PTRACE_SETREGS, tid, NULL, &r) == 0;
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
