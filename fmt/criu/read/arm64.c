/*
 * Convert the registers of an arm64 thread from its core image to the register
 * sets of ptrace(2): asm/ptrace.h of the kernel. A set without a name in
 * snap-linux(6) is known by its number in linux/elf.h.
 *
 *	regset/prstatus	struct user_pt_regs
 *	regset/fpregs	struct user_fpsimd_state
 *	regset/401	tpidr_el0, NT_ARM_TLS
 *	regset/407	struct user_pac_address_keys, NT_ARM_PACA_KEYS
 *	regset/408	struct user_pac_generic_keys, NT_ARM_PACG_KEYS
 *	regset/40a	NT_ARM_PAC_ENABLED_KEYS
 */
#include "num.h"
#include "read.h"

enum { REGS = 31, VREGS = 64, FPSIMD = 528 };

static void
add_pac(struct filelist *rec, const Criu__PacKeys *k)
{
	uint64_t v[8];

	if (k->address != NULL) {
		filelist_nums(rec, "regset/407", v, msg_take(&k->address->base,
		    CRIU_PACA, v));
		filelist_nums(rec, "regset/40a", &k->address->pac_enabled_key,
		    1);
	}
	if (k->generic != NULL)
		filelist_nums(rec, "regset/408", v, msg_take(&k->generic->base,
		    CRIU_PACG, v));
}

/*
 * Append the registers in core to the record of thread t. Return 0, or -1 with
 * errstr set.
 */
int
criuregs_arm64(struct criutask *t, const Criu__Core *core)
{
	const Criu__ThreadInfoArm64 *info = core->ti_arm64;
	const Criu__Arm64Fpsimd *f;
	const Criu__Arm64Regs *g;
	uint64_t v[REGS + 3];
	uint8_t fp[FPSIMD] = { 0 };
	size_t i;

	if (info == NULL)
		return errstr_set("no registers");
	g = info->gpregs;
	f = info->fpsimd;
	if (g->n_regs != REGS)
		return errstr_set("regs: found %zu words, expected %d",
		    g->n_regs, REGS);
	if (f->n_vregs != VREGS)
		return errstr_set("vregs: found %zu words, expected %d",
		    f->n_vregs, VREGS);
	memcpy(v, g->regs, REGS * sizeof *v);
	(void)msg_take(&g->base, "sp pc pstate", v + REGS);
	filelist_nums(&t->rec, "regset/prstatus", v, REGS + 3);
	for (i = 0; i < VREGS; i++)
		num_put(fp + i * 8, f->vregs[i], 8);
	num_put(fp + VREGS * 8, f->fpsr, 4);
	num_put(fp + VREGS * 8 + 4, f->fpcr, 4);
	filelist_copy(&t->rec, "regset/fpregs", fp, sizeof fp);
	filelist_nums(&t->rec, "regset/401", &info->tls, 1);
	if (info->pac_keys != NULL)
		add_pac(&t->rec, info->pac_keys);
	t->state.stat.v[STAT_SP] = g->sp;
	t->state.stat.v[STAT_PC] = g->pc;
	return 0;
}
