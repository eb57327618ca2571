/*
 * What a thread finds that runs system calls for us, and whose tracer dies:
 * the kernel lets it run on from where it is, and that must lead it back.
 *
 * Calls are made by a syscall instruction with a ret behind it, and the stack
 * pointer is where these lie:
 *
 *	0	pop %rdi; ret		addresses of such instructions, each
 *	8	start			with what it pops
 *	16	pop %rsi; ret
 *	24	length
 *	32	pop %rax; ret
 *	40	11, munmap
 *	48	syscall; ret
 *	56	pop %rax; ret
 *	64	15, rt_sigreturn
 *	72	syscall; ret
 *	80	a signal frame
 *	448	its extended state
 *
 * so that whatever it was doing, next it unmaps the memory that we made it
 * map, and does rt_sigreturn(2), which gives it the registers, signal mask
 * and extended state that it had.  The frame is struct rt_sigframe in
 * arch/x86/include/asm/sigframe.h, from its ucontext on.
 */
#include "inject.h"

#include "snap.h"

#include <string.h>

#ifdef __x86_64__
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	FRAME_RETURN = 56,
	FRAME_CONTEXT = 80,
	FRAME_XSTATE = 448,	/* a multiple of 64 */
	XSTATE_ROOM = 12 * 1024,
	XSTATE_MIN = 576,	/* legacy area and header */
	XFEATURE_TILE = 3 << 17,
	CPUID_XSTATE = 0xd,

	/* arch/x86/include/uapi/asm/sigcontext.h */
	SW_BYTES = 464,
	FP_XSTATE_MAGIC1_ = 0x46505853,
	FP_XSTATE_MAGIC2_ = 0x46505845,
	UC_FP_XSTATE_ = 1,
	UC_SIGCONTEXT_SS_ = 2,
	UC_STRICT_RESTORE_SS_ = 4,

	/* include/linux/errno.h */
	ERESTARTSYS = 512,
	ERESTARTNOINTR = 513,
	ERESTARTNOHAND = 514,
	ERESTART_RESTARTBLOCK = 516,

	NR_RESTART_SYSCALL = 219
};

/*
 * Where a sequence of bytes lies in pages that a process may execute, of
 * which mem is the memory, or 0.
 */
static uint64_t
find_bytes(int mem, const struct vmas *l, const uint8_t *what, size_t len)
{
	uint8_t buf[64 * 1024], *p;
	const struct vma *v;
	uint64_t at;
	ssize_t n;
	size_t i;

	for (i = 0; i < l->n; i++) {
		v = &l->v[i];
		if (!(v->flags & VMA_EXEC))
			continue;
		for (at = v->start; at < v->end; at += (uint64_t)n) {
			n = pread(mem, buf, v->end - at < sizeof buf ?
			    (size_t)(v->end - at) : sizeof buf, (off_t)at);
			if (n <= 0)
				break;
			p = memmem(buf, (size_t)n, what, len);
			if (p != NULL)
				return at + (uint64_t)(p - buf);
		}
	}
	return 0;
}

/*
 * Find the instructions that are needed, wherever their bytes are; mem is
 * the memory of the process.
 */
int
gadgets_find(struct gadgets *g, int mem, const struct vmas *l)
{
	static const struct {
		uint8_t	 bytes[4];
		size_t	 len;
		size_t	 at;
	} want[] = {
		{ "\x0f\x05\xc3", 3, offsetof(struct gadgets, call) },
		{ "\x58\xc3", 2, offsetof(struct gadgets, rax) },
		{ "\x5f\xc3", 2, offsetof(struct gadgets, rdi) },
		{ "\x5e\xc3", 2, offsetof(struct gadgets, rsi) },
	};
	uint64_t at;
	size_t i;

	for (i = 0; i < sizeof want / sizeof *want; i++) {
		at = find_bytes(mem, l, want[i].bytes, want[i].len);
		if (at == 0)
			return errstr_set("no instructions for a system call "
			    "in its memory");
		memcpy((char *)g + want[i].at, &at, sizeof at);
	}
	return 0;
}

/*
 * How many bytes of extended state, in the standard layout, hold the
 * features of a mask: Intel's Software Developer's Manual, volume 1, 13.
 */
static size_t
xstate_size(uint64_t features, size_t most)
{
	unsigned int a, b, c, d, i;
	size_t size;

	size = XSTATE_MIN;
	for (i = 2; i < 63; i++)
		if (features >> i & 1 &&
		    __get_cpuid_count(CPUID_XSTATE, i, &a, &b, &c, &d) &&
		    b + a > size)
			size = b + a;
	return size < most ? size : most;
}

/*
 * Let the extended state be one that a signal frame has: struct _fpx_sw_bytes
 * in its software bytes, and a mark behind it.  Tiles that were never used
 * are left out, for the kernel takes no state with them from who may not
 * use them.  Returns its length.
 */
