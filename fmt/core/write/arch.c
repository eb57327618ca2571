/*
 * The machines whose cores we make, and the registers of a thread as Linux
 * has them in a core: those that the Linux record has, or those of Plan 9's
 * Ureg (its /ARCH/include/ureg.h) in Linux's order (struct user_regs_struct
 * and elf_gregset_t of arch/ARCH/include/uapi/asm/ptrace.h).
 */
#include "core.h"

#include <elf.h>
#include <string.h>

enum { AMD64, I386, ARM64, ARM };

static const struct corearch arch[] = {
	[AMD64] = { "amd64", EM_X86_64, 8, 216, 512, 184 },
	[I386] = { "386", EM_386, 4, 68, 108, 76 },
	[ARM64] = { "arm64", EM_AARCH64, 8, 272, 528, 280 },
	[ARM] = { "arm", EM_ARM, 4, 72, 116, 72 },
};

enum { NARCH = sizeof arch / sizeof *arch };

/*
 * Where the registers of a source are in that of a core: byte offsets.
 */
struct move {
	uint8_t	 from;
	uint8_t	 to;
};

/* a Ureg of amd64; ds, es, fs and gs have 16 bits there */
static const struct move ureg_amd64[] = {
	{ 112, 0 }, { 104, 8 }, { 96, 16 }, { 88, 24 },	/* r15 to r12 */
	{ 48, 32 }, { 8, 40 },				/* bp, bx */
	{ 80, 48 }, { 72, 56 }, { 64, 64 }, { 56, 72 },	/* r11 to r8 */
	{ 0, 80 }, { 16, 88 }, { 24, 96 },		/* ax, cx, dx */
	{ 32, 104 }, { 40, 112 },			/* si, di */
	{ 144, 128 }, { 152, 136 }, { 160, 144 },	/* pc, cs, flags */
	{ 168, 152 }, { 176, 160 },			/* sp, ss */
};

static const struct move sel_amd64[] = {
	{ 120, 184 }, { 122, 192 }, { 124, 200 }, { 126, 208 },
};

static const struct move ureg_386[] = {
	{ 16, 0 }, { 24, 4 }, { 20, 8 },		/* bx, cx, dx */
	{ 4, 12 }, { 0, 16 }, { 8, 20 }, { 28, 24 },	/* si, di, bp, ax */
	{ 44, 28 }, { 40, 32 }, { 36, 36 }, { 32, 40 },	/* ds, es, fs, gs */
	{ 56, 48 }, { 60, 52 }, { 64, 56 },		/* pc, cs, flags */
	{ 68, 60 }, { 72, 64 },				/* sp, ss */
};

/* a 32-bit thread of a 64-bit process: words into the same of amd64 */
static const struct move narrow[] = {
	{ 0, 40 }, { 4, 88 }, { 8, 96 }, { 12, 104 }, { 16, 112 }, { 20, 32 },
	{ 24, 80 }, { 28, 184 }, { 32, 192 }, { 36, 200 }, { 40, 208 },
	{ 44, 120 }, { 48, 128 }, { 52, 136 }, { 56, 144 }, { 60, 152 },
	{ 64, 160 },
};

static void
move(uint8_t *to, const uint8_t *from, const struct move *m, size_t n,
    size_t width)
{
	for (; n > 0; n--, m++)
		memcpy(to + m->to, from + m->from, width);
}

#define MOVE(to, from, m, width) \
	move(to, from, m, sizeof m / sizeof *m, width)

/*
 * A Ureg as the general registers of a core.  What a Ureg does not have is
 * 0, and there is no system call: orig_ax and the like are -1.
 */
