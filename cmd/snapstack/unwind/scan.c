/*
 * Where nothing tells how a function is left: what on the stack looks like
 * the address behind a call.  It may be one that was left there by a call that
 * is over.
 */
#include "snapstack/snapstack.h"

#include <elf.h>

enum { FAR = 64 * KB };		/* bytes of stack that are looked at */

/*
 * Return whether a call of amd64 or 386 ends at the end of p, of 7 bytes:
 * Intel's manual, volume 2, CALL.
 */
static bool
is_x86_call(const uint8_t *p)
{
	static const uint8_t len[] = { 2, 3, 4, 6, 7 };
	const uint8_t *q;
	size_t i;

	if (p[2] == 0xe8)	/* a displacement of 32 bits */
		return true;
	for (i = 0; i < sizeof len; i++) {
		q = p + 7 - len[i];
		if (q[0] == 0xff && (q[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/*
 * Return whether the instruction before pc is a call.
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
	case EM_AARCH64:	/* BL and BLR of the Arm Architecture Manual */
		return pc % 4 == 0 && target_word(t, pc - 4, 4, &v) &&
		    ((v & 0xfc000000) == 0x94000000 ||
		    (v & 0xfffffc1f) == 0xd63f0000);
	}
	return false;
}

/*
 * Look from *sp of a stack of t on for an address behind a call, on the machine
 * of r.  Return true with it in *pc, and in *sp what the stack pointer is when
 * it was returned to.
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
