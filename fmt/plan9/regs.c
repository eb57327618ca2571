/*
 * Registers as Plan 9 has them, from those of Linux: the Ureg of amd64 (its
 * /sys/include/ureg.h) and the floating point state, FXSAVE and above.
 */
#include "plan9.h"

#include <string.h>

#if defined(__x86_64__)

enum {
	UREG_SIZE = 184,
	FXSAVE_SIZE = 512,
	AVX_SIZE = 832,
	T_SYSCALL = 64		/* the trap number of a system call */
};

/*
 * Where in struct user_regs_struct, and in that of a 32-bit process
 * (17 words), the registers of a Ureg are: byte offsets, -1 for none.
 */
static const struct {
	uint8_t	 ureg;
	uint8_t	 size;
	uint8_t	 at64;
	int8_t	 at32;
} reg[] = {
	{   0, 8,  80, 24 },	/* ax */
	{   8, 8,  40,  0 },	/* bx */
	{  16, 8,  88,  4 },	/* cx */
	{  24, 8,  96,  8 },	/* dx */
	{  32, 8, 104, 12 },	/* si */
	{  40, 8, 112, 16 },	/* di */
	{  48, 8,  32, 20 },	/* bp */
	{  56, 8,  72, -1 },	/* r8 */
	{  64, 8,  64, -1 },
	{  72, 8,  56, -1 },
	{  80, 8,  48, -1 },
	{  88, 8,  24, -1 },	/* r12 */
	{  96, 8,  16, -1 },
	{ 104, 8,   8, -1 },
	{ 112, 8,   0, -1 },
	{ 120, 2, 184, 28 },	/* ds */
	{ 122, 2, 192, 32 },	/* es */
	{ 124, 2, 200, 36 },	/* fs */
	{ 126, 2, 208, 40 },	/* gs */
	{ 144, 8, 128, 48 },	/* pc */
	{ 152, 8, 136, 52 },	/* cs */
	{ 160, 8, 144, 56 },	/* flags */
	{ 168, 8, 152, 60 },	/* sp */
	{ 176, 8, 160, 64 },	/* ss */
};

enum {
	REGS64 = 216,		/* sizes of the two */
	REGS32 = 68,
	ORIG64 = 120,		/* orig_ax: the system call, or -1 */
	ORIG32 = 44,
	TYPE = 128		/* of the Ureg */
};

/*
 * The registers of a thread as a Ureg.  Nothing is added when they could
 * not be had.
 */
int
plan9_regs(struct buf *b, const struct task *t)
{
	const struct bytes *r = &t->reg[REGSET_PRSTATUS];
	uint8_t u[UREG_SIZE] = { 0 };
	size_t i, size;
	bool wide;

	if (r->data == NULL || (r->len != REGS64 && r->len != REGS32))
		return 0;
	wide = r->len == REGS64;
	for (i = 0; i < sizeof reg / sizeof *reg; i++) {
		size = reg[i].size > 4 && !wide ? 4 : reg[i].size;
		if (wide)
			memcpy(u + reg[i].ureg, r->data + reg[i].at64, size);
		else if (reg[i].at32 >= 0)
			memcpy(u + reg[i].ureg, r->data + reg[i].at32, size);
	}
	/* the top byte of -1 and of any system call's number differ */
	if (r->data[wide ? ORIG64 + 7 : ORIG32 + 3] != 0xff)
		u[TYPE] = T_SYSCALL;
	buf_add(b, u, sizeof u);
	return 0;
}

/*
 * The floating point state of a thread: the FXSAVE image, 512 bytes, and
 * with AVX the header and the upper halves of the YMM registers, as 9front
 * has them.
 */
int
plan9_fpregs(struct buf *b, const struct task *t)
{
	enum {
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
		if (fp->data != NULL && fp->len == FXSAVE_SIZE)
			buf_add(b, fp->data, fp->len);
		return 0;
	}
	memcpy(s, x->data, SOFTWARE);
	s[HEADER] = x->data[HEADER] & X87_SSE_AVX;
	if (s[HEADER] & AVX)
		memcpy(s + YMM, x->data + YMM, AVX_SIZE - YMM);
	buf_add(b, s, sizeof s);
	return 0;
}

#else

/*
 * The registers of this machine are not translated: they are in the Linux
 * record as the kernel gives them.
 */
int
plan9_regs(struct buf *b, const struct task *t)
{
	(void)b;
	(void)t;
	return errstr_set("Plan 9's registers of %s are not made yet",
	    plan9_cputype());
}

int
plan9_fpregs(struct buf *b, const struct task *t)
{
	return plan9_regs(b, t);
}

#endif