static void
ureg_move(const struct corearch *a, const uint8_t *u, uint8_t *gp)
{
	switch (a - arch) {
	case AMD64:
		MOVE(gp, u, ureg_amd64, 8);
		MOVE(gp, u, sel_amd64, 2);
		num_put(gp + 120, UINT64_MAX, 8);
		break;
	case I386:
		MOVE(gp, u, ureg_386, 4);
		num_put(gp + 44, UINT64_MAX, 4);
		break;
	case ARM64:			/* r0 to r30, sp, pc, psr */
		memcpy(gp, u, a->regs);
		break;
	case ARM:
		memcpy(gp, u, 60);	/* r0 to r12, sp, link */
		memcpy(gp + 60, u + 68, 4);
		memcpy(gp + 64, u + 64, 4);
		num_put(gp + 68, UINT64_MAX, 4);
		break;
	}
}

/* where debuggers look for the features of the processor that are saved */
enum { XCR0 = 464 };

/*
 * Plan 9's fpregs as floating point registers of a core: FXSAVE with or
 * without AVX on amd64; FXSAVE, FXSAVE and some more (Bell Labs), or
 * FSAVE on 386; and 9front's of arm64, whose last words Linux has the other
 * way round.
 */
static void
fp_move(const struct corearch *a, const struct file *f, struct coreregs *r)
{
	enum { FSAVE = 108, BELL = 532, CONTROL = 512, STATUS = 516,
	    X87_SSE_AVX = 7, ARM64_FP = 520 };

	if (a == &arch[AMD64] && (f->len == FXSAVE || f->len == AVX)) {
		memcpy(r->fp, f->data, FXSAVE);
		r->nfp = FXSAVE;
		if (f->len == FXSAVE)
			return;
		memcpy(r->xsave, f->data, AVX);
		num_put(r->xsave + XCR0, X87_SSE_AVX, 8);
		r->x = r->xsave;
		r->nx = AVX;
	} else if (a == &arch[I386] && f->len == FSAVE) {
		memcpy(r->fp, f->data, FSAVE);
		r->nfp = FSAVE;
	} else if (a == &arch[I386] && (f->len == FXSAVE || f->len == BELL)) {
		memcpy(r->xfp, f->data, FXSAVE);
		r->nxfp = FXSAVE;
	} else if (a == &arch[ARM64] && f->len == ARM64_FP) {
		memcpy(r->fp, f->data, CONTROL);
		memcpy(r->fp + CONTROL, f->data + STATUS, 4);
		memcpy(r->fp + STATUS, f->data + CONTROL, 4);
		r->nfp = a->fpregs;
	}
}

/*
 * The XSAVE area of a Linux record.  Debuggers tell what is in it by its size,
 * and know none with tiles (AMX): gdb 13 warns of it, and later ones show no
 * AVX registers (i387_guess_xsave_layout).  So tiles, which lie at the end,
 * are left out where the thread does not use them, as gcore(1) does.
 */
static void
xsave_move(const struct recfile *x, struct coreregs *r)
{
	enum { XSTATE_BV = 512, TILES = 3 << 17, BEFORE = 0x2ff };
	uint64_t features;

	r->x = x->data;
	r->nx = x->len;
	features = num_get(x->data + XCR0, 8);
	if (x->len < PKRU || (features & TILES) == 0 ||
	    (features & ~(uint64_t)(TILES | BEFORE)) != 0 ||
	    (num_get(x->data + XSTATE_BV, 8) & TILES) != 0)
		return;
	memcpy(r->xsave, x->data, PKRU);
	num_put(r->xsave + XCR0, features & BEFORE, 8);
	r->x = r->xsave;
	r->nx = PKRU;
}

/*
 * The registers that a Linux record has.
 */
static void
linux_regs(const struct corearch *a, const struct taskstate *st,
    struct coreregs *r)
{
	enum { XSAVE_LEAST = 576, SOFTWARE = 464, ORIG = 120 };
	const struct recfile *gp = &st->reg[REGSET_PRSTATUS];
	const struct recfile *fp = &st->reg[REGSET_FPREGS];
	const struct recfile *x = &st->reg[REGSET_XSTATE];

