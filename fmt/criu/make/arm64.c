/*
 * The registers of a thread of arm64, as core-N.img has them: asm/ptrace.h of
 * the kernel.  A system call that the stop interrupted is about to begin anew
 * already: do_signal of arch/arm64/kernel/signal.c sets pc and x0 for that
 * before a tracer sees them.
 *
 * So a call that waits for a time is made again for all of it, if x8 has its
 * number: nothing tells whether it had begun, and who sleeps must expect to
 * sleep longer.  Where x8 has restart_syscall(2), as in a thread that was
 * stopped before, what was to be repeated is not in its registers, and the new
 * process has nothing to go on with: that call fails with EINTR by itself, as
 * both do on amd64.
 */
#include "criumake.h"
#include "num.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REGS = 31, GPREGS = REGS + 3, R_PC = REGS + 1, VREGS = 64,
    FPSIMD = 528 };

struct arm64regs {
	struct makeregs	 regs;	/* the first member */
	Criu__ThreadInfoArm64 info;
	Criu__Arm64Regs	 gp;
	Criu__Arm64Fpsimd fp;
	Criu__PacKeys	 pac;
	Criu__PacAddressKeys address;
	Criu__PacGenericKeys generic;
	uint64_t	 r[GPREGS];
	uint64_t	 v[VREGS];
};

/*
 * Set to, n long words, to the first ones of a register set of t, as later
 * kernels have more in some.  Return false if it has none, or a smaller one.
 */
static bool
set_get(const struct maketask *t, const char *name, uint64_t *to, size_t n)
{
	struct recfile f;
	size_t i;

	if (!linuxrec_find(&t->rec, name, &f) || f.len < n * 8)
		return false;
	for (i = 0; i < n; i++)
		to[i] = num_get(f.data + i * 8, 8);
	return true;
}

/*
 * Return whether a set of vector registers, which begins with struct
 * user_sve_header, has more than those of floating point: SVE_PT_REGS_SVE is
 * in its flags then.
 */
static bool
has_sve(const struct maketask *t, const char *name)
{
	enum { FLAGS = 12, HEADER = 16, REGS_SVE = 1 };
	struct recfile f;

	return linuxrec_find(&t->rec, name, &f) && f.len >= HEADER &&
	    (num_get(f.data + FLAGS, 2) & REGS_SVE) != 0;
}

/*
 * Return what a thread uses that criu does not restore; NULL if nothing: the
 * vectors of SVE, also those of streaming mode, and the matrix of SME, of
 * which the set is a header alone where it is not in use.
 */
static const char *
uses_more(const struct maketask *t)
{
	enum { HEADER = 16 };
	struct recfile f;

	if (has_sve(t, "regset/405"))
		return "SVE";
	if (has_sve(t, "regset/40b") ||
	    (linuxrec_find(&t->rec, "regset/40c", &f) && f.len > HEADER))
		return "SME";
	return NULL;
}

/*
 * Set the keys of pointer authentication, which a thread has where its machine
 * can do that.  Before Linux 5.13 nothing told which are enabled: all were.
 */
static void
pac_set(struct criumake *m, struct arm64regs *g, const struct maketask *t)
{
	enum { ALL = 0xf };	/* PR_PAC_APIAKEY to PR_PAC_APDBKEY */
	Criu__PacAddressKeys *a = &g->address;
	uint64_t key[8], on, generic[2];

	criu__pac_keys__init(&g->pac);
	criu__pac_address_keys__init(a);
	criu__pac_generic_keys__init(&g->generic);
	if (set_get(t, "regset/407", key, 8)) {
		if (!set_get(t, "regset/40a", &on, 1))
			on = ALL;
		a->apiakey_lo = key[0];
		a->apiakey_hi = key[1];
		a->apibkey_lo = key[2];
		a->apibkey_hi = key[3];
		a->apdakey_lo = key[4];
		a->apdakey_hi = key[5];
		a->apdbkey_lo = key[6];
		a->apdbkey_hi = key[7];
		a->pac_enabled_key = on;
		g->pac.address = a;
	}
	if (set_get(t, "regset/408", generic, 2)) {
		g->generic.apgakey_lo = generic[0];
		g->generic.apgakey_hi = generic[1];
		g->pac.generic = &g->generic;
	}
	if (g->pac.address == NULL && g->pac.generic == NULL)
		return;
	g->info.pac_keys = &g->pac;
	make_since(m, SINCE_PAC);
}

/*
 * Put registers into a core: put of struct makeregs.
 */
static void
arm64_put(Criu__Core *core, struct makeregs *regs, uint64_t cleartid)
{
	struct arm64regs *g = (struct arm64regs *)regs;

	g->info.clear_tid_addr = cleartid;
	core->ti_arm64 = &g->info;
}

/*
 * Fill in g from its words, and the status and control of floating point.
 */
static void
regs_set(struct arm64regs *g, const uint8_t *control)
{
	criu__arm64_regs__init(&g->gp);
	criu__arm64_fpsimd__init(&g->fp);
	g->gp.regs = g->r;
	g->gp.n_regs = REGS;
	g->gp.sp = g->r[REGS];
	g->gp.pc = g->r[R_PC];
	g->gp.pstate = g->r[R_PC + 1];
	g->fp.vregs = g->v;
	g->fp.n_vregs = VREGS;
	g->fp.fpsr = (uint32_t)num_get(control, 4);
	g->fp.fpcr = (uint32_t)num_get(control + 4, 4);
	g->info.gpregs = &g->gp;
	g->info.fpsimd = &g->fp;
	g->regs.put = arm64_put;
}

/*
 * Do what makeregs_get does for thread t of process p, of arm64, whose general
 * registers are *regs, with rseq, into *out.  Return as that.
 */
int
makeregs_arm64(struct criumake *m, struct maketask *p, struct maketask *t,
    const struct recfile *regs, const uint64_t *rseq, struct makeregs **out)
{
	struct arm64regs *g;
	const char *more;
	struct recfile fp;
	uint64_t tls;
	size_t i;

	if (regs->len != GPREGS * 8)
		return make_never(m, "process %" PRIu64 ": not of 64 bits: "
		    "cannot be restored", t->proc->pid);
	if (!linuxrec_find(&t->rec, "regset/fpregs", &fp) || fp.len != FPSIMD)
		return make_never(m, "process %" PRIu64 ": its floating point "
		    "registers are not in the snapshot", t->proc->pid);
	if (!set_get(t, "regset/401", &tls, 1))
		return make_never(m, "process %" PRIu64 ": its thread pointer "
		    "is not in the snapshot", t->proc->pid);
	if ((more = uses_more(t)) != NULL)
		return make_never(m, "process %" PRIu64 ": it is using %s "
		    "registers, which criu does not restore", t->proc->pid,
		    more);
	if ((g = calloc(1, sizeof *g)) == NULL)
		return errstr_set("out of memory");
	criu__thread_info_arm64__init(&g->info);
	for (i = 0; i < GPREGS; i++)
		g->r[i] = num_get(regs->data + i * 8, 8);
	for (i = 0; i < VREGS; i++)
		g->v[i] = num_get(fp.data + i * 8, 8);
	makeregs_abort(p->proc->mem, rseq, &g->r[R_PC]);
	regs_set(g, fp.data + VREGS * 8);
	g->info.tls = tls;
	pac_set(m, g, t);
	*out = &g->regs;
	return 1;
}
