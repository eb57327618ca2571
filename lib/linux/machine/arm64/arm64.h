/*
 * What the files of arm64 share.
 */
#ifndef ARM64_H
#define ARM64_H

#include "linux/machine/machine.h"

enum {				/* words of struct gregs: struct user_pt_regs
				   of arch/arm64/include/uapi/asm/ptrace.h, */
	X0 = 0,
	X8 = 8,			/* the number of a system call */
	X30 = 30,		/* where a function returns to */
	SP = 31,
	PC = 32,
	PSTATE = 33,
	NPRSTATUS = 34,
	TLS = 34,		/* and what other register sets have: */
	NUMBER = 35,		/* of the call that it is in; -1: none */
	WIDE = 36		/* 1; 0: a 32-bit process */
};

enum {				/* of <elf.h>, as far as that has them */
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

enum {				/* instructions */
	SVC = (int)0xd4000001U,
	RET = (int)0xd65f03c0U,
	MOV_X8 = (int)0xd2800008U,	/* and what, from bit 5 on */
	BYTES = 4		/* of each */
};

enum {				/* bytes */
	MAX_VECTOR = 256,	/* of a vector of SVE */
	MAX_VECTORS = 16 + MAX_VECTOR * 35,	/* of NT_ARM_SVE: 32 vectors,
					   17 masks of an eighth of that */
	HEADER = 16,		/* what that begins with */
	STAGE_SIZE = 1152,	/* frame.c */
	FRAME_SIZE = STAGE_SIZE + STAGE_SIZE + MAX_VECTORS
};

/* regs.c */
ssize_t		 note_read(pid_t tid, unsigned int note, void *buf,
		    size_t len);
int		 note_write(pid_t tid, unsigned int note, const void *buf,
		    size_t len);
uint32_t	 code_at(pid_t tid, uint64_t at);

/* call.c */
bool		 call_waits(uint64_t nr);
size_t		 vectors_read(pid_t tid, uint8_t *buf, size_t len);

#endif
