/*
 * A process of Linux as a process of Plan 9, and its registers back.
 */
#ifndef PLAN9_H
#define PLAN9_H

#include "machine.h"
#include "snap.h"

/*
 * Registers that follow one another in a Ureg as they do in Linux's
 * elf_gregset_t.
 */
struct uregpart {
	uint16_t	 ureg;	/* byte offsets of the first */
	uint16_t	 linux;
	uint8_t		 width;	/* bytes of one */
	uint8_t		 n;
};

struct uregs {			/* Plan 9's registers of a machine */
	const struct uregpart *part;
	size_t		 npart;
	const struct uregpart *narrow; /* those of a 32-bit process there */
	size_t		 nnarrow;
	uint16_t	 orig;	/* where Linux has the number of the system
				   call, or -1; 0: nowhere */
	uint16_t	 type;	/* where a Ureg has the number of the trap, */
	uint8_t		 trap;	/* that of a system call; 0: not told */

	/* adds the floating point registers of t, if it has them */
	void		(*fpregs)(struct buf *b, const struct task *t);
};

/* amd64.c, 386.c, arm64.c, arm.c */
extern const struct uregs uregs_amd64, uregs_386, uregs_arm64, uregs_arm;

/* regs.c */
int		 plan9_fpregs(struct buf *b, const char *cputype,
		    const struct task *t);
void		 ureg_linux(const struct machine *m, const uint8_t *ureg,
		    uint8_t *gp);

#endif
