/*
 * The machines that a snapshot may come from. Readers and writers choose by
 * the machine of the snapshot, at run time; capturing always concerns the
 * machine we run on: linux/machine/machine.h.
 */
#ifndef LIBMACHINE_H
#define LIBMACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes of the largest page of any machine */
enum { MAX_MACHINE_PAGE = 64 * 1024 };

struct machine {
	const char	*name;	/* name of the machine in Plan 9, or in uname(2)
				   if Plan 9 has none */
	uint16_t	 elf;	/* e_machine of elf(5); 0: none */
	uint8_t		 word;	/* size of a long, in bytes: 4 or 8 */
	bool		 big;	/* the machine is big-endian */
	uint32_t	 pages;	/* bitwise OR of all possible page sizes */
	const char	*narrow; /* machine name for its 32-bit processes, or
				    NULL */

	/* The next three describe the general registers of a core
	   (elf_gregset_t), as in NT_PRSTATUS; if regs is 0 they are unknown. */
	uint16_t	 regs;	/* size of the general registers, in bytes */
	uint16_t	 pc;	/* offset of the program counter in the
				   registers */
	uint16_t	 sp; /* offset of the stack pointer in the registers */
	uint16_t	 fpregs; /* size of elf_fpregset_t, in bytes */
	uint16_t	 ureg;	/* size of Plan 9's Ureg, in bytes */
};

/* machine.c */
const struct machine *machine_next(const struct machine *m);
const struct machine *machine_named(const char *name);
const struct machine *machine_here(void);
uint32_t	 machine_audit(const struct machine *m);
uint64_t	 machine_page(const struct machine *m, uint64_t recorded);
uint64_t	 machine_get(const struct machine *m, const void *p, size_t n);

/* state/auxv.c: entries of an auxiliary vector, and the size of its words */
uint64_t	 auxv_get(const struct machine *m, const void *auxv, size_t len,
		    size_t word, uint64_t type);
size_t		 auxv_word(const struct machine *m, const void *auxv,
		    size_t len);

#endif
