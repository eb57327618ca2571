/*
 * Convert the registers of Linux to those of Plan 9, and back. A Ureg is the
 * one of Plan 9's /MACHINE/include/ureg.h, for arm64 that of 9legacy; floating
 * point registers are as in 9front.
 */
#include "bisect.h"
#include "num.h"
#include "plan9.h"

#define ARM_LOW "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 "
#define ARM64_ALL ARM_LOW "r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 " \
	"r25 r26 r27 r28 r29 link sp pc psr"

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

static const struct uregs {	/* layout of a machine's registers in Plan 9 */
	const char	*machine;
	const char	*linux;	/* names of the registers in the order of Linux:
				   struct user_regs_struct of sys/user.h, or
				   user_pt_regs and pt_regs of asm/ptrace.h */
	const char	*ureg;	/* their names in the order of a Ureg; "/2"
				   after a name: it has two bytes */
	uint16_t	 orig;	/* offset in Linux's registers of the system
				   call number, which is -1 outside of a call;
				   0: the registers lack it */
	uint16_t	 type;	/* offset of the trap number in a Ureg */
	uint8_t		 trap;	/* trap number of a system call; 0: unknown */

	/* append the floating point registers of thread t, if there are any;
	   NULL: in Plan 9 they depend on the coprocessor */
	void		(*fpregs)(struct buf *b, const struct task *t);
} known[] = {
	{ "amd64", "r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig pc "
	    "cs flags sp ss fs_base gs_base ds es fs gs", "ax bx cx dx si di "
	    "bp r8 r9 r10 r11 r12 r13 r14 r15 ds/2 es/2 fs/2 gs/2 type error "
	    "pc cs flags sp ss", 120, 128, 64, amd64_fpregs },
	{ "386", "bx cx dx si di bp ax ds es fs gs orig pc cs flags sp ss",
	    "di si bp nsp bx dx cx ax gs fs es ds trap error pc cs flags sp ss",
	    44, 48, 64, ia32_fpregs },
	/* type is the value of ESR_EL1 for an exception, which Linux does
	   not give */
	{ "arm64", ARM64_ALL, ARM64_ALL, 0, 0, 0, arm64_fpregs },
	{ "arm", ARM_LOW "sp link pc psr", ARM_LOW "sp link type psr pc", 68, 0,
	    0, NULL },
};

enum { MAX_UREG = 280 };	/* size of the largest Ureg (arm64) in bytes */

static const struct uregs *
uregs_find(const struct machine *m)
{
	const struct uregs *u = SEEK_IN(known, strcmp(x->machine, m->name) ==
	    0);

	if (u == NULL)
		errstr_set("no Plan 9 register format for %s", m->name);
	return u;
}

/*
 * Return the index of the register called name, which is n bytes long, in list,
 * or -1 if list does not have it.
 */
static int
name_index(const char *list, const char *name, size_t n)
{
	int i;

	for (i = 0; *list != '\0'; i++, list += *list == ' ') {
		if (strcspn(list, " ") == n && memcmp(list, name, n) == 0)
			return i;
		list += strcspn(list, " ");
	}
	return -1;
}

/*
 * Copy registers from gp, which has Linux's layout of machine from, to ureg, a
 * Ureg of machine u with registers of word bytes; or from ureg to gp if back is
 * true. A register of from has wide bytes.
 */
static void
ureg_copy(uint8_t *ureg, const struct uregs *u, size_t word, uint8_t *gp,
    const struct uregs *from, size_t wide, bool back)
{
	const char *s;
	size_t n, width;
	uint8_t *g;
	int i;

	for (s = u->ureg; *s != '\0'; s += *s == ' ', ureg += width) {
		n = strcspn(s, " /");
		i = name_index(from->linux, s, n);
		s += n;
		width = *s == '/' ? 2 : word;
		s += *s == '/' ? 2 : 0;
		g = gp + (size_t)(i == -1 ? 0 : i) * wide;
		if (i != -1)
			memcpy(back ? g : ureg, back ? ureg : g,
			    width < wide ? width : wide);
	}
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
	const struct uregs *u, *from;
	uint8_t ureg[MAX_UREG] = { 0 }, *gp = (uint8_t *)(uintptr_t)r->data;
	size_t orig;

	if ((u = uregs_find(m)) == NULL)
		return -1;
	narrow = machine_named(m->narrow == NULL ? "" : m->narrow);
	if (r->data == NULL || r->len == 0)
		return 0;
	orig = u->orig;
	if (r->len == m->regs) {
		ureg_copy(ureg, u, m->word, gp, u, m->word, false);
		orig += m->word - 1U;
	} else if (r->len == narrow->regs && m->narrow != NULL) {
		from = uregs_find(narrow);
		ureg_copy(ureg, u, m->word, gp, from, narrow->word, false);
		orig = from->orig + narrow->word - 1U;
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
	const struct uregs *u;

	if ((u = uregs_find(m)) == NULL)
		return;
	ureg_copy((uint8_t *)(uintptr_t)ureg, u, m->word, gp, u, m->word, true);
	if (u->orig != 0)
		num_put(gp + u->orig, UINT64_MAX, m->word);
}
