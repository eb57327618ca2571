/*
 * Build return frames of arm64. If our process dies, the kernel lets a thread
 * that runs system calls for us continue from where it is; its return frame
 * must then restore it.
 *
 * Calls are made by a svc instruction followed by ret (code.c). ret goes to the
 * address in x30, which is code that does rt_sigreturn(2). That takes a signal
 * frame at the stack pointer, struct rt_sigframe of arch/arm64/kernel/signal.c:
 *
 *	0		struct siginfo, which is ignored
 *	CONTEXT		struct ucontext: signal mask,
 *	REGS		general registers,
 *	RECORDS		fpsimd_context, for floating-point registers,
 *			sve_context, for SVE vectors if the thread uses any
 *			(in an extra_context if they are too long)
 *			a record of zeros
 *
 * A thread whose frame has to unmap our memory has two signal frames. The first
 * makes it call munmap(2) and return to rt_sigreturn(2) again, with the stack
 * pointer at the second. The second restores the registers, signal mask and
 * vectors that the thread had.
 *
 *	0		frame: munmap(2), or unused
 *	STAGE_SIZE	frame: restores the thread
 *
 * A thread that was stopped in a system call makes the call again: before the
 * stop the kernel set it back to before the call, and restored the first
 * argument (do_signal).
 *
 * Anyone who can write to the memory of the process can change the frames. The
 * thread then still acts only as the process itself: after our death no
 * seccomp(2) filter is suspended (inject/step.c), and the kernel checks this
 * signal frame like any other.
 */
#include "arm64.h"

#ifdef __aarch64__

#include <sys/syscall.h>

#include <elf.h>
#include <string.h>

enum {				/* byte offsets in a stage */
	CONTEXT = 128,
	STACK_FLAGS = CONTEXT + 24,
	MASK = CONTEXT + 40,
	REGS = CONTEXT + 176 + 8, /* registers x0 to x30, sp, pc and pstate */
	RECORDS = CONTEXT + 176 + 288,
	RESERVED = 4096,	/* size of the area for records, in bytes */

	/* invalid flags for a signal stack: rt_sigreturn keeps the current
	   one */
	KEEP_STACK = INT32_MAX,

	/* arch/arm64/include/uapi/asm/sigcontext.h */
	FPSIMD_MAGIC_ = 0x46508001,
	SVE_MAGIC_ = 0x53564501,
	EXTRA_MAGIC_ = 0x45585401,
	FPSIMD_SIZE = 528,
	EXTRA_SIZE = 32,
	END_SIZE = 16,

	VREGS = 512		/* size of the vector registers in NT_PRFPREG,
				   in bytes; fpsr and fpcr follow them */
};

_Static_assert((int)RECORDS + (int)FPSIMD_SIZE + (int)END_SIZE <=
    (int)STAGE_SIZE && STAGE_SIZE % 64 == 0 && (int)STAGE_SIZE <=
    (int)MAX_STAGE, "a stage has room for a signal frame");
_Static_assert((int)STAGE_SIZE >= (int)MIN_STAGE,
    "a stage has room for what calls take and give");

static void
put4(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof v);
}

static void
put8(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof v);
}

/*
 * Write to p the header of a record whose length is size bytes. Return the
 * place for the contents of the record.
 */
static uint8_t *
record_begin(uint8_t *p, int magic, size_t size)
{
	put4(p, (uint32_t)magic);
	put4(p + 4, (uint32_t)size);
	return p + 8;
}

/*
 * Write to p a record with the floating-point registers at fp, which have the
 * layout of NT_PRFPREG. Return the end of the record.
 */
static uint8_t *
record_fpsimd(uint8_t *p, const uint8_t *fp)
{
	uint8_t *to;

	to = record_begin(p, FPSIMD_MAGIC_, FPSIMD_SIZE);
	memcpy(to, fp + VREGS, 8);
	memcpy(to + 8, fp, VREGS);
	return p + FPSIMD_SIZE;
}

/*
 * Write to p a record with the SVE vectors at vector, which have the layout of
 * NT_ARM_SVE. p points into buf, the frame that contains the record. The
 * argument at is the address that the frame will have in the process. Return
 * the end of the record.
 */
