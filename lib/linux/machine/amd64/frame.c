/*
 * Build return frames. If our process dies, the kernel lets a thread that runs
 * system calls for us continue from where it is; its return frame must then
 * restore it.
 *
 * Calls are made by a syscall instruction followed by ret (code.c), with the
 * stack pointer in a stage, so that ret goes to code that does rt_sigreturn(2):
 *
 *	stack pointer	bytes that instructions before ret pop: spare
 *			return address: rt_sigreturn code
 *	STAGE_CONTEXT	signal frame
 *	STAGE_SIZE	end of the stage
 *
 * If rt_sigreturn is done by "pop %rax; ret", three words take the place of the
 * return address: the address of that code, the number of the call, and the
 * address of the syscall instruction.
 *
 * A thread whose frame has to unmap our memory has two stages: the signal frame
 * of the first makes it call munmap(2) on the stack of the second. The second
 * restores the registers, signal mask and extended state that the thread had.
 *
 *	0		stage: munmap(2), on the stack of the next stage
 *	STAGE_SIZE	stage: restores the thread
 *	then		extended state for it, up to isa.frame
 *
 * Without memory to unmap, the first stage stays unused. A signal frame is
 * struct rt_sigframe of arch/x86/include/asm/sigframe.h, from its ucontext on.
 *
 * Anyone who shares the memory of the process, or may write to a file whose
 * code it maps, can change the frames and that code. The thread then still acts
 * only as the process itself: after our death no seccomp(2) filter is suspended
 * (inject/step.c), the frames contain only state of the thread, and the kernel
 * checks this signal frame like any other. So it can do nothing that the
 * process could not do before.
 */
#include "amd64.h"
#include "restart.h"

#ifdef __x86_64__

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum {
	STAGE_CONTEXT = 128,
	/* the kernel's context ends with the first eight bytes of the mask */
	CONTEXT_SIZE = offsetof(ucontext_t, uc_sigmask) + 8,
	/* invalid flags for a signal stack: rt_sigreturn keeps the current
	   one */
	KEEP_STACK = INT32_MAX,
	XSTATE_MIN = 576,	/* size of the legacy region and the header of
				   an XSAVE area */
	XFEATURE_TILEDATA = 1 << 18,
	/* always included: x87, SSE, and protection keys, whose initial value
	   in the kernel differs from the processor's */
	XFEATURE_ALWAYS = 1 << 0 | 1 << 1 | 1 << 9,
	CPUID_XSTATE = 0xd,
	NFEATURES = 63,

	/* arch/x86/include/uapi/asm/sigcontext.h */
	SW_BYTES = 464,
	XSTATE_BV = 512, /* byte offset of the mask of features in use */
	FP_XSTATE_MAGIC1_ = 0x46505853,
	FP_XSTATE_MAGIC2_ = 0x46505845,
	UC_FP_XSTATE_ = 1,
	UC_SIGCONTEXT_SS_ = 2,
	UC_STRICT_RESTORE_SS_ = 4
};

_Static_assert((int)STAGE_CONTEXT + (int)CONTEXT_SIZE <= (int)STAGE_SIZE &&
    STAGE_SIZE % 64 == 0, "a stage has room for a signal frame");
_Static_assert((int)STAGE_CONTEXT >= 24 + (int)MAX_SKIP,
    "the words that lead back lie below the frame");
_Static_assert((int)STAGE_SIZE <= (int)MAX_STAGE &&
    (int)STAGE_SIZE >= (int)MIN_STAGE, "a stage has such a size");

/*
 * Return the byte offset of the end of an extended-state feature in the
 * standard layout. Return 0 if the processor does not report the feature.
 * Results are cached, because CPUID is slow in a virtual machine, where it
 * traps to the host.
 */
static size_t
feature_end(unsigned int feature)
{
	static struct {
		size_t	 end;
		bool	 known;
	} seen[NFEATURES];
	unsigned int a, b, c, d;

	if (!seen[feature].known) {
		seen[feature].known = true;
		if (__get_cpuid_count(CPUID_XSTATE, feature, &a, &b, &c, &d))
			seen[feature].end = b + a;
	}
	return seen[feature].end;
}

/*
 * Return the size in bytes of extended state with these features, but at most
 * max. The state has the standard layout of Intel's Software Developer's
 * Manual, volume 1, chapter 13.
 */
