/*
 * What the kernel leaves on the stack when it calls a signal handler, of
 * amd64: struct rt_sigframe of arch/x86/include/asm/sigframe.h.  libdwfl reads
 * it by the tables of the C library; but it takes a jump to nowhere, which is
 * what many a handler is called for, for the end of the stack.
 */
#include "snapstack/snapstack.h"

#include <elf.h>
#include <string.h>

/*
 * Let r be the registers that the handler of a signal returns to.  Return
 * false if that is not what the code at frame f does.
 */
bool
sigframe_step(struct target *t, const struct frame *f, struct registers *r)
{
	/* mov $15,%rax (rt_sigreturn); syscall */
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0,
	    0x0f, 0x05 };
	/* where registers are in struct sigcontext, by their DWARF numbers */
	static const uint8_t at[] = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2,
	    3, 4, 5, 6, 7, 16 };
	enum { CONTEXT = 40, SP = 7, PC = 16 };
	uint8_t found[sizeof code];
	size_t i;

	if (r->machine != EM_X86_64 || f->sp == 0 ||
	    !target_read(t, f->pc, found, sizeof found) ||
	    memcmp(found, code, sizeof code) != 0)
		return false;
	for (i = 0; i < sizeof at; i++)
		if (!target_word(t, f->sp + CONTEXT + 8U * at[i], 8,
		    &r->v[i]))
			return false;
	r->pc = r->v[PC];
	r->sp = r->v[SP];
	return true;
}