static size_t
xstate_seal(uint8_t *x, size_t len)
{
	uint64_t features, inuse;
	uint32_t sw[12] = { 0 };
	size_t size;

	memcpy(&features, x + SW_BYTES, 8);
	memcpy(&inuse, x + 512, 8);
	if ((inuse & XFEATURE_TILE) == 0)
		features &= ~(uint64_t)XFEATURE_TILE;
	size = xstate_size(features, len);
	sw[0] = FP_XSTATE_MAGIC1_;
	sw[1] = (uint32_t)size + 4;
	memcpy(&sw[2], &features, 8);
	sw[4] = (uint32_t)size;
	memcpy(x + SW_BYTES, sw, sizeof sw);
	sw[0] = FP_XSTATE_MAGIC2_;
	memcpy(x + size, sw, 4);
	return size + 4;
}

/*
 * How many bytes a frame takes at most.
 */
size_t
frame_size(void)
{
	return FRAME_XSTATE + XSTATE_ROOM;
}

/*
 * What leads to a system call that takes nothing that matters.
 */
static void
chain(uint8_t buf[24], const struct gadgets *g, uint64_t nr)
{
	memcpy(buf, &g->rax, 8);
	memcpy(buf + 8, &nr, 8);
	memcpy(buf + 16, &g->call, 8);
}

/*
 * A stack at which a thread exits as soon as it runs.
 */
void
frame_exit(uint8_t buf[24], const struct gadgets *g)
{
	chain(buf, g, SYS_exit_group);
}

/*
 * The registers in a signal frame.  A thread that was in a system call when
 * it was stopped makes the call again, as it would have.
 */
static void
frame_regs(mcontext_t *m, const struct user_regs_struct *r)
{
	greg_t *g = m->gregs;
	int64_t result;

	g[REG_R8] = (greg_t)r->r8;
	g[REG_R9] = (greg_t)r->r9;
	g[REG_R10] = (greg_t)r->r10;
	g[REG_R11] = (greg_t)r->r11;
	g[REG_R12] = (greg_t)r->r12;
	g[REG_R13] = (greg_t)r->r13;
	g[REG_R14] = (greg_t)r->r14;
	g[REG_R15] = (greg_t)r->r15;
	g[REG_RDI] = (greg_t)r->rdi;
	g[REG_RSI] = (greg_t)r->rsi;
	g[REG_RBP] = (greg_t)r->rbp;
	g[REG_RBX] = (greg_t)r->rbx;
	g[REG_RDX] = (greg_t)r->rdx;
	g[REG_RAX] = (greg_t)r->rax;
	g[REG_RCX] = (greg_t)r->rcx;
	g[REG_RSP] = (greg_t)r->rsp;
	g[REG_RIP] = (greg_t)r->rip;
	g[REG_EFL] = (greg_t)r->eflags;
	g[REG_CSGSFS] = (greg_t)(r->cs | r->gs << 16 | r->fs << 32 |
	    r->ss << 48);
	result = (int64_t)r->rax;
	if ((int64_t)r->orig_rax < 0 || result > -ERESTARTSYS ||
	    result < -ERESTART_RESTARTBLOCK || result == -515)
		return;
	g[REG_RIP] -= 2;
	g[REG_RAX] = result == -ERESTART_RESTARTBLOCK ? NR_RESTART_SYSCALL :
	    (greg_t)r->orig_rax;
}

/*
 * Build what is described above, for a stopped thread that has the registers
 * r and the signal mask; at, a multiple of 64, is where it will be in the
 * process, mapped what it is to unmap there.  Returns its
 * length, or -1.
 */
int
frame_build(uint8_t *buf, uint64_t at, const struct gadgets *g,
    const struct iovec *mapped, pid_t tid, const struct user_regs_struct *r,
    uint64_t mask)
{
	ucontext_t uc;
	struct iovec iov;
	uint64_t fp;
	size_t len;

	memset(buf, 0, frame_size());
	memcpy(buf, &g->rdi, 8);
	memcpy(buf + 8, &mapped->iov_base, 8);
	memcpy(buf + 16, &g->rsi, 8);
	memcpy(buf + 24, &mapped->iov_len, 8);
	chain(buf + 32, g, SYS_munmap);
	chain(buf + FRAME_RETURN, g, SYS_rt_sigreturn);
	iov.iov_base = buf + FRAME_XSTATE;
	iov.iov_len = XSTATE_ROOM - 64;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &iov) == -1)
		return errstr_sys("thread %d: extended state", tid);
	memset(&uc, 0, sizeof uc);
	uc.uc_flags = UC_SIGCONTEXT_SS_ | UC_STRICT_RESTORE_SS_;
	len = 0;
	if (iov.iov_len >= XSTATE_MIN) {
		len = xstate_seal(iov.iov_base, iov.iov_len);
		uc.uc_flags |= UC_FP_XSTATE_;
	}
	/* a stack that is refused: the one it has stays */
	uc.uc_stack.ss_flags = INT32_MAX;
	frame_regs(&uc.uc_mcontext, r);
	fp = at + FRAME_XSTATE;
	memcpy(&uc.uc_mcontext.fpregs, &fp, sizeof fp);
	memcpy(&uc.uc_sigmask, &mask, sizeof mask);
	/* the kernel's ends with eight bytes of the mask */
	memcpy(buf + FRAME_CONTEXT, &uc, offsetof(ucontext_t, uc_sigmask) +
	    sizeof mask);
	return (int)(FRAME_XSTATE + len);
}
#endif
