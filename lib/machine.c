/*
 * Table of machines. Names are from Plan 9's 2c(1) and mach(2), where spim is
 * the little-endian mips; numbers are from elf.h and from each machine's
 * asm/page.h, asm/elf.h and asm/ptrace.h in the kernel.
 */
#include "machine.h"
#include "bisect.h"
#include "num.h"

#include <elf.h>
#include <link.h>

#define K4	4096
#define K8	8192
#define K16	16384
#define K64	MAX_MACHINE_PAGE

static const struct machine machines[] = {
	{ "amd64", EM_X86_64, 8, false, K4, "386", 216, 128, 152, 512, 184 },
	{ "386", EM_386, 4, false, K4, NULL, 68, 48, 60, 108, 76 },
	{ "arm64", EM_AARCH64, 8, false, K4 | K16 | K64, "arm",
	    272, 256, 248, 528, 280 },
	{ "arm", EM_ARM, 4, false, K4, NULL, 72, 60, 52, 116, 72 },
	{ "riscv64", EM_RISCV, 8, false, K4, "riscv", 0, 0, 0, 0, 0 },
	{ "riscv", EM_RISCV, 4, false, K4, NULL, 0, 0, 0, 0, 0 },
	{ "ppc64le", EM_PPC64, 8, false, K4 | K64, NULL, 0, 0, 0, 0, 0 },
	{ "power64", EM_PPC64, 8, true, K4 | K64, "power", 0, 0, 0, 0, 0 },
	{ "power", EM_PPC, 4, true, K4 | K16 | K64, NULL, 0, 0, 0, 0, 0 },
	{ "s390x", EM_S390, 8, true, K4, "s390", 0, 0, 0, 0, 0 },
	{ "s390", EM_S390, 4, true, K4, NULL, 0, 0, 0, 0, 0 },
	{ "loongarch64", EM_LOONGARCH, 8, false,
	    K4 | K16 | K64, NULL, 0, 0, 0, 0, 0 },
	{ "mips64", EM_MIPS, 8, true, K4 | K8 | K16 | K64, "mips",
	    0, 0, 0, 0, 0 },
	{ "spim64", EM_MIPS, 8, false, K4 | K8 | K16 | K64, "spim",
	    0, 0, 0, 0, 0 },
	{ "mips", EM_MIPS, 4, true, K4 | K8 | K16 | K64, NULL, 0, 0, 0, 0, 0 },
	{ "spim", EM_MIPS, 4, false, K4 | K8 | K16 | K64, NULL, 0, 0, 0, 0, 0 },
	{ "sparc64", EM_SPARCV9, 8, true, K8, "sparc", 0, 0, 0, 0, 0 },
	{ "sparc", EM_SPARC, 4, true, K4, NULL, 0, 0, 0, 0, 0 },
	{ "alpha", EM_ALPHA, 8, false, K8, NULL, 0, 0, 0, 0, 0 },
	{ "68020", EM_68K, 4, true, K4 | K8, NULL, 0, 0, 0, 0, 0 },
	/* must be last: an unknown machine */
	{ "unknown", 0, 8, false, K4 | K8 | K16 | K64, NULL, 0, 0, 0, 0, 0 },
};

enum { NMACHINE = sizeof machines / sizeof *machines };

/*
 * Return the machine after m in the table, or the first if m is NULL. Return
 * NULL after the last machine, which is the unknown one.
 */
const struct machine *
machine_next(const struct machine *m)
{
	m = m == NULL ? machines : m + 1;
	return m == machines + NMACHINE ? NULL : m;
}

/*
 * Return the machine that has this name in Plan 9 and in the first line of a
 * snapshot. If there is none, return the unknown machine.
 */
const struct machine *
machine_named(const char *name)
{
	const struct machine *m = SEEK(machines, NMACHINE - 1,
	    strcmp(x->name, name) == 0);

	return m == NULL ? &machines[NMACHINE - 1] : m;
}

/*
 * Return the machine that this program was compiled for, or the unknown
 * machine. ld(1) defines __ehdr_start as the program's ELF header.
 */
const struct machine *
machine_here(void)
{
	extern const ElfW(Ehdr) __ehdr_start
	    __attribute__((visibility("hidden")));
	const struct machine *m;
	bool big;

	big = __ehdr_start.e_ident[EI_DATA] == ELFDATA2MSB;
	for (m = machines; m < machines + NMACHINE - 1; m++)
		if (m->elf == __ehdr_start.e_machine && m->big == big &&
		    m->word == sizeof(long))
			break;
	return m;
}

/*
 * Return the AUDIT_ARCH_ constant (linux/audit.h) of machine m, for audit(7)
 * and seccomp(2).
 */
uint32_t
machine_audit(const struct machine *m)
{
	return m->elf | (m->word == 8 ? UINT32_C(1) << 31 : 0) |
	    (m->big ? 0 : UINT32_C(1) << 30);
}

/*
 * Return the page size to use for a process of machine m. Return the recorded
 * size if m can have it. Otherwise, for example if it is 0, return the smallest
 * page size of m.
 */
uint64_t
machine_page(const struct machine *m, uint64_t recorded)
{
	if ((recorded & (recorded - 1)) == 0 && (recorded & m->pages) != 0)
		return recorded;
	return m->pages & ~(m->pages - 1);
}

/*
 * Return the number in the n bytes (at most 8) at p, in the byte order of
 * machine m.
 */
uint64_t
machine_get(const struct machine *m, const void *p, size_t n)
{
	return num_order(p, n, m->big);
}