static size_t
xstate_size(uint64_t features, size_t max)
{
	unsigned int i;
	size_t size;

	size = XSTATE_MIN;
	for (i = 2; i < NFEATURES; i++)
		if (features >> i & 1 && feature_end(i) > size)
			size = feature_end(i);
	return size < max ? size : max;
}

/*
 * Return true if the kernel has room for the AMX tiles of stopped thread tid. x
 * is the thread's extended state, which has len bytes.
 *
 * The kernel makes room when the thread first uses tiles, and rejects tile data
 * until then (validate_user_xstate_header of arch/x86/kernel/fpu/xstate.c). To
 * find out, write the state with zeroed tiles, which are equivalent to unused
 * ones. Then write the original state again.
 */
static bool
has_tiles(pid_t tid, uint8_t *x, size_t len)
{
	struct iovec iov = { x, len };
	uint64_t features, inuse, with;
	bool has;

	memcpy(&features, x + SW_BYTES, 8);
	memcpy(&inuse, x + XSTATE_BV, 8);
	if (!(features & XFEATURE_TILEDATA) || inuse & XFEATURE_TILEDATA)
		return features & XFEATURE_TILEDATA;
	with = inuse | XFEATURE_TILEDATA;
	memcpy(x + XSTATE_BV, &with, 8);
	has = ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &iov) == 0;
	memcpy(x + XSTATE_BV, &inuse, 8);
	if (has)
		(void)ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE,
		    &iov);
	return has;
}

/*
 * Convert the len bytes of extended state at x to the form that a signal frame
 * requires. tiles is true if the kernel has room for AMX tiles of the thread.
 * Return the new length of x.
 *
 * The software bytes become a struct _fpx_sw_bytes. Features not in use are
 * left out; the kernel resets them, and would reject tile data from a thread
 * that may not use tiles. A magic number follows the features that are present.
 * If tiles is true, the magic number is also written after the space for all
 * features, where some kernels look for it.
 */
static size_t
xstate_seal(uint8_t *x, size_t len, bool tiles)
{
	uint64_t features, inuse;
	uint32_t sw[12] = { 0 };
	size_t size;

	memcpy(&features, x + SW_BYTES, 8);
	memcpy(&inuse, x + XSTATE_BV, 8);
	sw[0] = FP_XSTATE_MAGIC2_;
	memcpy(x + len, sw, 4);
	features &= inuse | XFEATURE_ALWAYS;
	size = xstate_size(features, len);
	sw[0] = FP_XSTATE_MAGIC1_;
	sw[1] = (uint32_t)size + 4;
	memcpy(&sw[2], &features, 8);
	sw[4] = (uint32_t)size;
	memcpy(x + SW_BYTES, sw, sizeof sw);
	sw[0] = FP_XSTATE_MAGIC2_;
	memcpy(x + size, sw, 4);
	return (tiles ? len : size) + 4;
}

/*
 * Return the number of the call that a thread in restart_syscall(2) continues.
 * The kernel does not report it, so take it from seen, the call in which the
 * thread waited before it was stopped. Return -1 if seen is NULL, does not
 * match r, or is not a call that restart_syscall(2) continues.
 */
static greg_t
call_restarted(const struct seencall *seen, const struct user_regs_struct *r)
{
	const uint64_t arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8,
	    r->r9 };

	if (seen == NULL || seen->sp != r->rsp || seen->pc != r->rip ||
	    memcmp(seen->arg, arg, sizeof arg) != 0)
		return -1;
	return seen->nr == SYS_poll || seen->nr == SYS_nanosleep ||
	    seen->nr == SYS_futex || seen->nr == SYS_clock_nanosleep ?
	    (greg_t)seen->nr : -1;
}

/*
 * Set m, the registers of a signal frame, to those with which the thread of w
 * will continue. r has the registers of the thread at the stop. If the thread
 * was stopped in a system call that is to be restarted, it makes the call
 * again.
 *
 * restart_syscall(2) fails with EINTR after rt_sigreturn(2). So the thread
 * makes the call that restart_syscall(2) would continue, with the full timeout.
 * If that call is unknown, the thread gets EINTR.
 */
