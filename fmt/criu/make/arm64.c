/*
 * Fill in the registers of an arm64 thread for core-N.img; asm/ptrace.h of the
 * kernel has their layout. If the stop interrupted a system call, pc and x0
 * are already set to restart it: do_signal of arch/arm64/kernel/signal.c does
 * so before a tracer sees them.
 *
 * A call with a timeout therefore waits for the whole time again, if x8 has its
 * number: the registers do not show whether it had begun, and programs must
 * expect to sleep longer. If x8 has restart_syscall(2), as in a thread that
 * was stopped before, the kernel's restart block is needed, which the new
 * process lacks; so the call fails with EINTR, as on amd64.
 */
#include "criumake.h"
#include "num.h"

enum { REGS = 31, PC = REGS + 1, PSTATE, GPREGS, VREGS = 64, FPSIMD = 528 };

/*
 * Copy the first n 64-bit words of t's register set called name to out. Newer
 * kernels may append words to the set. Return false if the set is missing or
 * has fewer words.
 */
static bool
set_get(const struct maketask *t, const char *name, uint64_t *out, size_t n)
{
	struct recfile f;
	size_t i;

	if (!linuxrec_find(&t->rec, name, &f) || f.len < n * 8)
		return false;
	for (i = 0; i < n; i++)
		out[i] = num_get(f.data + i * 8, 8);
	return true;
}

/*
 * Return true if t's register set called name has vectors wider than the
 * floating-point registers. The set begins with struct user_sve_header, whose
 * flags then include SVE_PT_REGS_SVE.
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
 * Return the name of something that t uses but criu does not restore: the
 * registers of SVE or SME, or tagged addresses (PR_SET_TAGGED_ADDR_CTRL in
 * prctl(2)). Return NULL if t uses none of them. SME is in use if t has
 * streaming vectors, or if the register set of its matrix is longer than a
 * header.
 */
static const char *
uses_more(const struct maketask *t)
{
	enum { HEADER = 16 };
	struct recfile f;
	uint64_t tagged;

	if (has_sve(t, "regset/405"))
		return "SVE registers";
	if (has_sve(t, "regset/40b") ||
	    (linuxrec_find(&t->rec, "regset/40c", &f) && f.len > HEADER))
		return "SME registers";
	return set_get(t, "regset/409", &tagged, 1) && tagged != 0 ?
	    "tagged addresses" : NULL;
}

/*
 * Set the pointer authentication keys in info to those of t. Do nothing if the
 * machine does not support them. Linux before 5.13 enables all keys, and has no
 * register set that lists the enabled ones.
 */
static int
pac_set(struct criumake *m, Criu__ThreadInfoArm64 *info,
    const struct maketask *t)
{
	enum { ALL = 0xf };	/* bits PR_PAC_APIAKEY to PR_PAC_APDBKEY */
	uint64_t key[9], generic[2];
	bool address, also;

	address = set_get(t, "regset/407", key, 8);
	also = set_get(t, "regset/408", generic, 2);
	if (!address && !also)
		return 0;
	if (MSG_PART(&m->msgs, info, pac_keys) == NULL || (address &&
	    MSG_PART(&m->msgs, info->pac_keys, address) == NULL) || (also &&
	    MSG_PART(&m->msgs, info->pac_keys, generic) == NULL))
		return -1;
	if (!set_get(t, "regset/40a", &key[8], 1))
		key[8] = ALL;
	if (address)
		MSG_FILL(info->pac_keys->address, CRIU_PACA " pac_enabled_key",
		    key);
	if (also)
		MSG_FILL(info->pac_keys->generic, CRIU_PACG, generic);
	make_since(m, SINCE_PAC);
	return 0;
}

/*
 * Set the registers in core. gp has the general registers, fp the
 * floating-point registers, and pc is the program counter.
 */
static int
regs_set(struct criumake *m, Criu__Core *core, const uint8_t *gp,
    const uint8_t *fp, uint64_t pc)
{
	const uint8_t *control = fp + VREGS * 8;
	Criu__ThreadInfoArm64 *info;

	if ((info = MSG_PART(&m->msgs, core, ti_arm64)) == NULL ||
	    MSG_PART(&m->msgs, info, gpregs) == NULL ||
	    MSG_PART(&m->msgs, info, fpsimd) == NULL ||
	    MSG_BYTES(&m->msgs, info->gpregs, regs, gp, REGS) == -1 ||
	    MSG_BYTES(&m->msgs, info->fpsimd, vregs, fp, VREGS) == -1)
		return -1;
	MSG_FILL(info->gpregs, "sp pc pstate", ((uint64_t[]){
	    num_get(gp + REGS * 8, 8), pc, num_get(gp + PSTATE * 8, 8) }));
	MSG_FILL(info->fpsimd, "fpsr fpcr", ((uint64_t[]){
	    num_get(control, 4), num_get(control + 4, 4) }));
	return 0;
}

/*
 * Set the registers in core to those of arm64 thread t of process p. regs has
 * its general registers. See makeregs_get() for rseq and the return value.
 */
int
makeregs_arm64(struct criumake *m, struct maketask *p, struct maketask *t,
    const struct recfile *regs, const uint64_t *rseq, Criu__Core *core)
{
	const char *more;
	struct recfile fp;
	uint64_t tls, pc;

	if (regs->len != GPREGS * 8)
		return make_never(m, t, "not a 64-bit process: cannot be "
		    "restored");
	if (!linuxrec_find(&t->rec, "regset/fpregs", &fp) || fp.len != FPSIMD)
		return make_never(m, t, "its floating point registers are not "
		    "in the snapshot");
	if (!set_get(t, "regset/401", &tls, 1))
		return make_never(m, t, "its thread pointer is not in the "
		    "snapshot");
	if ((more = uses_more(t)) != NULL)
		return make_never(m, t, "it is using %s, which criu does not "
		    "restore", more);
	pc = num_get(regs->data + PC * 8, 8);
	makeregs_abort(p->proc->mem, rseq, &pc);
	if (regs_set(m, core, regs->data, fp.data, pc) == -1 ||
	    pac_set(m, core->ti_arm64, t) == -1)
		return -1;
	core->ti_arm64->tls = tls;
	return 1;
}
