/*
 * The registers of amd64: Plan 9's Ureg (its /amd64/include/ureg.h), and the
 * floating point state, FXSAVE and above.
 */
#include "plan9.h"

#include <string.h>

/* struct user_regs_struct of sys/user.h */
static const struct uregpart part[] = {
	{   0,  80, 8, 1 },	/* ax */
	{   8,  40, 8, 1 },	/* bx */
	{  16,  88, 8, 4 },	/* cx, dx, si, di */
	{  48,  32, 8, 1 },	/* bp */
	{  56,  72, 8, 1 },	/* r8 */
	{  64,  64, 8, 1 },
	{  72,  56, 8, 1 },
	{  80,  48, 8, 1 },
	{  88,  24, 8, 1 },	/* r12 */
	{  96,  16, 8, 1 },
	{ 104,   8, 8, 1 },
	{ 112,   0, 8, 1 },
	{ 120, 184, 2, 1 },	/* ds */
	{ 122, 192, 2, 1 },	/* es */
	{ 124, 200, 2, 1 },	/* fs */
	{ 126, 208, 2, 1 },	/* gs */
	{ 144, 128, 8, 5 },	/* pc, cs, flags, sp, ss */
};

/* struct user_regs_struct32 of the kernel's asm/user32.h */
static const struct uregpart narrow[] = {
	{   0, 24, 4, 1 },	/* ax */
	{   8,  0, 4, 1 },	/* bx */
	{  16,  4, 4, 1 },	/* cx */
	{  24,  8, 4, 1 },	/* dx */
	{  32, 12, 4, 1 },	/* si */
	{  40, 16, 4, 1 },	/* di */
	{  48, 20, 4, 1 },	/* bp */
	{ 120, 28, 2, 1 },	/* ds */
	{ 122, 32, 2, 1 },	/* es */
	{ 124, 36, 2, 1 },	/* fs */
	{ 126, 40, 2, 1 },	/* gs */
	{ 144, 48, 4, 1 },	/* pc */
	{ 152, 52, 4, 1 },	/* cs */
	{ 160, 56, 4, 1 },	/* flags */
	{ 168, 60, 4, 1 },	/* sp */
	{ 176, 64, 4, 1 },	/* ss */
};

/*
 * Add the FXSAVE image, 512 bytes, and with AVX the header and the upper halves
 * of the YMM registers, as 9front has them.
 */
static void
fpregs_add(struct buf *b, const struct task *t)
{
	enum {
		FXSAVE = 512,
		AVX_SIZE = 832,
		SOFTWARE = 464,	/* bytes the kernel uses: 464..511 */
		HEADER = 512,	/* of XSAVE: which parts are in use */
		YMM = 576,
		X87_SSE_AVX = 7,
		AVX = 4
	};
	const struct bytes *fp = &t->reg[REGSET_FPREGS];
	const struct bytes *x = &t->reg[REGSET_XSTATE];
	uint8_t s[AVX_SIZE] = { 0 };

	if (x->data == NULL || x->len < AVX_SIZE ||
	    !(x->data[SOFTWARE] & AVX)) {
		if (fp->data != NULL && fp->len == FXSAVE)
			buf_add(b, fp->data, fp->len);
		return;
	}
	memcpy(s, x->data, SOFTWARE);
	s[HEADER] = x->data[HEADER] & X87_SSE_AVX;
	if (s[HEADER] & AVX)
		memcpy(s + YMM, x->data + YMM, AVX_SIZE - YMM);
	buf_add(b, s, sizeof s);
}

const struct uregs uregs_amd64 = {
	.part = part, .npart = sizeof part / sizeof *part,
	.narrow = narrow, .nnarrow = sizeof narrow / sizeof *narrow,
	.orig = 120, .type = 128, .trap = 64,
	.fpregs = fpregs_add
};
