/*
 * Run a system call in a thread of x86-64.
 */
#include "amd64.h"
#include "restart.h"

#ifdef __x86_64__

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
	/* arch/x86/include/asm: segment.h, and xen/interface_64.h */
	CS32 = 0x23, CS64 = 0x33, XEN_CS32 = 0xe023, XEN_CS64 = 0xe033,
	ARCH_PRCTL = 30,	/* arch/x86/include/uapi/asm */
	SHSTK_STATUS = 0x5005
};

const char *
call_refused(pid_t tid, const struct gregs *r)
{
	struct user_regs_struct u;
	uint64_t shadow = 0;

	memcpy(&u, r, sizeof u);
	if (u.cs == CS32 || u.cs == XEN_CS32)
		return "it is a 32-bit process";
	if (u.cs != CS64 && u.cs != XEN_CS64)
		return "it runs in a code segment of its own";
	/* the return frame's address would not be on the shadow stack */
	if (ptrace((int)ARCH_PRCTL, tid, &shadow,
	    SHSTK_STATUS) == 0 && shadow != 0)
		return "it has a shadow stack";
	return NULL;
}

void
call_load(struct gregs *r, const struct gadgets *g, uint64_t sp, long nr,
    const uint64_t arg[6])
{
	struct user_regs_struct u;

	memcpy(&u, r, sizeof u);
	u.rip = g->call;
	u.rsp = sp;
	u.rax = (uint64_t)nr;
	u.orig_rax = UINT64_MAX;
	u.rdi = arg[0];
	u.rsi = arg[1];
	u.rdx = arg[2];
	u.r10 = arg[3];
	u.r8 = arg[4];
	u.r9 = arg[5];
	memcpy(r, &u, sizeof u);
}

void
call_back(struct gregs *r, const struct gadgets *g, uint64_t sp,
    const uint64_t arg[6])
{
	/* the frame is above the words of stage_put() */
	call_load(r, g, sp + g->skip + stage_words(g) * 8, SYS_rt_sigreturn,
	    arg);
}

void
call_enter(struct gregs *r)
{
	struct user_regs_struct u;

	memcpy(&u, r, sizeof u);
	u.rip += isa.call;
	u.orig_rax = u.rax;
	u.rax = (uint64_t)-ENOSYS;
	memcpy(r, &u, sizeof u);
}

/*
 * Cancel the system call at whose entry thread tid is stopped, by setting the
 * number of the call to -1. Return 0, or -1 with errno set.
 */
int
call_cancel(pid_t tid)
{
	return ptrace(PTRACE_POKEUSER, tid, offsetof(struct user,
	    regs.orig_rax), (void *)-1L) == -1 ? -1 : 0;
}

int64_t
call_result(const struct gregs *r)
{
	return (int64_t)r->word[offsetof(struct user_regs_struct, rax) / 8];
}

int
call_pending(pid_t tid, long nr, uint64_t first)
{
	enum { SYSCALL = 0x050f, WORD = 0xffff };
	struct user_regs_struct u;
	long code;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u) == -1)
		return -1;
	if (u.rdi != first)
		return 0;
	if (u.orig_rax == (uint64_t)nr && (int64_t)u.rax == -ERESTARTNOINTR)
		return 1;
	if (u.rax != (uint64_t)nr)
		return 0;
	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)u.rip, NULL);
	return errno != 0 ? -1 : (code & WORD) == SYSCALL;
}

/*
 * Save nothing: system calls of x86-64 change no state besides general
 * registers. Return 0.
 */
int
extstate_read(pid_t tid, struct extstate *k)
{
	(void)tid;
	k->len = 0;
	return 0;
}

int
extstate_write(pid_t tid, const struct extstate *k)
{
	(void)tid;
	(void)k;
	return 0;
}

#endif
