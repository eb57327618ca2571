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
#include "injectrun.h"

#include <string.h>

#ifdef __x86_64__
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	FRAME_RETURN = 56,
	FRAME_CONTEXT = 80,
	FRAME_XSTATE = 448,	/* a multiple of 64 */
	XSTATE_ROOM = 12 * 1024,
	XSTATE_MIN = 576,	/* legacy area and header */
	XFEATURE_TILEDATA = 1 << 18,
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
	ERESTART_RESTARTBLOCK = 516,

	NR_POLL = 7, NR_NANOSLEEP = 35, NR_FUTEX = 202,
	NR_RESTART_SYSCALL = 219, NR_CLOCK_NANOSLEEP = 230
};

/*
 * The instructions that are needed, wherever their bytes are.
 */
static const struct {
	uint8_t	 bytes[4];
	size_t	 len;
	size_t	 at;		/* in struct gadgets */
} want[] = {
	{ "\x0f\x05\xc3", 3, offsetof(struct gadgets, call) },
	{ "\x58\xc3", 2, offsetof(struct gadgets, rax) },
	{ "\x5f\xc3", 2, offsetof(struct gadgets, rdi) },
	{ "\x5e\xc3", 2, offsetof(struct gadgets, rsi) },
};

enum { NWANT = sizeof want / sizeof *want };

static struct {			/* where they were found last */
	uint64_t	 dev;
	uint64_t	 ino;		/* 0: not yet */
	uint64_t	 off;
} last[NWANT];

struct seeking {
	int		 mem;		/* of the process */
	int		 pagemap;
	uint64_t	*found;		/* addresses, as in want; 0: not yet */
};

/*
 * Look for what is not found yet in some bytes of code; how much is missing.
 */
static size_t
seek_bytes(struct seeking *s, const uint8_t *buf, size_t len, uint64_t at)
{
	const uint8_t *p;
	size_t i, left;

	for (left = 0, i = 0; i < NWANT; i++) {
		if (s->found[i] != 0)
			continue;
		p = memmem(buf, len, want[i].bytes, want[i].len);
		if (p != NULL)
			s->found[i] = at + (uint64_t)(p - buf);
		else
			left++;
	}
	return left;
}

/*
 * Look in the code of a file, page by page; with absent, also in pages that
 * the process has not touched, and gets by that.
 */
static size_t
seek_code(struct seeking *s, const struct vma *v, bool absent)
{
	enum { PAGES = 256, SIZE = 4096 };
	uint64_t at, entry[PAGES];
	uint8_t buf[SIZE];
	size_t i, left;
	ssize_t n;

	for (left = 1, i = 0, at = v->start; at < v->end && left > 0;
	    at += SIZE, i++) {
		if (i % PAGES == 0 && pread(s->pagemap, entry, sizeof entry,
		    (off_t)(at / SIZE * 8)) <= 0)
			break;
		if (!absent && entry[i % PAGES] >> 63 == 0)
			continue;
		n = pread(s->mem, buf, sizeof buf, (off_t)at);
		if (n > 0)
			left = seek_bytes(s, buf, (size_t)n, at);
	}
	return left;
}

/*
 * Is a mapping code of a file, which stays as it is?
 */
static bool
is_code(const struct vma *v)
{
	return v->ino != 0 && v->flags & VMA_EXEC &&
	    (v->flags & (VMA_READ | VMA_SHARED)) == VMA_READ;
}

/*
 * Look where they were found last, in another process or this one, if that
 * is there; how much is missing.
 */
static size_t
seek_last(struct seeking *s, const struct vmas *l)
{
	const struct vma *v;
	uint64_t at, entry;
	uint8_t code[4];
	size_t i, k, left;

	for (left = 0, i = 0; i < NWANT; i++) {
		for (k = 0; k < l->n && s->found[i] == 0; k++) {
			v = &l->v[k];
			at = v->start + last[i].off - v->off;
			if (v->ino == last[i].ino && v->dev == last[i].dev &&
			    is_code(v) && at >= v->start && at < v->end &&
			    pread(s->pagemap, &entry, sizeof entry,
			    (off_t)(at / 4096 * 8)) == sizeof entry &&
			    entry >> 63 != 0 && pread(s->mem, code,
			    want[i].len, (off_t)at) == (ssize_t)want[i].len &&
			    memcmp(code, want[i].bytes, want[i].len) == 0)
				s->found[i] = at;
		}
		left += s->found[i] == 0;
	}
	return left;
}

/*
 * Remember where they were found.
 */
static void
seek_remember(const struct seeking *s, const struct vmas *l)
{
	const struct vma *v;
	size_t i;

	for (i = 0; i < NWANT; i++)
		if ((v = vmas_find(l, s->found[i])) != NULL) {
			last[i].dev = v->dev;
			last[i].ino = v->ino;
			last[i].off = s->found[i] - v->start + v->off;
		}
}

/*
 * Find the instructions that are needed, in the code of files, which stays
 * as it is; mem is the memory of the process.  What lies highest comes first:
 * the libraries that it was started with, of which all can be found in a
 * few pages, and not one that another of its threads may just unmap.  What it
 * has not touched is looked at last.
 */
