/*
 * The registers of arm64: Plan 9's Ureg (9legacy's /arm64/include/ureg.h), and
 * the floating point state as 9front has it (struct FPsave of its kernel).
 */
#include "plan9.h"

/* struct user_pt_regs of the kernel's asm/ptrace.h */
static const struct uregpart part[] = {
	{ 0, 0, 8, 34 },	/* r0 to r30, sp, pc, psr */
};

/* those of a 32-bit process: r0 to r15 and psr of arm */
static const struct uregpart narrow[] = {
	{   0,  0, 4, 1 },
	{   8,  4, 4, 1 },
	{  16,  8, 4, 1 },
	{  24, 12, 4, 1 },
	{  32, 16, 4, 1 },
	{  40, 20, 4, 1 },
	{  48, 24, 4, 1 },
	{  56, 28, 4, 1 },
	{  64, 32, 4, 1 },
	{  72, 36, 4, 1 },
	{  80, 40, 4, 1 },
	{  88, 44, 4, 1 },
	{  96, 48, 4, 1 },
	{ 248, 52, 4, 1 },	/* sp */
	{ 240, 56, 4, 1 },	/* link */
	{ 256, 60, 4, 1 },	/* pc */
	{ 264, 64, 4, 1 },	/* psr */
};

/*
 * Add the 32 registers of 16 bytes, then control and status, which Linux has
 * the other way round: struct user_fpsimd_state of asm/ptrace.h.
 */
static void
fpregs_add(struct buf *b, const struct task *t)
{
	enum { LINUX = 528, STATUS = 512, CONTROL = 516 };
	const struct bytes *fp = &t->reg[REGSET_FPREGS];

	if (fp->data == NULL || fp->len != LINUX)
		return;
	buf_add(b, fp->data, STATUS);
	buf_add(b, fp->data + CONTROL, 4);
	buf_add(b, fp->data + STATUS, 4);
}

/* type has what ESR_EL1 tells of an exception, which Linux does not say */
const struct uregs uregs_arm64 = {
	.part = part, .npart = sizeof part / sizeof *part,
	.narrow = narrow, .nnarrow = sizeof narrow / sizeof *narrow,
	.fpregs = fpregs_add
};
