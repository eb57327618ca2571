/*
 * Fill in the registers of an amd64 thread for core-N.img.
 */
#include "criumake.h"
#include "num.h"
#include "restart.h"

enum {
	GPREGS = 27, /* number of 64-bit words in struct user_regs_struct */
	FPREGS = sizeof CRIU_FXBYTES - 1,
	R_AX = 10, R_ORIG_AX = 15, R_IP = 16, R_CS = 17, R_DS = 23, R_GS = 26,
	LDT = 4,	/* bit of a segment selector */
	FXSAVE = 512,		/* size of an FXSAVE area in bytes */
	XFEATURES = 512, /* offset of XSTATE_BV, a bit mask of parts */
	CS64 = 0x33
};

enum {
	/* Smallest size of xstate in Intel's layout, which reserves room for
	   MPX. AMD's layout has no MPX and is shorter. */
	INTEL_END = 2688,
	/* offset of pkru in AMD's layout without AVX-512, at its end */
	AMD_PKRU = 832,
	PKRU = 9, /* XSTATE_BV bit for the protection key rights */
	TILECFG = 17, TILEDATA = 18, APX = 19
};

/* parts of xstate that criu restores, with their offsets in both layouts */
static const struct part {
	unsigned int	 bit;	/* bit number in XSTATE_BV */
	size_t		 intel;	/* offset of the part in Intel's layout */
	size_t		 amd;
	size_t		 bytes;
	size_t		 n;	/* number of elements in the field */
	size_t		 field;
} parts[] = {
	{ 2, 576, 576, 256, 64, offsetof(Criu__Xsave, ymmh_space) },
	{ 3, 960, 960, 64, 8, offsetof(Criu__Xsave, bndreg_state) },
	{ 4, 1024, 1024, 64, 8, offsetof(Criu__Xsave, bndcsr_state) },
	{ 5, 1088, 832, 64, 8, offsetof(Criu__Xsave, opmask_reg) },
	{ 6, 1152, 896, 512, 64, offsetof(Criu__Xsave, zmm_upper) },
	{ 7, 1664, 1408, 1024, 128, offsetof(Criu__Xsave, hi16_zmm) },
	{ PKRU, 2688, 2432, 8, 2, offsetof(Criu__Xsave, pkru) }
};

/*
 * If the stop interrupted a system call that the kernel would restart, change
 * registers r so that the thread makes the call again. A call that needs a
 * kernel restart block fails with EINTR instead, because the block is lost.
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

/*
 * Set the x87 and SSE registers in f from the FXSAVE area at p.
 */
static int
fpregs_set(struct criumake *m, Criu__FpRegs *f, const uint8_t *p)
{
	uint64_t v[FPREGS];
	size_t i, at, n;

	for (i = at = 0; i < FPREGS; i++, at += n) {
		n = (size_t)(CRIU_FXBYTES[i] - '0');
		v[i] = num_get(p + at, n);
	}
	MSG_FILL(f, CRIU_FXSAVE, v);
	return MSG_BYTES(&m->msgs, f, st_space, p + 32, 32) == -1 ? -1 :
	    MSG_BYTES(&m->msgs, f, xmm_space, p + 160, 64);
}

/*
 * Set x to the parts of the xstate in file f that criu restores, and *lost to
 * the XSTATE_BV bits of the other parts in use.
 */
static int
xsave_set(struct criumake *m, Criu__Xsave *x, const struct recfile *f,
    uint64_t *lost)
{
	const uint64_t use = num_get(f->data + XFEATURES, 8);
	const struct part *p;
	size_t i, at;

	/* x87, SSE, AVX, MPX and AVX-512: bits 0 to 7 */
	x->xstate_bv = use & 0xff;
	for (i = 0; i < sizeof parts / sizeof *parts; i++) {
		p = &parts[i];
		at = f->len >= INTEL_END ? p->intel : p->amd;
		if (p->bit == PKRU && f->len < AMD_PKRU + 64)
			at = AMD_PKRU;
		if (!(use >> p->bit & 1) || f->len < at + p->bytes)
			continue;
		x->xstate_bv |= UINT64_C(1) << p->bit;
		if (msg_bytes(&m->msgs, &x->base, p->field, f->data + at,
		    p->n) == -1)
			return -1;
	}
	*lost = use & ~x->xstate_bv;
	return 0;
}

/*
 * Set the registers in core. r has the general registers. All other registers
 * are in fp (fpregs) and xs (xstate), one of which may be empty. Set *lost to
 * the XSTATE_BV bits of parts in use that criu does not restore.
 */
static int
regs_set(struct criumake *m, Criu__Core *core, const uint64_t *r,
    const struct recfile *fp, const struct recfile *xs, uint64_t *lost)
{
	Criu__ThreadInfoX86 *info;

	if ((info = MSG_PART(&m->msgs, core, thread_info)) == NULL ||
	    MSG_PART(&m->msgs, info, gpregs) == NULL ||
	    MSG_PART(&m->msgs, info, fpregs) == NULL)
		return -1;
	MSG_FILL(info->gpregs, CRIU_GPREGS, r);
	MSG_FILL(info->gpregs, "mode", &(uint64_t){ 1 });
	if (fpregs_set(m, info->fpregs, fp->len >= FXSAVE ? fp->data :
	    xs->data) == -1)
		return -1;
	if (xs->len < XFEATURES + 64)
		return 0;
	return MSG_PART(&m->msgs, info->fpregs, xsave) == NULL ? -1 :
	    xsave_set(m, info->fpregs->xsave, xs, lost);
}

/*
 * Set the registers in core to those of amd64 thread t of process p. regs has
 * its general registers. See makeregs_get() for rseq and the return value.
 */
int
makeregs_amd64(struct criumake *m, struct maketask *p, struct maketask *t,
    const struct recfile *regs, const uint64_t *rseq, Criu__Core *core)
{
	struct recfile fp, xs;
	uint64_t r[GPREGS] = { 0 }, lost = 0;
	size_t i;

	if (regs->len == GPREGS * 8)
		for (i = 0; i < GPREGS; i++)
			r[i] = num_get(regs->data + i * 8, 8);
	if (regs->len != GPREGS * 8 || r[R_CS] != CS64)
		return make_never(m, t, "not a 64-bit x86 process: cannot be "
		    "restored");
	linuxrec_find(&t->rec, "regset/fpregs", &fp);
	linuxrec_find(&t->rec, "regset/xstate", &xs);
	if (fp.len < FXSAVE && xs.len < FXSAVE)
		return make_never(m, t, "its floating point registers are not "
		    "in the snapshot");
	for (i = R_DS; i <= R_GS; i++)
		if (r[i] & LDT)
			return make_never(m, t, "it uses its local descriptor "
			    "table (modify_ldt(2)), which criu does not "
			    "restore: cannot be restored");
	restart(r);
	makeregs_abort(p->proc->mem, rseq, &r[R_IP]);
	if (regs_set(m, core, r, &fp, &xs, &lost) == -1)
		return -1;
	return lost == 0 ? 1 : make_never(m, t, "registers of %s (xstate %"
	    PRIx64 ") are in use, which criu does not restore: cannot be "
	    "restored", lost >> TILECFG & 3 ? "AMX" : lost >> APX & 1 ? "APX" :
	    "a kind", lost);
}
