/*
 * Numbers and register sets of x86-64.
 */
#include "amd64.h"

#ifdef __x86_64__

#include <sys/syscall.h>

#include <elf.h>

#include <linux/audit.h>

static const struct regnote regset[] = {
	{ NT_PRSTATUS, "regset/prstatus", false, false },
	{ NT_PRFPREG, "regset/fpregs", false, false },
	{ NT_X86_XSTATE, "regset/xstate", false, false },
	{ 0, NULL, false, false }
};

const struct isa isa = {
	.injects = true,
	.faults = true,
	.audit = AUDIT_ARCH_X86_64,
	.call = 2,
	.redzone = 128,		/* see 3.2.2 of the System V ABI for AMD64 */
	.top = UINT64_C(1) << 47, /* only [vsyscall] is above this address */
	.mmap = SYS_mmap,
	.stage = STAGE_SIZE,
	.frame = FRAME_SIZE,
	.regset = regset,
};

#endif
