/*
 * What the parts of the ELF core reader share.
 *
 *	parse.c	ELF file	-> struct elfcore
 *	maps.c	segments, names	-> mappings
 *	memory.c	segments	-> memory
 *	machine.c	the machines that we know
 *	facts.c	notes		-> struct facts
 *	task.c	facts		-> small files and the Linux record
 *	files.c	mapped files that are at hand: text, carried ones
 *	read.c	one after another, and warnings of what is missing
 */
#ifndef COREREAD_H
#define COREREAD_H

#include "io/io.h"
#include "machine.h"
#include "num.h"
#include "space.h"
#include "state/state.h"

#include <gelf.h>

struct coreseg {		/* a PT_LOAD */
	uint64_t	 addr;
	uint64_t	 len;	/* p_memsz, or p_filesz if that is more */
	uint64_t	 off;
	uint64_t	 there;	/* bytes of p_filesz that the file has */
	uint64_t	 claim;	/* p_filesz */
	uint32_t	 flags;	/* PF_* */
	bool		 bare;	/* none: NT_FILE alone tells of it */
};

struct corenote {
	uint32_t	 type;
	const uint8_t	*data;	/* borrowed from libelf, as all below */
	size_t		 len;
};

enum { CORE_SETS = 24 };	/* register sets of a thread, at most */

struct corethread {
	const uint8_t	*status; /* NT_PRSTATUS, of its full length */
	const uint8_t	*siginfo; /* 128 bytes, or NULL */
	struct corenote	 set[CORE_SETS];
	size_t		 nset;
};

struct elfcore {
	Elf		*elf;	/* owned */
	const struct machine *mach;
	uint64_t	 size;	/* of the file */
	struct coreseg	*load;	/* owned; ascending, without overlaps */
	size_t		 nload;
	struct corethread *thread; /* owned */
	size_t		 nthread;
	const uint8_t	*psinfo; /* NT_PRPSINFO, or NULL */
	int		 pid;
	unsigned int	 uid;	/* of who ran it */
	unsigned int	 gid;
	struct corenote	 auxv;
	struct corenote	 files;	/* NT_FILE */
	uint64_t	 notes;	/* bytes of them */
	size_t		 ncut;	/* segments that end behind the file */
	bool		 cutnotes;
};

struct facts {			/* of a thread, from its notes */
	const struct corethread *th; /* borrowed; NULL: it was gone */
	struct task	 task;	/* borrows all it has */
	struct taskstate st;	/* what task does not have */
};

struct mapped {			/* a file of which mappings are */
	const char	*name;	/* borrowed from a mapping */
	uint64_t	 addr;	/* where its first byte is mapped */
	struct source	*src;	/* the same file, at hand; or NULL */
};

struct corereader {
	struct snap	*snap;
	const struct readopts *opts;
	const char	*name;	/* borrowed; of the core */
	struct source	*src;	/* borrowed; the core */
	struct elfcore	 core;
	struct vmas	 vma;	/* owned */
	struct vmas	 files;	/* owned; of NT_FILE */
	uint64_t	 stack;	/* an address in it */
	uint64_t	 vdso;	/* where it begins, or 0 */
	uint64_t	 page;	/* bytes of one */
	struct mapped	*mapped; /* owned; by name */
	size_t		 nmapped;
	uint8_t		*head;	/* owned; of headsrc, what was read last */
	size_t		 nhead;
	struct source	*headsrc; /* borrowed */
	struct source	*text;	/* borrowed; the executable, or NULL */
	const char	*exe;	/* borrowed; its path, or NULL */
	struct proc	*proc;
	size_t		 nthread; /* threads of it, ended ones that lead too */
	uint64_t	 vmbytes; /* of its mappings */
	uint64_t	 membytes; /* of its memory */
	uint64_t	 spare;	/* the next number for who has none */
};

/* parse.c */
int		 elfcore_open(struct elfcore *, int, uint64_t);
void		 elfcore_close(struct elfcore *);
size_t		 elfcore_peek(const struct corereader *, uint64_t, uint8_t *,
		    size_t);
int		 elfcore_sort(struct elfcore *);

/* maps.c */
int		 core_maps(struct corereader *);

/* memory.c */
int		 core_memory(struct corereader *);

/* files.c */
int		 core_files(struct corereader *);
int		 core_text(struct corereader *);
int		 core_carry(struct corereader *);
struct source	*core_mapped(const struct corereader *, const char *);
void		 core_perms(struct corereader *, const struct coreseg *,
		    struct source *, uint64_t);

/* machine.c */
const struct machine *coremach_find(const GElf_Ehdr *);

/* facts.c */
void		 core_warn(struct corereader *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
size_t		 prstatus_regs(const struct machine *);
size_t		 prstatus_size(const struct machine *);
uint64_t	 elfcore_auxv(const struct elfcore *, uint64_t);
void		 elfcore_identify(struct elfcore *);
int		 corethread_pid(const struct elfcore *,
		    const struct corethread *);
const struct corethread *core_leader(const struct elfcore *);
void		 corefacts_find(const struct corereader *,
		    const struct corethread *, bool, struct facts *);

/* task.c */
int		 core_process(struct corereader *r);
int		 core_tasks(struct corereader *r);

struct snap	*core_load(struct input *, const struct readopts *);

#endif
