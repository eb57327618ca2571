/*
 * Numbers and register sets of arm64.
 */
#include "arm64.h"

#ifdef __aarch64__

#include <sys/syscall.h>

#include <elf.h>

#include <linux/audit.h>

static const struct regnote regset[] = {
	{ NT_PRSTATUS, "regset/prstatus", false, false },
	{ NT_PRFPREG, "regset/fpregs", false, false },
	{ NOTE_VFP, "regset/400", true, false }, /* only 32-bit processes have
						    this set */
	{ NOTE_TLS, "regset/401", false, false },
	{ NOTE_SVE, "regset/405", true, true },
	{ NOTE_PAC_MASK, "regset/406", true, false },
	{ NOTE_PACA_KEYS, "regset/407", true, false },
	{ NOTE_PACG_KEYS, "regset/408", true, false },
	{ NOTE_TAGGED_ADDR, "regset/409", true, false },
	{ NOTE_PAC_ENABLED, "regset/40a", true, false },
	{ NOTE_SSVE, "regset/40b", true, true },
	{ NOTE_ZA, "regset/40c", true, true },
	{ NOTE_ZT, "regset/40d", true, false },
	{ NOTE_FPMR, "regset/40e", true, false },
	{ NOTE_POE, "regset/40f", true, false },
	{ NOTE_GCS, "regset/410", true, false },
	{ 0, NULL, false, false }
};

const struct isa isa = {
	.injects = true,
	.audit = AUDIT_ARCH_AARCH64,
	.call = BYTES,
	.redzone = 0,		/* see 6.4.5.1 of the AAPCS64 */
	/* with larger address spaces, only a mapping that asks for it is
	   above: Documentation/arch/arm64/memory.rst */
	.top = UINT64_C(1) << 48,
	.mmap = SYS_mmap,
	.stage = STAGE_SIZE,
	.frame = FRAME_SIZE,
	.regset = regset,
};

#endif
