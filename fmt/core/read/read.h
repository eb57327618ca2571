/*
 * Shared by the files that read ELF cores:
 *
 *	parse.c	ELF file	-> struct elfcore
 *	maps.c	segments, names	-> mappings
 *	memory.c	segments	-> memory
 *	machine.c	machines whose cores can be read
 *	facts.c	notes		-> struct facts; warnings
 *	task.c	facts		-> small files and the Linux record
 *	files.c	mapped files of this machine	-> text, embedded files
 *	read.c	calls all the others
 */
#ifndef COREREAD_H
#define COREREAD_H

#include "io/io.h"
#include "machine.h"
#include "num.h"
#include "space.h"
#include "state/state.h"

#include <gelf.h>

struct coreseg { /* a PT_LOAD segment, or a range that only NT_FILE lists */
	uint64_t	 addr;
	uint64_t	 len;	/* length in bytes: the larger of p_memsz and
				   p_filesz */
	uint64_t	 off;
	uint64_t	 there;	/* number of bytes present in the file */
	uint64_t	 claim;	/* p_filesz */
	uint32_t	 flags;	/* bits PF_R, PF_W and PF_X */
	bool		 bare;	/* only NT_FILE lists the range */
};

struct corenote {
	uint32_t	 type;
	const uint8_t	*data;	/* borrowed from libelf */
	size_t		 len;
};

enum { CORE_SETS = 24 }; /* maximum number of register sets of a thread */

struct corethread {
	const uint8_t	*status; /* borrowed; NT_PRSTATUS */
	const uint8_t	*siginfo; /* borrowed; 128 bytes of siginfo_t, or
				     NULL */
	struct corenote	 set[CORE_SETS];
	size_t		 nset;
};

struct elfcore {
	Elf		*elf;	/* owned */
	const struct machine *mach;
	uint64_t	 size;	/* file size in bytes */
	struct coreseg	*load;	/* owned; sorted by address, without overlaps */
	size_t		 nload;
	struct corethread *thread; /* owned */
	size_t		 nthread;
	const uint8_t	*psinfo; /* borrowed; NT_PRPSINFO, or NULL */
	int		 pid;
	unsigned int	 uid;	/* user ID of the process */
	unsigned int	 gid;
	struct corenote	 auxv;
	struct corenote	 files;	/* NT_FILE */
	uint64_t	 notes;	/* size of all notes in bytes */
	size_t		 ncut;	/* number of segments that extend past the end
				   of the file */
	bool		 cutnotes;
};

struct facts {			/* facts about a thread from its notes */
	const struct corethread *th; /* borrowed; NULL: the thread had ended */
	struct task	 task;	/* all its pointers are borrowed */
	struct taskstate st;	/* facts for which struct task has no member */
};

struct mapped {			/* a file that was mapped */
	const char	*name;	/* borrowed from a mapping */
	uint64_t	 addr;	/* address at which the first byte of the
				   file is mapped */
	struct source	*src;	/* borrowed; the same file on this machine,
				   or NULL */
};

struct corereader {
	struct snap	*snap;
	const struct readopts *opts;
	const char	*name;	/* borrowed; name of the core */
	struct source	*src;	/* borrowed; source of the core */
	struct elfcore	 core;
	struct vmas	 vma;	/* owned */
	struct vmas	 files;	/* owned; mappings listed in NT_FILE */
	uint64_t	 stack;	/* an address in the stack */
	uint64_t	 vdso;	/* address of the vdso, or 0 */
	uint64_t	 page;	/* page size in bytes */
	struct mapped	*mapped; /* owned; sorted by name */
	size_t		 nmapped;
	uint8_t		*head;	/* owned; first nhead bytes of headsrc */
	size_t		 nhead;
	struct source	*headsrc; /* borrowed */
	struct source	*text;	/* borrowed; the executable, or NULL */
	const char	*exe;	/* borrowed; path of the executable, or NULL */
	struct proc	*proc;
	size_t		 nthread; /* number of threads in the process, including
				     a leader that had ended */
	uint64_t	 vmbytes; /* size of all mappings in bytes */
	uint64_t	 membytes; /* size of the captured memory in bytes */
	uint64_t	 spare;	/* next ID for a process or thread whose own ID
				   is taken; 0: no such ID has been given yet */
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
