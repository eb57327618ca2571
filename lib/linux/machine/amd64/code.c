/*
 * Find the x86-64 instructions with which a process makes system calls for us.
 * The first sequence makes a call and returns:
 *
 *	syscall
 *	pop %rbx, xor %edx, %edx, add $8, %rsp ...	any number of these
 *	ret
 *
 * The second does rt_sigreturn(2). It is the code that signal handlers return
 * to, in the C library or the Go runtime. Alternatively, two instructions that
 * pop the number and return to the first sequence do:
 *
 *	mov $15, %eax			pop %rax
 *	syscall				ret
 */
#include "linux/machine/machine.h"

#ifdef __x86_64__

#include <string.h>

enum {
	CALL_LEN = 2,
	RET = 0xc3,
	POP = 0x58, /* opcode; the low three bits select the register */
	XOR = 0x31,
	RSP = 4
};

/*
 * Code sequences that do rt_sigreturn(2).
 */
static const struct {
	const char *bytes;
	size_t	 len;
	bool	 pops;
} back[] = {
	{ "\xb8\x0f\0\0\0\x0f\x05", 7, false },
	{ "\xc7\xc0\x0f\0\0\0\x0f\x05", 8, false },
	{ "\x58\xc3", 2, true },
};

/*
 * Return how many bytes the code at p pops from the stack before it returns.
 * Return -1 if the code may change anything except registers. All registers of
 * the thread will be restored, so changes to them do not matter.
 */
static int
code_skip(const uint8_t *p, const uint8_t *end)
{
	bool high;
	int skip;

	for (skip = 0; p < end && *p != RET;) {
		if (end - p >= 4 && memcmp(p, "\x48\x83\xc4", 3) == 0 &&
		    p[3] < 0x80 && p[3] % 8 == 0) { /* add $n, %rsp */
			skip += p[3];
			p += 4;
			continue;
		}
		/* with a prefix, the register is one of %r8 to %r15 */
		high = (*p & 0xf1) == 0x41;
		p += (*p & 0xf0) == 0x40;
		if (end - p >= 1 && (*p & 0xf8) == POP &&
		    (high || *p != POP + RSP)) {
			skip += 8;
			p++;
		} else if (end - p >= 2 && *p == XOR && p[1] >= 0xc0 &&
		    (high || (p[1] & 7) != RSP))
			p += 2;
		else
			return -1;
	}
	return p < end && skip <= MAX_SKIP ? skip : -1;
}

bool
gadgets_call(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	int skip;

	if (len <= CALL_LEN || memcmp(buf, "\x0f\x05", CALL_LEN) != 0 ||
	    (skip = code_skip(buf + CALL_LEN, buf + len)) == -1)
		return false;
	g->call = at;
	g->skip = (size_t)skip;
	return true;
}

bool
gadgets_back(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	size_t i;

	for (i = 0; i < sizeof back / sizeof *back; i++)
		if (len >= back[i].len &&
		    memcmp(buf, back[i].bytes, back[i].len) == 0) {
			g->back = at;
			g->pops = back[i].pops;
			return true;
		}
	return false;
}

void
gadgets_seek(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	size_t i;

	for (i = 0; i < len && (g->call == 0 || g->back == 0); i++)
		switch (buf[i]) {
		case 0x0f:
			if (g->call == 0)
				(void)gadgets_call(g, buf + i, len - i, at + i);
			break;
		case POP:
		case 0xb8:
		case 0xc7:
			if (g->back == 0)
				(void)gadgets_back(g, buf + i, len - i, at + i);
		}
}

#endif
