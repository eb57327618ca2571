/*
 * The registers of a thread of amd64, as core-N.img has them.
 */
#include "criumake.h"
#include "num.h"
#include "restart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct amd64regs {
	struct makeregs	 regs;	/* the first member */
	Criu__ThreadInfoX86 info;
	Criu__GpRegs	 gp;
	Criu__FpRegs	 fp;
	Criu__Xsave	 xsave;
	uint32_t	 st[32];
	uint32_t	 xmm[64];
	uint32_t	 ymm[64];
	uint64_t	 bndreg[8];
	uint64_t	 bndcsr[8];
	uint64_t	 opmask[8];
	uint64_t	 zmm[64];
	uint64_t	 hi16[128];
	uint32_t	 pkru[2];
};

enum {
	GPREGS = 27,		/* of struct user_regs_struct */
	R_AX = 10, R_ORIG_AX = 15, R_IP = 16, R_CS = 17,
	FXSAVE = 512,		/* bytes */
	XFEATURES = 512,	/* where xstate has which parts are in use */
	CS64 = 0x33
};

/* where xstate has what does not lie at the same place on all processors */
static const struct {
	size_t	 opmask, zmm, hi16, pkru;
} intel = { 1088, 1152, 1664, 2688 }, amd = { 832, 896, 1408, 2432 };

enum {
	/* the end of AVX-512: a shorter one is AMD's, which have no MPX */
	INTEL_END = 2688,
	/* where AMD's without AVX-512 have pkru, at their end */
	AMD_PKRU = 832,
	PKRU = 9,		/* the bit of what protection keys allow */
	TILECFG = 17, TILEDATA = 18, APX = 19
};

/*
 * Let a system call that the stop interrupted begin anew, as the kernel would
 * have it begin.  One that would go on with what the
 * kernel remembers of it fails with EINTR, for that is lost.
 */
static void
restart(uint64_t *r)
{
	if ((int64_t)r[R_ORIG_AX] < 0)
		return;
	switch ((int64_t)r[R_AX]) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
		r[R_AX] = r[R_ORIG_AX];
		r[R_IP] -= 2;
		break;
	case -ERESTART_RESTARTBLOCK:
		r[R_AX] = (uint64_t)-EINTR;
		break;
	}
}

static void
gpregs_set(Criu__GpRegs *g, const uint64_t *r)
{
	uint64_t *const to[GPREGS] = { &g->r15, &g->r14, &g->r13, &g->r12,
	    &g->bp, &g->bx, &g->r11, &g->r10, &g->r9, &g->r8, &g->ax, &g->cx,
	    &g->dx, &g->si, &g->di, &g->orig_ax, &g->ip, &g->cs, &g->flags,
	    &g->sp, &g->ss, &g->fs_base, &g->gs_base, &g->ds, &g->es, &g->fs,
	    &g->gs };
	size_t i;

	for (i = 0; i < GPREGS; i++)
		*to[i] = r[i];
	g->has_mode = true;
	g->mode = 1;
}

/*
 * Set n words to those at p.
 */
static void
words_set(uint32_t *to, const uint8_t *p, size_t n)
{
	for (; n > 0; n--, p += 4)
		*to++ = (uint32_t)num_get(p, 4);
}

/*
 * Set the registers of x87 and SSE: p has what FXSAVE stores.
 */
static void
fpregs_set(struct amd64regs *g, const uint8_t *p)
{
	Criu__FpRegs *f = &g->fp;

	f->cwd = (uint32_t)num_get(p, 2);
	f->swd = (uint32_t)num_get(p + 2, 2);
	f->twd = (uint32_t)num_get(p + 4, 2);
	f->fop = (uint32_t)num_get(p + 6, 2);
	f->rip = num_get(p + 8, 8);
	f->rdp = num_get(p + 16, 8);
	f->mxcsr = (uint32_t)num_get(p + 24, 4);
	f->mxcsr_mask = (uint32_t)num_get(p + 28, 4);
	words_set(g->st, p + 32, 32);
	words_set(g->xmm, p + 160, 64);
	f->st_space = g->st;
	f->n_st_space = 32;
	f->xmm_space = g->xmm;
	f->n_xmm_space = 64;
}

/*
 * Set to, n long words, to those at a byte of xstate, if the part that has a
 * bit in in_use is in use and there.  Return n; else 0.
 */
static size_t
part_get(const struct recfile *f, uint64_t in_use, unsigned int bit,
    size_t at, uint64_t *to, size_t n)
{
	size_t i;

	if (!(in_use >> bit & 1) || f->len < at + n * 8)
		return 0;
	for (i = 0; i < n; i++)
		to[i] = num_get(f->data + at + i * 8, 8);
	return n;
}

/*
 * Set the parts of xstate that criu restores.  Return bits of the others that
 * are in use.
 */
