/*
 * The registers of 386: Plan 9's Ureg (its /386/include/ureg.h), and the
 * floating point state, FSAVE or FXSAVE.
 */
#include "plan9.h"

/* struct user_regs_struct of sys/user.h */
static const struct uregpart part[] = {
	{  0, 16, 4, 1 },	/* di */
	{  4, 12, 4, 1 },	/* si */
	{  8, 20, 4, 1 },	/* bp */
	{ 16,  0, 4, 1 },	/* bx */
	{ 20,  8, 4, 1 },	/* dx */
	{ 24,  4, 4, 1 },	/* cx */
	{ 28, 24, 4, 1 },	/* ax */
	{ 32, 40, 4, 1 },	/* gs */
	{ 36, 36, 4, 1 },	/* fs */
	{ 40, 32, 4, 1 },	/* es */
	{ 44, 28, 4, 1 },	/* ds */
	{ 56, 48, 4, 5 },	/* pc, cs, flags, sp, ss */
};

/*
 * Add what FXSAVE stores, without what the kernel puts there; where there is
 * none, what FSAVE does.
 */
static void
fpregs_add(struct buf *b, const struct task *t)
{
	enum { FSAVE = 108, FXSAVE = 512, SOFTWARE = 464 };
	const struct bytes *fp = &t->reg[REGSET_FPREGS];
	const struct bytes *x = &t->reg[REGSET_XSTATE];
	static const uint8_t zero[FXSAVE - SOFTWARE];

	if (x->data != NULL && x->len >= FXSAVE) {
		buf_add(b, x->data, SOFTWARE);
		buf_add(b, zero, sizeof zero);
	} else if (fp->data != NULL && fp->len == FSAVE)
		buf_add(b, fp->data, fp->len);
}

const struct uregs uregs_386 = {
	.part = part, .npart = sizeof part / sizeof *part,
	.orig = 44, .type = 48, .trap = 64,
	.fpregs = fpregs_add
};
