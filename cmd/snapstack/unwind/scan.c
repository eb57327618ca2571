/*
 * Guess the next frame where no unwind information leads to it: search the
 * stack for what looks like a return address. It may be left over from an
 * earlier call.
 */
#include "snapstack/snapstack.h"

#include <elf.h>

enum { FAR = 64 * KB };		/* number of bytes of stack to search */

/*
 * Return true if the 7 bytes at p end with an amd64 or 386 call instruction.
 * See Intel's manual, volume 2, CALL.
 */
static bool
is_x86_call(const uint8_t *p)
{
	static const uint8_t len[] = { 2, 3, 4, 6, 7 };
	const uint8_t *q;
	size_t i;

	if (p[2] == 0xe8)	/* CALL with a 32-bit displacement */
		return true;
	for (i = 0; i < sizeof len; i++) {
		q = p + 7 - len[i];
		if (q[0] == 0xff && (q[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/*
 * Return true if the instruction before pc is a call.
 */
static bool
is_call(struct target *t, uint16_t machine, uint64_t pc)
{
	uint8_t p[7];
	uint64_t v;

	switch (machine) {
	case EM_X86_64:
	case EM_386:
		return target_read(t, pc - sizeof p, p, sizeof p) &&
		    is_x86_call(p);
	case EM_AARCH64: /* BL or BLR; see the Arm Architecture Reference
			    Manual */
		return pc % 4 == 0 && target_word(t, pc - 4, 4, &v) &&
		    ((v & 0xfc000000) == 0x94000000 ||
		    (v & 0xfffffc1f) == 0xd63f0000);
	}
	return false;
}

/*
 * Search the stack of t from *sp upwards for a return address. The machine of
 * registers r determines what a call looks like. If an address is found, set
 * *pc to it, set *sp to the stack pointer after the return, and return true.
 */
bool
scan_next(struct target *t, const struct registers *r, uint64_t *sp,
    uint64_t *pc)
{
	uint64_t at, end;

	at = *sp + (r->word - *sp % r->word) % r->word;
	for (end = at + FAR; at < end; at += r->word) {
		if (!target_word(t, at, r->word, pc))
			return false;
		if (*pc < KB || target_code(t, *pc - 1) == NULL ||
		    !is_call(t, r->machine, *pc))
			continue;
		*sp = at + r->word;
		return true;
	}
	return false;
}
