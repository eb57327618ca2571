/*
 * What the kernel leaves on the stack when it calls a signal handler, of
 * amd64: struct rt_sigframe of arch/x86/include/asm/sigframe.h.  libdwfl reads
 * it by the tables of the C library, which that of musl and Go's runtime do not
 * have; and it takes a jump to nowhere, which is what many a handler is called
 * for, for the end of the stack.
 */
#include "snapstack/snapstack.h"

#include <elf.h>
#include <string.h>

/*
 * Return whether the code at pc of t is what a handler of a signal returns to,
 * on that machine, e_machine of elf(5).
 */
bool
sigframe_is(struct target *t, uint16_t machine, uint64_t pc)
{
	/* mov $15,%rax (rt_sigreturn), or to %eax; syscall */
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0,
	    0x0f, 0x05 }, narrow[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t found[sizeof wide];

	return machine == EM_X86_64 &&
	    target_read(t, pc, found, sizeof found) &&
	    (memcmp(found, wide, sizeof wide) == 0 ||
	    memcmp(found, narrow, sizeof narrow) == 0);
}

/*
 * Let r be the registers that the handler of a signal in t returns to.  Return
 * false if that is not what the code at frame f does.
 */
bool
sigframe_step(struct target *t, const struct frame *f, struct registers *r)
{
	/* where registers are in struct sigcontext, by their DWARF numbers */
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
 * Return the stack pointer of what a signal interrupted, if its handler runs on
 * an alternate stack, sigaltstack(2), in a thread of t with registers r: by
 * what the kernel put there, a struct ucontext that tells of that stack. 0:
 * none does, as far as can be seen.
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