static void
frame_regs(mcontext_t *m, const struct user_regs_struct *r,
    const struct frame *w)
{
	greg_t *g = m->gregs, nr;
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
	nr = (greg_t)r->orig_rax;
	if (nr == SYS_restart_syscall)
		nr = call_restarted(w->seen, r);
	g[REG_RAX] = nr == -1 ? -EINTR : nr;
	g[REG_RIP] -= nr == -1 ? 0 : 2;
}

size_t
stage_words(const struct gadgets *g)
{
	return g->pops ? 3 : 1;
}

/*
 * Build in buf a stage (one signal frame of a chain) with the context uc. buf
 * has STAGE_SIZE zero bytes, and will be placed at addr in the process. Return
 * the stack pointer to use with the stage.
 */
static uint64_t
stage_put(uint8_t *buf, uint64_t addr, const struct gadgets *g,
    const ucontext_t *uc)
{
	const uint64_t word[3] = { g->back, SYS_rt_sigreturn, g->call };
	const size_t len = stage_words(g) * sizeof *word;

	memcpy(buf + STAGE_CONTEXT - len, word, len);
	memcpy(buf + STAGE_CONTEXT, uc, CONTEXT_SIZE);
	return addr + STAGE_CONTEXT - len - g->skip;
}

/*
 * Build in buf a stage that makes system call nr with the given stack pointer.
 * arg has the two arguments of the call. buf will be placed at addr in the
 * process. Return the stack pointer to use with the stage.
 */
static uint64_t
stage_call(uint8_t *buf, uint64_t addr, const struct frame *w, uint64_t stack,
    uint64_t nr, const struct iovec *arg)
{
	struct user_regs_struct r;
	ucontext_t uc;

	memcpy(&r, w->regs, sizeof r);
	r.rip = w->gadget->call;
	r.rsp = stack;
	r.rax = nr;
	r.orig_rax = UINT64_MAX;	/* the thread is not in a system call */
	memcpy(&r.rdi, &arg->iov_base, sizeof r.rdi);
	r.rsi = arg->iov_len;
	memset(&uc, 0, sizeof uc);
	uc.uc_flags = UC_SIGCONTEXT_SS_ | UC_STRICT_RESTORE_SS_;
	uc.uc_stack.ss_flags = KEEP_STACK;
	frame_regs(&uc.uc_mcontext, &r, w);
	memset(&uc.uc_sigmask, 0xff, 8);
	return stage_put(buf, addr, w->gadget, &uc);
}

int
frame_build(uint8_t *buf, uint64_t at, const struct frame *w, struct stacks *s)
{
	struct user_regs_struct r;
	ucontext_t uc;
	struct iovec iov;
	uint64_t fp;
	const size_t back = STAGE_SIZE, xstate = back + STAGE_SIZE;
	size_t len;

	memset(buf, 0, FRAME_SIZE);
	iov.iov_base = buf + xstate;
	iov.iov_len = XSTATE_ROOM - 64;
	if (ptrace(PTRACE_GETREGSET, w->tid, (void *)NT_X86_XSTATE, &iov) ==
	    -1)
		return -1;
	memset(&uc, 0, sizeof uc);
	uc.uc_flags = UC_SIGCONTEXT_SS_ | UC_STRICT_RESTORE_SS_;
	len = 0;
	if (iov.iov_len >= XSTATE_MIN) {
		len = xstate_seal(iov.iov_base, iov.iov_len,
		    has_tiles(w->tid, iov.iov_base, iov.iov_len));
		uc.uc_flags |= UC_FP_XSTATE_;
	}
	uc.uc_stack.ss_flags = KEEP_STACK;
	memcpy(&r, w->regs, sizeof r);
	frame_regs(&uc.uc_mcontext, &r, w);
	fp = at + xstate;
	memcpy(&uc.uc_mcontext.fpregs, &fp, sizeof fp);
	memcpy(&uc.uc_sigmask, &w->mask, sizeof w->mask);
	s->last = stage_put(buf + back, at + back, w->gadget, &uc);
	s->call = w->mapped.iov_len == 0 ? s->last : stage_call(buf, at, w,
	    s->last, SYS_munmap, &w->mapped);
	return (int)(xstate + len);
}

uint64_t
frame_exit(uint8_t *buf, uint64_t at, const struct frame *w)
{
	const struct iovec none = { 0 };

	memset(buf, 0, STAGE_SIZE);
	return stage_call(buf, at, w, at, SYS_exit_group, &none);
}

#endif
