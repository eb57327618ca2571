/*
 * Shared by the files that write an ELF core (layout.c, load.c, note.c,
 * thread.c, arch.c) or a minidump (minidump.h).
 */
#ifndef CORE_WRITE_H
#define CORE_WRITE_H

#include "elf/elf.h"
#include "machine.h"
#include "num.h"
#include "state/state.h"

enum { SIGINFO = 128 };		/* size of a siginfo_t in bytes */

enum { GP_MAX = 272, FP_MAX = 528, FXSAVE = 512, AVX = 832, PKRU = 2696 };

struct coreregs {		/* registers of a thread, in the layout of a
				   core */
	uint8_t		 gp[GP_MAX];
	size_t		 ngp; /* size of gp in bytes; 0: no general registers */
	uint8_t		 fp[FP_MAX];
	size_t		 nfp;
	uint8_t		 xfp[FXSAVE]; /* FXSAVE area of a 386 core */
	size_t		 nxfp;
	uint8_t		 xsave[PKRU]; /* "x" points here if the XSAVE area was
					 converted */
	const uint8_t	*x;	/* XSAVE area; borrowed, or in "xsave" */
	size_t		 nx;
};

int		 corearch_find(const struct snap *s, const struct proc *p,
		    const struct taskstate *st, const struct machine **a);
bool		 corearch_regs(const struct machine *a, const struct proc *p,
		    const struct taskstate *st, struct coreregs *r);

struct corethreads {		/* a process's threads that have registers */
	struct proc	**p;	/* owned; in the order in which they appear in
				   the core */
	size_t		 n;
	size_t		 left;	/* number of live threads without registers */
	const struct machine *arch;
	uint64_t	 page;	/* page size in bytes */
};

const uint8_t	*state_signal(const struct taskstate *st);

int		 corethreads_find(struct corethreads *, struct snap *,
		    struct proc *);
int		 corenote_add(struct buf *b, const struct corethreads *t,
		    struct proc *p, const struct vmas *v);

struct coreload {		/* a PT_LOAD segment to be written */
	uint64_t	 addr;
	uint64_t	 memsz;
	uint64_t	 filesz; /* number of bytes in the file; 0: none */
	uint64_t	 off;
	unsigned int	 flags;	/* flags of the mapping (enum vma_flag) */
};

struct corepart {		/* a contiguous range of captured memory */
	uint64_t	 addr;
	uint64_t	 len;
	uint64_t	 off;	/* offset in the core; until core_place() has
				   run, index of the PT_LOAD segment */
};

struct coreloads {
	struct coreload	*load;	/* owned; sorted by address */
	size_t		 nload;
	struct corepart	*part;	/* owned; sorted by address */
	size_t		 npart;
};

struct hole {			/* a range of zeros that need not be read */
	uint64_t	 start;
	uint64_t	 end;	/* first byte after the hole */
};

struct core {
	struct image	*mem;	/* borrowed from the process */
	struct buf	 head;	/* owned; all bytes of the core before the
				   memory */
	struct corepart	*part;	/* owned; sorted by offset */
	size_t		 npart;
	struct hole	*hole;	/* owned; sorted by offset */
	size_t		 nhole;
	uint64_t	 size;
	uint64_t	 page;	/* page size in bytes */
	size_t		 left;	/* number of live threads without registers */
};

/* load.c */
int		 coreloads_make(struct coreloads *, struct image *,
		    const struct vmas *);

/* layout.c */
typedef int	 core_layout_fn(struct core *c, const struct corethreads *t,
		    struct snap *s, struct proc *p, const struct vmas *v);

struct core	*core_build(struct snap *s, struct proc *p,
		    core_layout_fn *layout);

#endif
