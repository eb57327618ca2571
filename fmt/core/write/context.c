/*
 * Registers of a thread as a minidump has them.
 */
#include "minidump.h"

/*
 * Add the context of a thread with registers r: Microsoft's CONTEXT of amd64.
 */
void
context_add(struct buf *b, const struct coreregs *r)
{
	/* offsets of a register in both structures, and its bytes; the second
	   is struct user_regs_struct of <sys/user.h> */
	static const struct { uint16_t to, from, n; } reg[] = {
		{ 0x38, 136, 2 }, { 0x3a, 184, 2 }, { 0x3c, 192, 2 },
		{ 0x3e, 200, 2 }, { 0x40, 208, 2 }, { 0x42, 160, 2 },
		{ 0x44, 144, 4 }, { 0x78, 80, 8 }, { 0x80, 88, 8 },
		{ 0x88, 96, 8 }, { 0x90, 40, 8 }, { 0x98, 152, 8 },
		{ 0xa0, 32, 8 }, { 0xa8, 104, 8 }, { 0xb0, 112, 8 },
		{ 0xb8, 72, 8 }, { 0xc0, 64, 8 }, { 0xc8, 56, 8 },
		{ 0xd0, 48, 8 }, { 0xd8, 24, 8 }, { 0xe0, 16, 8 },
		{ 0xe8, 8, 8 }, { 0xf0, 0, 8 }, { 0xf8, 128, 8 }
	};
	enum { ALL_FLAGS = 0x10000f, FLAGS_AT = 0x30, MXCSR_AT = 0x34,
	    FXSAVE_AT = 0x100 };
	uint8_t c[CONTEXT] = { 0 };
	size_t i;

	num_put(c + FLAGS_AT, ALL_FLAGS, 4);
	for (i = 0; i < sizeof reg / sizeof *reg; i++)
		memcpy(c + reg[i].to, r->gp + reg[i].from, reg[i].n);
	if (r->nfp >= FXSAVE) {
		memcpy(c + FXSAVE_AT, r->fp, FXSAVE);
		memcpy(c + MXCSR_AT, r->fp + 24, 4);
	}
	buf_add(b, c, sizeof c);
}
