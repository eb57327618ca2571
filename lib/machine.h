/*
 * The machines that a snapshot may be of.  Who reads or writes one chooses by
 * the machine of the snapshot, when it runs; what takes one of a process is of
 * our own machine: linux/machine/machine.h.
 */
#ifndef LIBMACHINE_H
#define LIBMACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* how many bytes the largest page of any machine has */
enum { MAX_MACHINE_PAGE = 64 * 1024 };

struct machine {
	const char	*name;	/* in Plan 9's words; where it has none,
				   uname(2)'s */
	uint16_t	 elf;	/* e_machine of elf(5); 0: none */
	uint8_t		 word;	/* bytes of a long, 4 or 8 */
	bool		 big;	/* big-endian */
	uint32_t	 pages;	/* how many bytes a page may have: their sum */
	const char	*narrow; /* of its 32-bit processes; NULL: none */

	/* general registers of a core (elf_gregset_t), which are those of
	   NT_PRSTATUS; 0 bytes: not known here */
	uint16_t	 regs;	/* bytes of them */
	uint16_t	 pc;	/* where the program counter is, */
	uint16_t	 sp;	/* and the stack pointer */
	uint16_t	 fpregs; /* bytes of elf_fpregset_t */
	uint16_t	 ureg;	/* and of Plan 9's Ureg */
};

/* machine.c */
const struct machine *machine_next(const struct machine *m);
const struct machine *machine_named(const char *name);
const struct machine *machine_here(void);
uint32_t	 machine_audit(const struct machine *m);
uint64_t	 machine_page(const struct machine *m, uint64_t told);
uint64_t	 machine_get(const struct machine *m, const void *p, size_t n);

/* state/auxv.c: what the auxiliary vector of a process has, and how wide its
   words are */
uint64_t	 auxv_get(const struct machine *m, const void *auxv, size_t len,
		    size_t word, uint64_t type);
size_t		 auxv_word(const struct machine *m, const void *auxv,
		    size_t len);

#endif
