/*
 * The machines whose cores are read: elf.h, and the kernel's
 * asm/elf.h and asm/ptrace.h of each.
 */
#include "read.h"

#include <elf.h>

/* general registers: struct user_regs_struct, ptrace(2), of each */
static const struct coremach machines[] = {
	{ EM_X86_64, 8, "amd64", 216, 128, 152 },
	{ EM_386, 4, "386", 68, 48, 60 },
	{ EM_AARCH64, 8, "arm64", 272, 256, 248 },
	{ EM_ARM, 4, "arm", 72, 60, 52 },
};

/* machines that make cores, too: elf.h */
static const struct {
	uint16_t	 machine;
	const char	*name;
} others[] = {
	{ EM_PPC, "PowerPC" }, { EM_PPC64, "64-bit PowerPC" },
	{ EM_MIPS, "MIPS" }, { EM_S390, "S/390" }, { EM_SPARC, "SPARC" },
	{ EM_SPARCV9, "64-bit SPARC" }, { EM_RISCV, "RISC-V" },
	{ EM_LOONGARCH, "LoongArch" }, { EM_IA_64, "IA-64" },
	{ EM_68K, "m68k" }, { EM_ALPHA, "Alpha" },
};

#define NITEMS(v)	(sizeof(v) / sizeof *(v))

/*
 * The machine of a core.  NULL, and which it is, where that is none that
 * can be read.
 */
const struct coremach *
coremach_find(const GElf_Ehdr *h)
{
	bool little;
	size_t i;

	little = h->e_ident[EI_DATA] == ELFDATA2LSB;
	for (i = 0; i < NITEMS(machines); i++)
		if (h->e_machine == machines[i].machine && little &&
		    (h->e_ident[EI_CLASS] == ELFCLASS64) ==
		    (machines[i].wide == 8))
			return &machines[i];
	for (i = 0; i < NITEMS(machines); i++)
		if (h->e_machine == machines[i].machine) {
			errstr_set("a core of %s in its %s form cannot be "
			    "read", machines[i].cputype, little ? "other" :
			    "big-endian");
			return NULL;
		}
	for (i = 0; i < NITEMS(others); i++)
		if (h->e_machine == others[i].machine) {
			errstr_set("a core of %s cannot be read",
			    others[i].name);
			return NULL;
		}
	errstr_set("a core of machine %u cannot be read", h->e_machine);
	return NULL;
}
