/*
 * What Linux tells of a process, as plain structs without system calls, so
 * that formats can be written from them.
 */
#ifndef TASK_H
#define TASK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Mappings: state/maps.c
 */
enum vma_flag {
	VMA_READ = 1,
	VMA_WRITE = 2,
	VMA_EXEC = 4,
	VMA_SHARED = 8,
	VMA_MAPS = 15,		/* these, which maps tells */
	VMA_DEVICE = 16,	/* VM_IO or VM_PFNMAP: no memory behind it */
	VMA_GROWSDOWN = 32,
	VMA_UFFD = 64,		/* under userfaultfd(2) */
	VMA_DONTDUMP = 128,	/* MADV_DONTDUMP of madvise(2) */
	VMA_SMAPS = 240,	/* these, which smaps tells */
	VMA_ALONE = 256		/* no other maps a page that is there */
};

struct vma {			/* a mapping: proc_pid_maps(5) */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	uint64_t	 off;	/* in the file, bytes */
	uint64_t	 dev;	/* as makedev(3) gives it; 0: no file */
	uint64_t	 ino;
	unsigned int	 flags;	/* of enum vma_flag */
	char		*name;	/* owned; "" for none */
};

struct vmas {			/* the mappings of a process */
	struct vma	*v;	/* owned */
	size_t		 n;
};

void		 vma_perms(const struct vma *v, char perm[5]);
bool		 vma_ismade(const struct vma *v);
const struct vma *vmas_next(const struct vmas *l, uint64_t addr);
bool		 vma_isring(const struct vma *v);
const struct vma *vmas_find(const struct vmas *l, uint64_t addr);
void		 vmas_free(struct vmas *l);

struct openfile {		/* a descriptor: proc_pid_fdinfo(5) */
	int		 fd;
	unsigned int	 flags;	/* of open(2) */
	uint64_t	 pos;
	uint64_t	 dev;
	uint64_t	 ino;
	uint32_t	 blksize;
	bool		 dir;
	char		*path;	/* owned */
};

enum regset {			/* of ptrace(2), PTRACE_GETREGSET */
	REGSET_PRSTATUS,
	REGSET_FPREGS,
	REGSET_XSTATE,
	REGSET_MAX
};

struct bytes {
	uint8_t		*data;	/* owned; NULL: could not be had */
	size_t		 len;
};

struct task {			/* a process or a thread */
	pid_t		 tid;
	pid_t		 pid;	/* of the process it belongs to */
	pid_t		 ppid;
	pid_t		 pgrp;
	char		 comm[64];
	char		 user[64];
	char		 state;	/* as in proc_pid_stat(5), before we came */
	uint64_t	 utime;	/* these in milliseconds */
	uint64_t	 stime;
	uint64_t	 cutime;
	uint64_t	 cstime;
	uint64_t	 age;
	uint64_t	 memkb;	/* resident, in kilobytes */
	int		 nice;
	bool		 kernel; /* a thread of the kernel */
	bool		 exiting; /* it is on its way out */
	bool		 worker; /* the kernel's, in a process: io_uring(7) */
	struct bytes	 reg[REGSET_MAX]; /* borrowed */
	struct vmas	 vma;	/* owned; of a process */
	struct openfile	*open;	/* owned; of a process */
	size_t		 nopen;
	char		*cwd;	/* owned; of a process, or NULL */
	struct bytes	 mounts; /* borrowed; mountinfo */
	struct bytes	 maps;	/* owned, as this */
	struct bytes	 smaps;
};

#endif