static uint8_t *
record_vectors(uint8_t *p, const uint8_t *buf, uint64_t at,
    const uint8_t *vector)
{
	enum { LENGTH = 8 };	/* byte offset of the vector length */
	size_t regs, size;
	uint16_t len;
	uint8_t *to;

	memcpy(&len, vector + LENGTH, sizeof len);
	regs = 32 * (size_t)len + 17 * (size_t)(len / 8);
	size = (HEADER + regs + 15) / 16 * 16;
	if ((size_t)(p - buf) - RECORDS + size + END_SIZE > RESERVED) {
		to = record_begin(p, EXTRA_MAGIC_, EXTRA_SIZE);
		p += EXTRA_SIZE + END_SIZE;
		put8(to, at + (uint64_t)(p - buf));
		put4(to + 8, (uint32_t)(size + END_SIZE));
	}
	to = record_begin(p, SVE_MAGIC_, size);
	memcpy(to, &len, sizeof len);
	memcpy(p + HEADER, vector + HEADER, regs);
	return p + size;
}

/*
 * Build a signal frame in buf, which is filled with zeros. The frame restores
 * the general registers r, the floating-point registers fp, the given signal
 * mask, and, unless vector is NULL, the SVE vectors at vector. The argument at
 * is the address that the frame will have in the process. Return the length of
 * the frame in bytes.
 */
static size_t
frame_put(uint8_t *buf, uint64_t at, const struct gregs *r, const uint8_t *fp,
    const uint8_t *vector, uint64_t mask)
{
	uint8_t *p;

	put4(buf + STACK_FLAGS, KEEP_STACK);
	put8(buf + MASK, mask);
	memcpy(buf + REGS, r->word, NPRSTATUS * 8);
	p = record_fpsimd(buf + RECORDS, fp);
	if (vector != NULL)
		p = record_vectors(p, buf, at, vector);
	return (size_t)(p - buf) + END_SIZE;
}

/*
 * Build a signal frame in buf that makes system call nr, with the stack pointer
 * set to stack. a has the two arguments of the call. The argument at is the
 * address that the frame will have in the process.
 */
static void
frame_call(uint8_t *buf, uint64_t at, const struct frame *w, uint64_t stack,
    long nr, const struct iovec *a)
{
	static const uint8_t fp[FPSIMD_SIZE];
	uint64_t arg[6] = { 0 };
	struct gregs r = *w->regs;

	memcpy(&arg[0], &a->iov_base, sizeof arg[0]);
	arg[1] = a->iov_len;
	call_load(&r, w->gadget, stack, nr, arg);
	(void)frame_put(buf, at, &r, fp, NULL, UINT64_MAX);
}

/*
 * If a thread with registers r is about to call restart_syscall(2), change r to
 * make the original call instead, because restart_syscall(2) fails after
 * rt_sigreturn(2). The original call is taken from seen, the call in which the
 * thread waited before it was stopped. Do nothing if seen does not match r.
 */
static void
regs_unrestart(struct gregs *r, const struct seencall *seen)
{
	if (r->word[X8] == SYS_restart_syscall && seen != NULL &&
	    seen->nr >= 0 && call_waits((uint64_t)seen->nr) &&
	    seen->sp == gregs_sp(r) && seen->pc == r->word[PC] + BYTES &&
	    memcmp(seen->arg, &r->word[X0], sizeof seen->arg) == 0)
		r->word[X8] = (uint64_t)seen->nr;
}

int
frame_build(uint8_t *buf, uint64_t at, const struct frame *w, struct stacks *s)
{
	uint8_t fp[FPSIMD_SIZE], vector[MAX_VECTORS];
	struct gregs r = *w->regs;
	const size_t back = STAGE_SIZE;
	size_t len;

	memset(buf, 0, FRAME_SIZE);
	if (note_read(w->tid, NT_PRFPREG, fp, sizeof fp) == -1)
		return -1;
	regs_unrestart(&r, w->seen);
	len = vectors_read(w->tid, vector, sizeof vector);
	len = frame_put(buf + back, at + back, &r, fp, len > 0 ? vector : NULL,
	    w->mask);
	s->last = s->call = at + back;
	if (w->mapped.iov_len != 0) {
		frame_call(buf, at, w, s->last, SYS_munmap, &w->mapped);
		s->call = at;
	}
	return (int)(back + len);
}

uint64_t
frame_exit(uint8_t *buf, uint64_t at, const struct frame *w)
{
	const struct iovec none = { 0 };

	memset(buf, 0, STAGE_SIZE);
	frame_call(buf, at, w, at, SYS_exit_group, &none);
	return at;
}

#endif