static uint64_t
xsave_set(struct amd64regs *g, const struct recfile *f)
{
	Criu__Xsave *x = &g->xsave;
	uint64_t use;
	size_t opmask, zmm, hi16, pkru;

	opmask = f->len < INTEL_END ? amd.opmask : intel.opmask;
	zmm = f->len < INTEL_END ? amd.zmm : intel.zmm;
	hi16 = f->len < INTEL_END ? amd.hi16 : intel.hi16;
	use = num_get(f->data + XFEATURES, 8);
	pkru = f->len >= INTEL_END ? intel.pkru :
	    f->len < amd.opmask + 64 ? AMD_PKRU : amd.pkru;
	/* x87, SSE, AVX, MPX, AVX-512 */
	x->xstate_bv = use & 0xff;
	if (use >> PKRU & 1 && f->len >= pkru + 8) {
		x->xstate_bv |= 1 << PKRU;
		words_set(g->pkru, f->data + pkru, 2);
		x->n_pkru = 2;
	}
	if (f->len >= 832 && use & 4) {
		words_set(g->ymm, f->data + 576, 64);
		x->n_ymmh_space = 64;
	}
	x->n_bndreg_state = part_get(f, use, 3, 960, g->bndreg, 8);
	x->n_bndcsr_state = part_get(f, use, 4, 1024, g->bndcsr, 8);
	x->n_opmask_reg = part_get(f, use, 5, opmask, g->opmask, 8);
	x->n_zmm_upper = part_get(f, use, 6, zmm, g->zmm, 64);
	x->n_hi16_zmm = part_get(f, use, 7, hi16, g->hi16, 128);
	x->ymmh_space = g->ymm;
	x->bndreg_state = g->bndreg;
	x->bndcsr_state = g->bndcsr;
	x->opmask_reg = g->opmask;
	x->zmm_upper = g->zmm;
	x->hi16_zmm = g->hi16;
	x->pkru = g->pkru;
	g->fp.xsave = x;
	return use & ~x->xstate_bv;
}

/*
 * Note parts of the registers of t that are in use and that criu does not
 * restore: bits of xstate.  Return as make_never.
 */
static int
parts_refuse(struct criumake *m, const struct maketask *t, uint64_t parts)
{
	return make_never(m, "process %" PRIu64 ": registers of %s (xstate "
	    "%" PRIx64 ") are in use, which criu does not restore: cannot be "
	    "restored", t->proc->pid, parts >> TILECFG & 3 ? "AMX" :
	    parts >> APX & 1 ? "APX" : "a kind", parts);
}

/*
 * Fill in g from the records of registers of a thread: r, and what is there of
 * fpregs and xstate.  Return bits of the parts that are in use and that criu
 * does not restore.
 */
static uint64_t
regs_set(struct amd64regs *g, const uint64_t *r, const struct recfile *fp,
    const struct recfile *xs)
{
	criu__thread_info_x86__init(&g->info);
	criu__gp_regs__init(&g->gp);
	criu__fp_regs__init(&g->fp);
	criu__xsave__init(&g->xsave);
	gpregs_set(&g->gp, r);
	fpregs_set(g, fp->len >= FXSAVE ? fp->data : xs->data);
	g->info.gpregs = &g->gp;
	g->info.fpregs = &g->fp;
	return xs->len >= XFEATURES + 64 ? xsave_set(g, xs) : 0;
}

/*
 * Put registers into a core: put of struct makeregs.
 */
static void
amd64_put(Criu__Core *core, struct makeregs *regs, uint64_t cleartid)
{
	struct amd64regs *g = (struct amd64regs *)regs;

	g->info.clear_tid_addr = cleartid;
	core->thread_info = &g->info;
}

/*
 * Do what makeregs_get does for thread t of process p, of amd64, whose general
 * registers are *regs, with rseq, into *out.  Return as that.
 */
int
makeregs_amd64(struct criumake *m, struct maketask *p, struct maketask *t,
    const struct recfile *regs, const uint64_t *rseq, struct makeregs **out)
{
	struct recfile fp, xs;
	struct amd64regs *g;
	uint64_t r[GPREGS] = { 0 }, lost;
	size_t i;

	if (regs->len == GPREGS * 8)
		for (i = 0; i < GPREGS; i++)
			r[i] = num_get(regs->data + i * 8, 8);
	if (regs->len != GPREGS * 8 || r[R_CS] != CS64)
		return make_never(m, "process %" PRIu64 ": not of x86-64: "
		    "cannot be restored", t->proc->pid);
	linuxrec_find(&t->rec, "regset/fpregs", &fp);
	linuxrec_find(&t->rec, "regset/xstate", &xs);
	if (fp.len < FXSAVE && xs.len < FXSAVE)
		return make_never(m, "process %" PRIu64 ": its floating point "
		    "registers are not in the snapshot", t->proc->pid);
	if ((g = calloc(1, sizeof *g)) == NULL)
		return errstr_set("out of memory");
	restart(r);
	makeregs_abort(p->proc->mem, rseq, &r[R_IP]);
	lost = regs_set(g, r, &fp, &xs);
	g->regs.put = amd64_put;
	*out = &g->regs;
	return lost == 0 ? 1 : parts_refuse(m, t, lost);
}
