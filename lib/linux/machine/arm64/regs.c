/*
 * Read and write registers of arm64 with PTRACE_GETREGSET; it has no
 * PTRACE_GETREGS.
 */
#include "arm64.h"

#ifdef __aarch64__

#include <sys/ptrace.h>

#include <elf.h>
#include <errno.h>
#include <string.h>

/*
 * Read a register set of thread tid into buf, which has room for len bytes.
 * note is the NT_ number of the set. Return the number of bytes read, or -1
 * with errno set.
 */
ssize_t
note_read(pid_t tid, unsigned int note, void *buf, size_t len)
{
	struct iovec iov = { buf, len };

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)note, &iov) ==
	    -1 ? -1 : (ssize_t)iov.iov_len;
}

/*
 * Write the len bytes at buf to a register set of thread tid. note is the NT_
 * number of the set. Return 0, or -1 with errno set.
 */
int
note_write(pid_t tid, unsigned int note, const void *buf, size_t len)
{
	struct iovec iov;

	memcpy(&iov.iov_base, &buf, sizeof buf);
	iov.iov_len = len;
	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)note, &iov) ==
	    -1 ? -1 : 0;
}

/*
 * Return the instruction of thread tid at the given address. Return 0, which is
 * not an instruction, if the address is not aligned or cannot be read. Only the
 * aligned 8 bytes that contain the instruction are read, because the next 4
 * bytes may not be mapped.
 */
uint32_t
code_at(pid_t tid, uint64_t at)
{
	uint64_t w;

	errno = 0;
	w = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid,
	    (void *)(uintptr_t)(at & ~UINT64_C(7)), NULL);
	if (errno != 0 || at % BYTES != 0)
		return 0;
	return (uint32_t)(w >> at % 8 * 8);
}

int
gregs_read(pid_t tid, struct gregs *r)
{
	ssize_t len;
	int32_t nr;

	memset(r, 0, sizeof *r);
	if ((len = note_read(tid, NT_PRSTATUS, r->word, NPRSTATUS * 8)) == -1)
		return -1;
	/* a 32-bit process has other register sets; their length differs */
	r->word[WIDE] = len == NPRSTATUS * 8;
	r->word[NUMBER] = UINT64_MAX;
	if (r->word[WIDE] == 0)
		return 0;
	if (note_read(tid, NOTE_TLS, &r->word[TLS], 8) == -1 ||
	    note_read(tid, NOTE_SYSTEM_CALL, &nr, sizeof nr) == -1)
		return -1;
	r->word[NUMBER] = (uint64_t)nr;
	return 0;
}

/*
 * Write the registers *r to thread tid. Also write the number of the system
 * call that the thread is in, or -1. The number is first: if we die in between,
 * a thread at the entry of call_back() makes the new call, whose arguments it
 * has already. Return 0, or -1 with errno set.
 */
int
gregs_write(pid_t tid, const struct gregs *r)
{
	const int32_t nr = (int32_t)r->word[NUMBER];

	return note_write(tid, NOTE_SYSTEM_CALL, &nr, sizeof nr) == -1 ? -1 :
	    note_write(tid, NT_PRSTATUS, r->word, NPRSTATUS * 8);
}

uint64_t
gregs_pc(const struct gregs *r)
{
	return r->word[PC];
}

/*
 * Set the address of the next instruction in *r to pc. Also clear BTYPE, so
 * that branch target identification does not reject the jump to pc.
 */
void
gregs_jump(struct gregs *r, uint64_t pc)
{
	enum { BTYPE = 3 << 10 };

	r->word[PC] = pc;
	r->word[PSTATE] &= ~(uint64_t)BTYPE;
}

/*
 * Return the stack pointer in *r without its tag, the highest byte.
 */
uint64_t
gregs_sp(const struct gregs *r)
{
	return r->word[SP] & (UINT64_MAX >> 8);
}

#endif
