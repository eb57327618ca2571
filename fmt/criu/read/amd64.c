/*
 * Convert the registers of an amd64 thread from its core image to the register
 * sets of ptrace(2).
 *
 *	regset/prstatus	struct user_regs_struct, or its 32-bit form
 *	regset/fpregs	0	FXSAVE: CRIU_FXSAVE; st at 32, xmm at 160
 *	regset/xstate	0	FXSAVE
 *			464	parts that the kernel saves
 *			512	xstate_bv
 *			576	upper halves of ymm
 */
#include "num.h"
#include "read.h"

enum {
	NGPREGS = 27,		/* maximum number of general registers */
	FXSAVE = 512,
	ST = 32, NST = 32,	/* offset of the ST registers in FXSAVE, and
				   number of their 32-bit words */
	XMM = 160, NXMM = 64,
	SOFTWARE = 464,
	XSTATE_BV = 512,
	YMMH = 576, NYMMH = 64,
	XSTATE = YMMH + 4 * NYMMH,
	X87_SSE = 3,		/* bits of XSTATE_BV for x87 and SSE */
	AVX = 4,
	COMPAT = 2		/* value of "mode" for a 32-bit thread */
};

/*
 * Append the general registers of g to rec, as regset/prstatus. names is the
 * list of their names. Each register takes width bytes.
 */
static void
add_gpregs(struct filelist *rec, const Criu__GpRegs *g, const char *names,
    size_t width)
{
	uint64_t v[NGPREGS];
	struct buf b = { 0 };
	size_t i, n;

	n = msg_take(&g->base, names, v);
	for (i = 0; i < n; i++)
		num_add(&b, v[i], width);
	filelist_buf(rec, "regset/prstatus", &b);
}

static int
put_words(uint8_t *p, const uint32_t *v, size_t n, size_t want,
    const char *name)
{
	size_t i;

	if (n != want)
		return errstr_set("%s: found %zu words, expected %zu", name,
		    n, want);
	for (i = 0; i < n; i++)
		num_put(p + 4 * i, v[i], 4);
	return 0;
}

static int
put_fxsave(uint8_t *b, const Criu__FpRegs *f)
{
	uint64_t v[sizeof CRIU_FXBYTES];
	size_t i, at, n, count;

	count = msg_take(&f->base, CRIU_FXSAVE, v);
	for (i = at = 0; i < count; i++, at += n) {
		n = (size_t)(CRIU_FXBYTES[i] - '0');
		num_put(b + at, v[i], n);
	}
	if (put_words(b + ST, f->st_space, f->n_st_space, NST,
	    "st_space") == -1)
		return -1;
	return put_words(b + XMM, f->xmm_space, f->n_xmm_space, NXMM,
	    "xmm_space");
}

/*
 * Append regset/xstate to rec. b already has the part with x87 and SSE
 * registers (FXSAVE). x has the other parts. If x lacks the array for a part,
 * the thread never used that part's registers.
 */
static int
add_xstate(struct filelist *rec, uint8_t *b, const Criu__Xsave *x)
{
	uint64_t bv;

	bv = X87_SSE;
	if (x->n_ymmh_space > 0) {
		if (put_words(b + YMMH, x->ymmh_space, x->n_ymmh_space, NYMMH,
		    "ymmh_space") == -1)
			return -1;
		bv |= x->xstate_bv & AVX;
	}
	num_put(b + SOFTWARE, X87_SSE | AVX, 8);
	num_put(b + XSTATE_BV, bv, 8);
	filelist_copy(rec, "regset/xstate", b, XSTATE);
	return 0;
}

/*
 * Append the registers in core to the record of thread task. Return 0, or -1
 * with errstr set.
 */
int
criuregs_amd64(struct criutask *task, const Criu__Core *core)
{
	const Criu__ThreadInfoX86 *t = core->thread_info;
	struct filelist *rec = &task->rec;
	uint8_t b[XSTATE] = { 0 };
	const Criu__GpRegs *g;
	bool compat;

	if (t == NULL)
		return errstr_set("no registers");
	g = t->gpregs;
	task->state.stat.v[STAT_SP] = g->sp;
	task->state.stat.v[STAT_PC] = g->ip;
	compat = g->has_mode && g->mode == COMPAT;
	add_gpregs(rec, g, compat ? CRIU_GPREGS32 : CRIU_GPREGS,
	    compat ? 4 : 8);
	if (put_fxsave(b, t->fpregs) == -1)
		return -1;
	if (!compat)	/* for a 32-bit thread, ptrace(2) uses the FSAVE
			   layout */
		filelist_copy(rec, "regset/fpregs", b, FXSAVE);
	return t->fpregs->xsave == NULL ? 0 :
	    add_xstate(rec, b, t->fpregs->xsave);
}