	if (gp->len == a->regs)
		memcpy(r->gp, gp->data, gp->len);
	else if (a == &arch[AMD64] && gp->len == arch[I386].regs) {
		MOVE(r->gp, gp->data, narrow, 4);
		if (r->gp[ORIG + 3] & 0x80)	/* -1 stays -1 */
			num_put(r->gp + ORIG + 4, UINT32_MAX, 4);
	} else
		return;
	r->ngp = a->regs;
	if (fp->len == a->fpregs) {
		memcpy(r->fp, fp->data, fp->len);
		r->nfp = fp->len;
	}
	if ((a != &arch[AMD64] && a != &arch[I386]) || x->len < XSAVE_LEAST)
		return;
	xsave_move(x, r);
	if (a == &arch[I386]) {
		/* NT_PRXFPREG is the same but for what the kernel put in */
		memcpy(r->xfp, x->data, SOFTWARE);
		r->nxfp = FXSAVE;
	}
}

/*
 * The registers of a thread, as they stand in a core of a machine.  False,
 * and ngp 0, if the snapshot does not have them.  What is in *r borrows from
 * the state and from *r.
 */
bool
corearch_regs(const struct corearch *a, const struct proc *p,
    const struct taskstate *st, struct coreregs *r)
{
	const struct file *f;

	memset(r, 0, sizeof *r);
	linux_regs(a, st, r);
	if (r->ngp == 0 && (f = proc_file(p, "regs")) != NULL &&
	    f->len == a->ureg) {
		ureg_move(a, f->data, r->gp);
		r->ngp = a->regs;
		if ((f = proc_file(p, "fpregs")) != NULL)
			fp_move(a, f, r);
	}
	return r->ngp > 0;
}

/*
 * Return the machine type in the first line of a snapshot; "" if it is none
 * that we have heard of (Plan 9's 2c(1) and mach(2)).
 */
static const char *
cputype_find(const char *line)
{
	static const char *const other[] = { "mips", "mips64", "spim",
	    "spim64", "power", "power64", "sparc", "sparc64", "alpha",
	    "68000", "68020", "riscv", "riscv64" };
	struct header h;
	size_t i;

	header_parse(&h, line);
	for (i = 0; i < NARCH; i++)
		if (strcmp(arch[i].cputype, h.cputype) == 0)
			return arch[i].cputype;
	for (i = 0; i < sizeof other / sizeof *other; i++)
		if (strcmp(other[i], h.cputype) == 0)
			return other[i];
	return "";
}

/*
 * Return whether a machine of that type can have processes of this one.
 */
static bool
runs(const char *cputype, const struct corearch *a)
{
	return *cputype == '\0' || strcmp(cputype, a->cputype) == 0 ||
	    (a == &arch[I386] && strcmp(cputype, "amd64") == 0) ||
	    (a == &arch[ARM] && strcmp(cputype, "arm64") == 0);
}

/*
 * Set *a to the machine of the thread p, by its registers; to NULL when it has
 * none.  Return 0; or -1 with errstr when they are of a machine that is not
 * known.
 */
int
corearch_find(const struct snap *s, const struct proc *p,
    const struct taskstate *st, const struct corearch **a)
{
	const struct file *ureg;
	const char *type = st->cputype;
	size_t i, regs = st->reg[REGSET_PRSTATUS].len;

	*a = NULL;
	ureg = proc_file(p, "regs");
	if (regs == 0 && (ureg == NULL || ureg->len == 0))
		return 0;
	if (*type == '\0')
		type = cputype_find(s->header);
	for (i = 0; i < NARCH; i++)
		if (runs(type, &arch[i]) && (regs > 0 ?
		    regs == arch[i].regs : ureg->len == arch[i].ureg)) {
			*a = &arch[i];
			return 0;
		}
	if (*type == '\0')
		type = "an unknown machine";
	return errstr_set("%zu bytes of registers of %s: only those of amd64, "
	    "386, arm64 and arm are known", regs > 0 ? regs : ureg->len, type);
}
