/*
 * Find the arm64 instructions with which a process makes system calls for us.
 * The first sequence makes a call and returns:
 *
 *	svc #0
 *	cmn x0, #4095, mov w0, w1 ...	any number of harmless ones
 *	ret
 *
 * The second is the code that signal handlers return to, in the [vdso]:
 *
 *	mov x8, #139
 *	svc #0
 */
#include "arm64.h"

#ifdef __aarch64__

#include <sys/syscall.h>

#include <string.h>

static uint32_t
code_get(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/*
 * Return true if instruction i changes neither memory, nor control flow, nor
 * the return address in x30. The encodings are from the Arm Architecture
 * Reference Manual, C4.1.
 */
static bool
is_idle(uint32_t i)
{
	enum { NOP = (int)0xd503201fU };
	const uint32_t to = i & 31;

	if (i == (uint32_t)NOP)
		return true;
	/* compare with an immediate; the result is discarded */
	if ((i & 0x3f80001f) == 0x3100001f)
		return true;
	/* move a register, or conditionally select one of two */
	return ((i & 0x7fe0ffe0) == 0x2a0003e0 ||
	    (i & 0x3fe00000) == 0x1a800000) && to != X30;
}

bool
gadgets_call(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	size_t i;

	if (len < BYTES || at % BYTES != 0 || code_get(buf) != (uint32_t)SVC)
		return false;
	for (i = BYTES; i + BYTES <= len && i < MAX_CODE; i += BYTES) {
		if (code_get(buf + i) == (uint32_t)RET) {
			g->call = at;
			g->skip = 0;
			return true;
		}
		if (!is_idle(code_get(buf + i)))
			return false;
	}
	return false;
}

bool
gadgets_back(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	const uint32_t mov = (uint32_t)MOV_X8 | (uint32_t)SYS_rt_sigreturn << 5;

	if (len < (size_t)2 * BYTES || at % BYTES != 0 ||
	    code_get(buf) != mov || code_get(buf + BYTES) != (uint32_t)SVC)
		return false;
	g->back = at;
	g->pops = false;
	return true;
}

void
gadgets_seek(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	size_t i;

	for (i = 0; i + BYTES <= len && (g->call == 0 || g->back == 0);
	    i += BYTES) {
		if (g->call == 0)
			(void)gadgets_call(g, buf + i, len - i, at + i);
		if (g->back == 0)
			(void)gadgets_back(g, buf + i, len - i, at + i);
	}
}

#endif
