/*
 * The machines whose cores we make, and the registers of a thread as Linux
 * has them in a core: those that the Linux record has, or those of Plan 9's
 * Ureg in Linux's order.
 */
#include "core.h"
#include "plan9/plan9.h"

#include <string.h>

/*
 * Where the registers of a source are in that of a core: byte offsets.
 */
struct move {
	uint8_t	 from;
	uint8_t	 to;
};

/* a 32-bit thread of a 64-bit process: words into the same of amd64 */
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
 * Set the registers gp of amd64 to those of a thread of 32 bits.
 */
static void
narrow_move(uint8_t *gp, const uint8_t *from)
{
	enum { ORIG = 120 };
	size_t i;

	for (i = 0; i < sizeof narrow / sizeof *narrow; i++)
		memcpy(gp + narrow[i].to, from + narrow[i].from, 4);
	if (gp[ORIG + 3] & 0x80)	/* -1 stays -1 */
		num_put(gp + ORIG + 4, UINT32_MAX, 4);
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
		/* NT_PRXFPREG is the same but for what the kernel put in */
		memcpy(r->xfp, x->data, SOFTWARE);
		r->nxfp = FXSAVE;
	}
}

/*
 * Set *r to the registers of thread p, whose state is st, as they stand in a
 * core of machine a.  Return false, and ngp 0, if the snapshot does not have
 * them.  What is in *r borrows from the state and from *r.
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
 * Return whether a machine of that type can have processes of this one.
 */
static bool
runs(const struct machine *type, const struct machine *a)
{
	return type->elf == 0 || type == a ||
	    (type->narrow != NULL && is(a, type->narrow));
}

/*
 * Set *a to the machine of thread p of s, whose state is st, by its registers;
 * to NULL when it has none.  A snapshot that tells no machine that we have
 * heard of may be of any.  Return 0; or -1 with errstr when they are of a
 * machine that is not known.
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
	return errstr_set("%zu bytes of registers of %s: only those of amd64, "
	    "386, arm64 and arm are known", regs > 0 ? regs : ureg->len,
	    type->elf == 0 ? "an unknown machine" : type->name);
}
