/*
 * Read the registers of a thread, which the snapshot has in the kernel's layout
 * (struct user_regs_struct of asm/ptrace.h and of sys/user.h), and number them
 * as DWARF does: the processor supplements of the System V ABI.
 */
#include "bisect.h"
#include "num.h"
#include "snapstack/snapstack.h"

#include <elf.h>

struct layout {
	uint16_t	 machine;
	const char	*cputype; /* Plan 9's name for the machine */
	unsigned int	 word;
	size_t		 bytes;
	unsigned int	 n;	/* number of registers known to DWARF */
	uint8_t		 at[REGS_MAX]; /* index of each register in the kernel's
					  layout, in words */
	unsigned int	 pc;	/* index of the program counter, in words */
	unsigned int	 sp;
	unsigned int	 spnum;	/* DWARF number of the stack pointer */
	int		 call;	/* index of the system call number, in words;
				   -1: the layout has none */
	uint8_t		 arg[6];
};

static const struct layout layouts[] = {
	{ EM_X86_64, "amd64", 8, 216, 17,
	    { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 },
	    16, 19, 7, 15, { 14, 13, 12, 7, 9, 8 } },
	{ EM_386, "386", 4, 68, 9, { 6, 1, 2, 0, 15, 5, 3, 4, 12 },
	    12, 15, 4, 11, { 0, 1, 2, 3, 4, 5 } },
	{ EM_AARCH64, "arm64", 8, 272, 32,
	    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
	    18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
	    32, 31, 31, -1, { 0 } },
	{ EM_ARM, "arm", 4, 72, 16,
	    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	    15, 13, 13, -1, { 0 } },
};

/*
 * Read the registers of a thread into r. cputype is Plan 9's name of the
 * machine. If the snapshot does not have the registers, set r->n to 0, and take
 * the machine from cputype and from word, the size of an address in bytes (0:
 * not known). If the layout is not known, set both to 0.
 */
void
registers_get(struct registers *r, struct proc *thread, const char *cputype,
    size_t word)
{
	const struct layout *l;
	struct recfile f;
	unsigned int i;
	bool known;

	memset(r, 0, sizeof *r);
	r->call = -1;
	known = linuxrec_find(proc_record(thread), "regset/prstatus", &f);
	/* a 64-bit machine, the row before, also runs 32-bit programs */
	l = SEEK_IN(layouts, (known ? x->bytes == f.len :
	    word == 0 || x->word == word) &&
	    (strcmp(cputype, x->cputype) == 0 || (x->word == 4 &&
	    strcmp(cputype, x[-1].cputype) == 0)));
	if (l == NULL)
		return;
	r->machine = l->machine;
	r->word = l->word;
	if (!known)
		return;
	for (i = 0; i < l->n; i++)
		r->v[i] = num_get(f.data + l->at[i] * l->word, l->word);
	r->n = l->n;
	r->pc = num_get(f.data + l->pc * l->word, l->word);
	r->sp = num_get(f.data + l->sp * l->word, l->word);
	r->spnum = l->spnum;
	if (l->call == -1)
		return;
	r->call = (int64_t)num_get(f.data + (size_t)l->call * l->word,
	    l->word);
	if (l->word == 4)
		r->call = (int32_t)r->call;
	for (i = 0; i < 6; i++)
		r->arg[i] = num_get(f.data + l->arg[i] * l->word, l->word);
}
