/*
 * The registers of arm: Plan 9's Ureg (its /arm/include/ureg.h).
 */
#include "plan9.h"

/* struct pt_regs of the kernel's asm/ptrace.h */
static const struct uregpart part[] = {
	{  0,  0, 4, 15 },	/* r0 to r12, sp, link */
	{ 64, 64, 4, 1 },	/* psr */
	{ 68, 60, 4, 1 },	/* pc */
};

/*
 * Add nothing: what Plan 9 has depends on the coprocessor.
 */
static void
fpregs_add(struct buf *b, const struct task *t)
{
	(void)b;
	(void)t;
}

const struct uregs uregs_arm = {
	.part = part, .npart = sizeof part / sizeof *part,
	.orig = 68,
	.fpregs = fpregs_add
};
