/*
 * State of a Linux process or thread, as plain structs without system calls, so
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
	VMA_MAPS = 15,		/* all flags that the file "maps" shows */
	VMA_DEVICE = 16,	/* VM_IO or VM_PFNMAP: not backed by memory */
	VMA_GROWSDOWN = 32,
	VMA_UFFD = 64,		/* registered with userfaultfd(2) */
	VMA_DONTDUMP = 128,	/* MADV_DONTDUMP of madvise(2) */
	VMA_SMAPS = 240,	/* all flags that the file "smaps" shows */
	VMA_ALONE = 256 /* no present page is mapped by another process */
};

struct vma {			/* a mapping; see proc_pid_maps(5) */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	uint64_t	 off;	/* offset in the file, in bytes */
	uint64_t	 dev; /* device number as from makedev(3); 0: no file */
	uint64_t	 ino;
	unsigned int	 flags;	/* bits of enum vma_flag */
	char		*name;	/* owned; "": none */
};

struct vmas {			/* mappings of a process */
	struct vma	*v;	/* owned */
	size_t		 n;
};

unsigned int	 vma_flags(uint64_t prot, uint64_t flags);
void		 vma_perms(const struct vma *v, char perm[5]);
bool		 vma_ismade(const struct vma *v);
const struct vma *vmas_next(const struct vmas *l, uint64_t addr);
bool		 vma_isprivate(const struct vma *v);
bool		 vma_isring(const struct vma *v);
const struct vma *vmas_find(const struct vmas *l, uint64_t addr);
void		 vmas_free(struct vmas *l);

struct openfile {		/* an open descriptor; see proc_pid_fdinfo(5) */
	int		 fd;
	unsigned int	 flags;	/* flags of open(2) */
	uint64_t	 pos;
	uint64_t	 dev;
	uint64_t	 ino;
	uint32_t	 blksize;
	unsigned int	 mode;	/* st_mode of stat(2); 0: unknown */
	char		*path;	/* owned */
};

enum regset { /* register sets of PTRACE_GETREGSET; see ptrace(2) */
	REGSET_PRSTATUS,
	REGSET_FPREGS,
	REGSET_XSTATE,
	REGSET_MAX
};

struct bytes {
	uint8_t		*data;	/* owned; NULL: could not be read */
	size_t		 len;
};

struct task {			/* a process or thread */
	pid_t		 tid;
	pid_t		 pid;	/* process that the thread belongs to */
	pid_t		 ppid;
	pid_t		 pgrp;
	char		 comm[64];
	char		 user[64];
	char		 state;	/* state letter of proc_pid_stat(5) before
				   the stop */
	uint64_t	 utime;	/* this and the next members, up to age: times
				   in milliseconds */
	uint64_t	 stime;
	uint64_t	 cutime;
	uint64_t	 cstime;
	uint64_t	 age;
	uint64_t	 memkb;	/* resident memory in kilobytes */
	int		 nice;
	bool		 kernel; /* this is a kernel thread */
	bool		 exiting; /* the thread is exiting */
	bool		 worker; /* a kernel worker thread within a process; see
				    io_uring(7) */
	struct bytes	 reg[REGSET_MAX]; /* borrowed */
	struct vmas	 vma;	/* owned; empty for a thread */
	struct openfile	*open;	/* owned; NULL for a thread */
	size_t		 nopen;
	char		*cwd;	/* owned; NULL for a thread, or if unknown */
	struct bytes	 mounts; /* borrowed; text of mountinfo */
	struct bytes	 maps;	/* owned; text of maps */
	struct bytes	 smaps;
};

#endif
