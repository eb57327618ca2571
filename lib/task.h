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

struct openfile {		/* a descriptor: proc_pid_fdinfo(5) */
	int		 fd;
	unsigned int	 flags;	/* O_ACCMODE and others */
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
	struct bytes	 reg[REGSET_MAX];
	struct vmas	 vma;	/* owned; of a process */
	struct openfile	*open;	/* owned; of a process */
	size_t		 nopen;
	char		*cwd;	/* owned; of a process, or NULL */
	struct bytes	 mounts; /* mountinfo */
	struct bytes	 maps;
	struct bytes	 smaps;
};

#endif
