/*
 * Declarations shared by the files of arm64.
 */
#ifndef ARM64_H
#define ARM64_H

#include "linux/machine/machine.h"

enum {				/* indices into gregs.word; those up to PSTATE
				   are as in struct user_pt_regs of
				   arch/arm64/include/uapi/asm/ptrace.h */
	X0 = 0,
	X8 = 8,			/* register with the system call number */
	X30 = 30,		/* register with the return address */
	SP = 31,
	PC = 32,
	PSTATE = 33,
	NPRSTATUS = 34,
	TLS = 34, /* this and the following words are from other register
		     sets */
	NUMBER = 35, /* number of the current system call; -1: none */
	WIDE = 36		/* 1 for a 64-bit process, 0 for a 32-bit one */
};

enum {				/* NT_ARM_ numbers, as in <elf.h>, which may
				   lack the newer ones */
	NOTE_VFP = 0x400,
	NOTE_TLS = 0x401,
	NOTE_SYSTEM_CALL = 0x404,
	NOTE_SVE = 0x405,
	NOTE_PAC_MASK = 0x406,
	NOTE_PACA_KEYS = 0x407,
	NOTE_PACG_KEYS = 0x408,
	NOTE_TAGGED_ADDR = 0x409,
	NOTE_PAC_ENABLED = 0x40a,
	NOTE_SSVE = 0x40b,
	NOTE_ZA = 0x40c,
	NOTE_ZT = 0x40d,
	NOTE_FPMR = 0x40e,
	NOTE_POE = 0x40f,
	NOTE_GCS = 0x410
};

enum {				/* machine code of instructions */
	SVC = (int)0xd4000001U,
	RET = (int)0xd65f03c0U,
	MOV_X8 = (int)0xd2800008U, /* add the number to load, shifted left by
				      5 */
	BYTES = 4		/* length of every instruction */
};

enum {				/* sizes in bytes */
	MAX_VECTOR = 256,	/* maximum size of an SVE vector */
	/* maximum size of NT_ARM_SVE: 32 vectors, and 17 predicates of an
	   eighth of their size */
	MAX_VECTORS = 16 + MAX_VECTOR * 35,
	HEADER = 16,		/* size of the header of NT_ARM_SVE */
	STAGE_SIZE = 1152,	/* size of a stage; see frame.c */
	FRAME_SIZE = STAGE_SIZE + STAGE_SIZE + MAX_VECTORS
};

/* regs.c: register sets and instructions of a thread */
ssize_t		 note_read(pid_t tid, unsigned int note, void *buf,
		    size_t len);
int		 note_write(pid_t tid, unsigned int note, const void *buf,
		    size_t len);
uint32_t	 code_at(pid_t tid, uint64_t at);

/* call.c: calls that time out, and SVE vectors */
bool		 call_waits(uint64_t nr);
size_t		 vectors_read(pid_t tid, uint8_t *buf, size_t len);

#endif