int
gadgets_find(struct gadgets *g, pid_t pid, int mem, const struct vmas *l)
{
	uint64_t found[NWANT] = { 0 };
	struct seeking s = { .mem = mem, .found = found };
	const struct vma *v;
	size_t i, left;
	int absent;

	if ((s.pagemap = proc_open(pid, 0, "pagemap", O_RDONLY)) == -1)
		return errstr_sys("/proc/%d/pagemap", pid);
	left = seek_last(&s, l);
	for (absent = 0; absent < 2; absent++)
		for (i = l->n; i > 0 && left > 0; i--) {
			v = &l->v[i - 1];
			if (is_code(v))
				left = seek_code(&s, v, absent == 1);
		}
	if (left == 0)
		seek_remember(&s, l);
	close(s.pagemap);
	if (left > 0)
		return errstr_set("no instructions for a system call in its "
		    "memory");
	for (i = 0; i < NWANT; i++)
		memcpy((char *)g + want[i].at, &found[i], sizeof found[i]);
	return 0;
}

/*
 * Find them in a process that runs, which has the mappings l, so that they are
 * known when it is stopped.
 */
void
inject_learn(pid_t pid, const struct vmas *l)
{
	struct gadgets g;
	int mem;

	if ((mem = proc_open(pid, 0, "mem", O_RDONLY)) == -1)
		return;
	(void)gadgets_find(&g, pid, mem, l);
	close(mem);
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
 * in its software bytes, and a mark behind it.  Tiles that are not in use are
 * left out, for the kernel takes none from who may not use them; it looks
 * for the mark behind what the thread may use, so there are two.  Returns
 * its length.
 */
static size_t
xstate_seal(uint8_t *x, size_t len)
{
	uint64_t features, inuse;
	uint32_t sw[12] = { 0 };
	size_t size;

	memcpy(&features, x + SW_BYTES, 8);
	memcpy(&inuse, x + 512, 8);
	sw[0] = FP_XSTATE_MAGIC2_;
	memcpy(x + len, sw, 4);
	if ((inuse & XFEATURE_TILEDATA) == 0)
		features &= ~(uint64_t)XFEATURE_TILEDATA;
	size = xstate_size(features, len);
	sw[0] = FP_XSTATE_MAGIC1_;
	sw[1] = (uint32_t)size + 4;
	memcpy(&sw[2], &features, 8);
	sw[4] = (uint32_t)size;
	memcpy(x + SW_BYTES, sw, sizeof sw);
	sw[0] = FP_XSTATE_MAGIC2_;
	memcpy(x + size, sw, 4);
	return len + 4;
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
 * The system call that a thread is in that waits for the second time,
 * restart_syscall(2): the kernel does not tell, but code says it where it is
 * "mov $number, %eax; syscall".  -1 if it does not.
 */
static greg_t
call_restarted(pid_t tid, uint64_t rip)
{
	enum { MOV_EAX = 0xb8 };
	uint8_t code[8];
	uint32_t nr;
	long w;

	errno = 0;
	w = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)(rip - 8), NULL);
	memcpy(code, &w, sizeof code);
	memcpy(&nr, code + 2, sizeof nr);
	if (errno == 0 && code[1] == MOV_EAX && (nr == NR_POLL ||
	    nr == NR_NANOSLEEP || nr == NR_FUTEX || nr == NR_CLOCK_NANOSLEEP))
		return (greg_t)nr;
	return -1;
}

/*
 * The registers in a signal frame.  A thread that was in a system call when
 * it was stopped makes the call again, as it would have; one that waits for
 * a time, with the whole of it, for rt_sigreturn(2) makes restart_syscall(2)
 * fail with EINTR, and so does this if it is not known which call it was.
 */
static void
frame_regs(mcontext_t *m, const struct user_regs_struct *r, pid_t tid)
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
	if (nr == NR_RESTART_SYSCALL)
		nr = call_restarted(tid, r->rip);
	g[REG_RAX] = nr == -1 ? -EINTR : nr;
	g[REG_RIP] -= nr == -1 ? 0 : 2;
}

/*
 * Build what is described above, for a stopped thread that has the registers
 * r and the signal mask; at, a multiple of 64, is where it will be in the
 * process, mapped what it is to unmap there.  Returns its length, or -1 with
 * errno of ptrace(2).
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
		return -1;
	memset(&uc, 0, sizeof uc);
	uc.uc_flags = UC_SIGCONTEXT_SS_ | UC_STRICT_RESTORE_SS_;
	len = 0;
	if (iov.iov_len >= XSTATE_MIN) {
		len = xstate_seal(iov.iov_base, iov.iov_len);
		uc.uc_flags |= UC_FP_XSTATE_;
	}
	/* a stack that is refused: the one it has stays */
	uc.uc_stack.ss_flags = INT32_MAX;
	frame_regs(&uc.uc_mcontext, r, tid);
	fp = at + FRAME_XSTATE;
	memcpy(&uc.uc_mcontext.fpregs, &fp, sizeof fp);
	memcpy(&uc.uc_sigmask, &mask, sizeof mask);
	/* the kernel's ends with eight bytes of the mask */
	memcpy(buf + FRAME_CONTEXT, &uc, offsetof(ucontext_t, uc_sigmask) +
	    sizeof mask);
	return (int)(FRAME_XSTATE + len);
}
#endif
