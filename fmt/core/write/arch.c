/*
 * Convert the registers of a thread to those in a Linux core: from the Linux
 * record, or from Plan 9's Ureg, whose order differs. Find the machine of a
 * core.
 */
#include "write.h"
#include "plan9/plan9.h"

/*
 * Byte offset of a register in a source, and in the core.
 */
struct move {
	uint8_t	 from;
	uint8_t	 to;
};

/* from a 32-bit thread of a 64-bit process: 386 words to amd64 */
static const struct move narrow[] = {
	{ 0, 40 }, { 4, 88 }, { 8, 96 }, { 12, 104 }, { 16, 112 }, { 20, 32 },
	{ 24, 80 }, { 28, 184 }, { 32, 192 }, { 36, 200 }, { 40, 208 },
	{ 44, 120 }, { 48, 128 }, { 52, 136 }, { 56, 144 }, { 60, 152 },
	{ 64, 160 },
};

static bool
is(const struct machine *a, const char *name)
{
	return strcmp(a->name, name) == 0;
}

/*
 * Set the amd64 registers at gp to the registers of a 32-bit thread, which are
 * at from.
 */
static void
narrow_move(uint8_t *gp, const uint8_t *from)
{
	enum { ORIG = 120 };
	size_t i;

	for (i = 0; i < sizeof narrow / sizeof *narrow; i++)
		memcpy(gp + narrow[i].to, from + narrow[i].from, 4);
	if (gp[ORIG + 3] & 0x80)	/* extend the sign of orig_ax */
		num_put(gp + ORIG + 4, UINT32_MAX, 4);
}

/* offset at which debuggers look for the saved processor features */
enum { XCR0 = 464 };

/*
 * Convert f, Plan 9's fpregs, to the floating-point registers of a core of
 * machine a. On amd64, f is FXSAVE with or without AVX. On 386, it is FXSAVE,
 * FXSAVE with an appendix (Bell Labs), or FSAVE. On arm64, it is in 9front's
 * format, which has the last two words in the opposite order from Linux.
 */
static void
fp_move(const struct machine *a, const struct file *f, struct coreregs *r)
{
	enum { FSAVE = 108, BELL = 532, CONTROL = 512, STATUS = 516,
	    X87_SSE_AVX = 7, ARM64_FP = 520 };

	if (is(a, "amd64") && (f->len == FXSAVE || f->len == AVX)) {
		memcpy(r->fp, f->data, FXSAVE);
		r->nfp = FXSAVE;
		if (f->len == FXSAVE)
			return;
		memcpy(r->xsave, f->data, AVX);
		num_put(r->xsave + XCR0, X87_SSE_AVX, 8);
		r->x = r->xsave;
		r->nx = AVX;
	} else if (is(a, "386") && f->len == FSAVE) {
		memcpy(r->fp, f->data, FSAVE);
		r->nfp = FSAVE;
	} else if (is(a, "386") && (f->len == FXSAVE || f->len == BELL)) {
		memcpy(r->xfp, f->data, FXSAVE);
		r->nxfp = FXSAVE;
	} else if (is(a, "arm64") && f->len == ARM64_FP) {
		memcpy(r->fp, f->data, CONTROL);
		memcpy(r->fp + CONTROL, f->data + STATUS, 4);
		memcpy(r->fp + STATUS, f->data + CONTROL, 4);
		r->nfp = a->fpregs;
	}
}

/*
 * Set the XSAVE area of r to x, the XSAVE area in a Linux record. Leave out the
 * AMX tiles at its end if the thread does not use them, as gcore(1) does.
 * Debuggers derive the layout from the size, and do not know any layout with
 * tiles: gdb 13 warns, and later versions show no AVX registers
 * (i387_guess_xsave_layout).
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
 * Set *r to the registers that the Linux record has for machine a. If it has
 * none, leave *r alone.
 */
static void
linux_regs(const struct machine *a, const struct taskstate *st,
    struct coreregs *r)
{
	enum { MIN_XSAVE = 576, SOFTWARE = 464 };
	const struct recfile *gp = &st->reg[REGSET_PRSTATUS];
	const struct recfile *fp = &st->reg[REGSET_FPREGS];
	const struct recfile *x = &st->reg[REGSET_XSTATE];

	if (gp->len == a->regs)
		memcpy(r->gp, gp->data, gp->len);
	else if (is(a, "amd64") && gp->len == machine_named("386")->regs)
		narrow_move(r->gp, gp->data);
	else
		return;
	r->ngp = a->regs;
	if (fp->len == a->fpregs) {
		memcpy(r->fp, fp->data, fp->len);
		r->nfp = fp->len;
	}
	if ((!is(a, "amd64") && !is(a, "386")) || x->len < MIN_XSAVE)
		return;
	xsave_move(x, r);
	if (is(a, "386")) {
		/* NT_PRXFPREG differs only in the bytes that the kernel
		   reserves */
		memcpy(r->xfp, x->data, SOFTWARE);
		r->nxfp = FXSAVE;
	}
}

/*
 * Set *r to the registers of thread p, in the layout of a core of machine a. st
 * is the state of p. Pointers in *r point into st or into *r itself. Return
 * false with r->ngp set to 0 if the snapshot does not have the registers.
 */
bool
corearch_regs(const struct machine *a, const struct proc *p,
    const struct taskstate *st, struct coreregs *r)
{
	const struct file *f;

	memset(r, 0, sizeof *r);
	linux_regs(a, st, r);
	if (r->ngp == 0 && (f = proc_file(p, "regs")) != NULL &&
	    f->len == a->ureg) {
		ureg_linux(a, f->data, r->gp);
		r->ngp = a->regs;
		if ((f = proc_file(p, "fpregs")) != NULL)
			fp_move(a, f, r);
	}
	return r->ngp > 0;
}

/*
 * Return true if a machine of the given type can run processes of machine a. An
 * unknown type is assumed to run all.
 */
static bool
runs(const struct machine *type, const struct machine *a)
{
	return type->elf == 0 || type == a ||
	    (type->narrow != NULL && is(a, type->narrow));
}

/*
 * Set *a to the machine of thread p of s, chosen by the size of the thread's
 * registers, or to NULL if p has no registers. st is the state of p. If the
 * snapshot does not name a known machine, all machines are tried. Return 0, or
 * -1 with errstr set if no machine fits.
 */
int
corearch_find(const struct snap *s, const struct proc *p,
    const struct taskstate *st, const struct machine **a)
{
	const struct machine *m, *type;
	const struct file *ureg;
	struct header h;
	size_t regs = st->reg[REGSET_PRSTATUS].len;

	*a = NULL;
	ureg = proc_file(p, "regs");
	if (regs == 0 && (ureg == NULL || ureg->len == 0))
		return 0;
	header_parse(&h, s->header);
	type = machine_named(*st->cputype == '\0' ? h.cputype : st->cputype);
	for (m = NULL; (m = machine_next(m)) != NULL;)
		if (runs(type, m) && m->regs != 0 && (regs > 0 ?
		    regs == m->regs : ureg->len == m->ureg)) {
			*a = m;
			return 0;
		}
	return errstr_set("cannot convert %zu bytes of registers from %s: "
	    "expected those of amd64, 386, arm64, or arm",
	    regs > 0 ? regs : ureg->len,
	    type->elf == 0 ? "an unknown machine" : type->name);
}
