/*
 * Find the machine of a core; only machines whose registers are known can be
 * read.
 */
#include "read.h"
#include "bisect.h"

#include <elf.h>

/* machines whose cores are recognized but cannot be read: elf.h */
static const struct other {
	uint16_t	 machine;
	const char	*name;
} others[] = {
	{ EM_PPC, "PowerPC" }, { EM_PPC64, "64-bit PowerPC" },
	{ EM_MIPS, "MIPS" }, { EM_S390, "S/390" }, { EM_SPARC, "SPARC" },
	{ EM_SPARCV9, "64-bit SPARC" }, { EM_RISCV, "RISC-V" },
	{ EM_LOONGARCH, "LoongArch" }, { EM_IA_64, "IA-64" },
	{ EM_68K, "m68k" }, { EM_ALPHA, "Alpha" },
};

/*
 * Return the machine of a core with ELF header h. Return NULL with errstr set
 * if cores of that machine cannot be read.
 */
const struct machine *
coremach_find(const GElf_Ehdr *h)
{
	const struct machine *m;
	const struct other *o;
	bool big, wide;

	big = h->e_ident[EI_DATA] == ELFDATA2MSB;
	wide = h->e_ident[EI_CLASS] == ELFCLASS64;
	for (m = NULL; (m = machine_next(m)) != NULL;)
		if (h->e_machine == m->elf && m->regs != 0 && big == m->big &&
		    wide == (m->word == 8))
			return m;
	for (m = NULL; (m = machine_next(m)) != NULL;)
		if (h->e_machine == m->elf && m->regs != 0) {
			errstr_set("cannot read a core from %s: %s", m->name,
			    big ? "big-endian" : "unsupported ELF class");
			return NULL;
		}
	if ((o = SEEK_IN(others, x->machine == h->e_machine)) != NULL)
		errstr_set("cannot read a core from %s", o->name);
	else
		errstr_set("cannot read a core from machine %u",
		    h->e_machine);
	return NULL;
}
