/*
 * Unwind through the frame that the kernel makes for a signal handler on amd64:
 * struct rt_sigframe of arch/x86/include/asm/sigframe.h. libdwfl does this by
 * unwind tables of the C library, which musl and Go's runtime do not have. It
 * also takes a jump to an invalid address, a common reason for a signal, for
 * the end of the stack.
 */
#include "snapstack/snapstack.h"

#include <elf.h>

/*
 * Return true if the code at pc of t is the code that signal handlers return
 * to. machine is an e_machine of elf(5).
 */
bool
sigframe_is(struct target *t, uint16_t machine, uint64_t pc)
{
	/* mov $15,%rax or mov $15,%eax (rt_sigreturn); syscall */
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0,
	    0x0f, 0x05 }, narrow[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t found[sizeof wide];

	return machine == EM_X86_64 &&
	    target_read(t, pc, found, sizeof found) &&
	    (memcmp(found, wide, sizeof wide) == 0 ||
	    memcmp(found, narrow, sizeof narrow) == 0);
}

/*
 * Set r to the registers that are restored when a signal handler of t returns.
 * Return false if they cannot be read, or if f is not the frame of the code
 * that handlers return to.
 */
bool
sigframe_step(struct target *t, const struct frame *f, struct registers *r)
{
	/* words of struct sigcontext, by DWARF number */
	static const uint8_t at[] = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2,
	    3, 4, 5, 6, 7, 16 };
	enum { CONTEXT = 40, SP = 7, PC = 16 };
	size_t i;

	if (f->sp == 0 || !sigframe_is(t, r->machine, f->pc))
		return false;
	for (i = 0; i < sizeof at; i++)
		if (!target_word(t, f->sp + CONTEXT + 8U * at[i], 8,
		    &r->v[i]))
			return false;
	r->pc = r->v[PC];
	r->sp = r->v[SP];
	return true;
}

/*
 * If the thread of t with registers r is running a signal handler on an
 * alternate stack (sigaltstack(2)), return the stack pointer that it had before
 * the signal. To find out, search the stack for the kernel's struct ucontext,
 * which describes an alternate stack. Return 0 if there is none.
 */
uint64_t
sigframe_interrupted(struct target *t, const struct registers *r)
{
	enum { LINK = 8, STACK = 16, SIZE = 32, RSP = 40 + 8 * 15, FAR = 64,
	    FLAGS = 7, LARGEST = 1 << 30 };
	uint64_t at, end, flags, link, start, size, sp;

	if (r->machine != EM_X86_64)
		return 0;
	at = r->sp + (8 - r->sp % 8) % 8;
	for (end = at + FAR * KB; at < end; at += 8) {
		if (!target_word(t, at + STACK, 8, &start))
			return 0;
		if (start > at || at - start > LARGEST || start == 0)
			continue;
		if (target_word(t, at, 8, &flags) && flags <= FLAGS &&
		    target_word(t, at + LINK, 8, &link) && link == 0 &&
		    target_word(t, at + SIZE, 8, &size) &&
		    size <= LARGEST && at - start < size &&
		    target_word(t, at + RSP, 8, &sp) &&
		    sp - start >= size)
			return sp;
	}
	return 0;
}
