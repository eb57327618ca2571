/*
 * Convert the registers of Linux to those of Plan 9, and back. A Ureg is the
 * one of Plan 9's /MACHINE/include/ureg.h, for arm64 that of 9legacy; floating
 * point registers are as in 9front.
 */
#include "num.h"
#include "plan9.h"

/*
 * Registers that have the same order in a Ureg and in Linux's elf_gregset_t.
 */
struct uregpart {
	uint16_t	 ureg;	/* byte offset of the first register in a
				   Ureg */
	uint16_t	 linux;	/* byte offset of the same register in
				   elf_gregset_t */
	uint8_t		 width;	/* size of a register in bytes */
	uint8_t		 n;
};

/* struct user_regs_struct of sys/user.h */
static const struct uregpart amd64[] = {
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
static const struct uregpart amd64_narrow[] = {
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

/* struct user_regs_struct of sys/user.h */
static const struct uregpart ia32[] = {
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

/* struct user_pt_regs of the kernel's asm/ptrace.h */
static const struct uregpart arm64[] = {
	{ 0, 0, 8, 34 },	/* r0 to r30, sp, pc, psr */
};

/* registers of a 32-bit process: r0 to r15 and psr of arm */
static const struct uregpart arm64_narrow[] = {
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

/* struct pt_regs of the kernel's asm/ptrace.h */
static const struct uregpart arm[] = {
	{  0,  0, 4, 15 },	/* r0 to r12, sp, link */
	{ 64, 64, 4, 1 },	/* psr */
	{ 68, 60, 4, 1 },	/* pc */
};

/*
 * Append the FXSAVE image, which has 512 bytes. If AVX is enabled, also append
 * the XSAVE header and the upper halves of the YMM registers, as 9front does.
 */
static void
amd64_fpregs(struct buf *b, const struct task *t)
{
	enum {
		FXSAVE = 512,
		AVX_SIZE = 832,
		SOFTWARE = 464,	/* offset of the 48 bytes that the kernel may
				   use */
		HEADER = 512,	/* offset of the XSAVE header, whose first byte
				   says which parts of the state are in use */
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

/*
 * Append the FXSAVE image to b, with the bytes that belong to the kernel set to
 * zero. If there is no FXSAVE image, append the FSAVE image.
 */
static void
ia32_fpregs(struct buf *b, const struct task *t)
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

/*
 * Append the 32 registers of 16 bytes each, then the control and status
 * registers. Linux has these two in the opposite order (struct
 * user_fpsimd_state of asm/ptrace.h).
 */
static void
arm64_fpregs(struct buf *b, const struct task *t)
{
	enum { LINUX = 528, STATUS = 512, CONTROL = 516 };
	const struct bytes *fp = &t->reg[REGSET_FPREGS];

	if (fp->data == NULL || fp->len != LINUX)
		return;
	buf_add(b, fp->data, STATUS);
	buf_add(b, fp->data + CONTROL, 4);
	buf_add(b, fp->data + STATUS, 4);
}

#define PARTS(v)	v, sizeof(v) / sizeof *(v)

static const struct uregs {	/* layout of a machine's registers in Plan 9 */
	const char	*machine;
	const struct uregpart *part;
	size_t		 npart;
	const struct uregpart *narrow; /* registers of a 32-bit process on a
					  64-bit machine */
	size_t		 nnarrow;
	uint16_t	 orig;	/* offset in Linux's registers of the system
				   call number, which is -1 outside of a call;
				   0: the registers lack it */
	uint16_t	 type;	/* offset of the trap number in a Ureg */
	uint8_t		 trap;	/* trap number of a system call; 0: unknown */

	/* append the floating point registers of thread t, if there are any;
	   NULL: in Plan 9 they depend on the coprocessor */
	void		(*fpregs)(struct buf *b, const struct task *t);
} known[] = {
	{ "amd64", PARTS(amd64), PARTS(amd64_narrow), 120, 128, 64,
	    amd64_fpregs },
	{ "386", PARTS(ia32), NULL, 0, 44, 48, 64, ia32_fpregs },
	/* type is the value of ESR_EL1 for an exception, which Linux does
	   not give */
	{ "arm64", PARTS(arm64), PARTS(arm64_narrow), 0, 0, 0, arm64_fpregs },
	{ "arm", PARTS(arm), NULL, 0, 68, 0, 0, NULL },
};

enum { MAX_UREG = 280 };	/* size of the largest Ureg (arm64) in bytes */

static const struct uregs *
uregs_find(const struct machine *m)
{
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].machine, m->name) == 0)
			return &known[i];
	(void)errstr_set("no Plan 9 register format for %s", m->name);
	return NULL;
}

/*
 * Copy registers from gp, which has Linux's layout, to ureg. The n elements at
 * part describe the registers to copy.
 */
static void
ureg_set(uint8_t *ureg, const uint8_t *gp, const struct uregpart *part,
    size_t n)
{
	for (; n > 0; n--, part++)
		memcpy(ureg + part->ureg, gp + part->linux,
		    (size_t)part->width * part->n);
}

/*
 * Append the registers of thread t to b as a Ureg. cputype is Plan 9's name for
 * the machine. Append nothing if the registers could not be read. Return 0, or
 * -1 with errstr set if Plan 9 does not support the machine.
 */
int
plan9_regs(struct buf *b, const char *cputype, const struct task *t)
{
	const struct machine *m = machine_named(cputype), *narrow;
	const struct bytes *r = &t->reg[REGSET_PRSTATUS];
	const struct uregs *u;
	uint8_t ureg[MAX_UREG] = { 0 };
	size_t orig;

	if ((u = uregs_find(m)) == NULL)
		return -1;
	narrow = machine_named(m->narrow == NULL ? "" : m->narrow);
	if (r->data == NULL || r->len == 0)
		return 0;
	orig = u->orig;
	if (r->len == m->regs) {
		ureg_set(ureg, r->data, u->part, u->npart);
		orig += m->word - 1U;
	} else if (r->len == narrow->regs && u->nnarrow > 0) {
		ureg_set(ureg, r->data, u->narrow, u->nnarrow);
		orig = uregs_find(narrow)->orig + narrow->word - 1U;
	} else
		return 0;
	/* the top byte is 0xff in -1, and never in a system call number */
	if (u->trap != 0 && r->data[orig] != 0xff)
		ureg[u->type] = u->trap;
	buf_add(b, ureg, m->ureg);
	return 0;
}

/*
 * Append the floating point registers of thread t to b, in Plan 9's format for
 * the machine cputype. Append nothing if they could not be read. Return 0, or
 * -1 with errstr set if Plan 9 does not support the machine.
 */
int
plan9_fpregs(struct buf *b, const char *cputype, const struct task *t)
{
	const struct uregs *u;

	if ((u = uregs_find(machine_named(cputype))) == NULL)
		return -1;
	if (u->fpregs != NULL)
		u->fpregs(b, t);
	return 0;
}

/*
 * Set gp to the general registers in a Ureg of m->ureg bytes. gp is in Linux's
 * layout for a core; it has m->regs bytes, which must be zero on entry. The
 * system call number is set to -1, which means none. Do nothing if Plan 9 does
 * not support machine m.
 */
void
ureg_linux(const struct machine *m, const uint8_t *ureg, uint8_t *gp)
{
	const struct uregpart *part;
	const struct uregs *u;
	size_t i;

	if ((u = uregs_find(m)) == NULL)
		return;
	for (i = 0, part = u->part; i < u->npart; i++, part++)
		memcpy(gp + part->linux, ureg + part->ureg,
		    (size_t)part->width * part->n);
	if (u->orig != 0)
		num_put(gp + u->orig, UINT64_MAX, m->word);
}
