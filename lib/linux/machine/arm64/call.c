/*
 * Run a system call in a thread of arm64.
 */
#include "arm64.h"
#include "restart.h"

#ifdef __aarch64__

#include <sys/syscall.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {				/* header of NT_ARM_SVE and NT_ARM_SSVE:
				   struct user_sve_header of
				   arch/arm64/include/uapi/asm/ptrace.h */
	FLAGS = 12,		/* byte offset of the flags */
	FLAG_SVE = 1		/* flag: vectors follow the header */
};

/*
 * Return true if thread tid is in streaming mode. Outside of streaming mode,
 * NT_ARM_SSVE exists but has no vectors.
 */
static bool
is_streaming(pid_t tid)
{
	uint8_t header[HEADER];

	return note_read(tid, NOTE_SSVE, header, sizeof header) ==
	    sizeof header && (header[FLAGS] & FLAG_SVE) != 0;
}

/*
 * Return true if thread tid has an SME matrix. Without one, NT_ARM_ZA has only
 * a header.
 */
static bool
has_matrix(pid_t tid)
{
	uint8_t header[HEADER];
	uint32_t size;

	if (note_read(tid, NOTE_ZA, header, sizeof header) != sizeof header)
		return false;
	memcpy(&size, header, sizeof size);
	return size > HEADER;
}

const char *
call_refused(pid_t tid, const struct gregs *r)
{
	uint64_t gcs[3];

	if (r->word[WIDE] == 0)
		return "it is a 32-bit process";
	/* the return frame's address would not be on the shadow stack */
	if (note_read(tid, NOTE_GCS, gcs, sizeof gcs) == sizeof gcs &&
	    gcs[0] != 0)
		return "it has a shadow stack";
	/* a system call ends streaming mode */
	if (is_streaming(tid) || has_matrix(tid))
		return "it computes with matrices (SME)";
	return NULL;
}

/*
 * Set the registers *r to make system call nr with arguments arg and stack
 * pointer sp. After the call, the thread runs the rt_sigreturn(2) code of g.
 */
void
call_load(struct gregs *r, const struct gadgets *g, uint64_t sp, long nr,
    const uint64_t arg[6])
{
	memcpy(&r->word[X0], arg, 6 * sizeof *arg);
	r->word[X8] = (uint64_t)nr;
	r->word[X30] = g->back;
	r->word[SP] = sp;
	r->word[NUMBER] = UINT64_MAX;
	gregs_jump(r, g->call);
}

void
call_back(struct gregs *r, const struct gadgets *g, uint64_t sp,
    const uint64_t arg[6])
{
	call_load(r, g, sp, SYS_rt_sigreturn, arg);
}

void
call_enter(struct gregs *r)
{
	r->word[NUMBER] = r->word[X8];
	r->word[PC] += BYTES;
}

/*
 * Cancel the system call at whose entry thread tid is stopped, by setting the
 * number of the call to -1. Return 0, or -1 with errno set.
 */
int
call_cancel(pid_t tid)
{
	const int32_t none = -1;

	return note_write(tid, NOTE_SYSTEM_CALL, &none, sizeof none);
}

int64_t
call_result(const struct gregs *r)
{
	return (int64_t)r->word[X0];
}

/*
 * Return 1 if thread tid, when resumed, would make system call nr with the
 * given first argument. This includes a call that is to be restarted, because
 * the kernel has moved the thread back to before that call (do_signal of
 * arch/arm64/kernel/signal.c). Return 0 if the thread would not, or -1 if that
 * cannot be determined.
 */
int
call_pending(pid_t tid, long nr, uint64_t first)
{
	struct gregs r;

	if (gregs_read(tid, &r) == -1)
		return -1;
	if (r.word[WIDE] == 0 || r.word[X8] != (uint64_t)nr)
		return 0;
	if (r.word[NUMBER] == (uint64_t)nr)
		return (int64_t)r.word[X0] == -ERESTARTNOINTR;
	return r.word[X0] == first && code_at(tid, r.word[PC]) == (uint32_t)SVC;
}

/*
 * Return true if call nr waits with a timeout, and the kernel restarts it as
 * restart_syscall(2) to wait for the remaining time.
 */
bool
call_waits(uint64_t nr)
{
	return nr == SYS_futex || nr == SYS_nanosleep ||
	    nr == SYS_clock_nanosleep;
}

/*
 * Read the SVE vectors of thread tid into buf, which has room for len bytes.
 * They have the layout of NT_ARM_SVE. Return their size in bytes, or 0 if the
 * thread uses only their floating-point part.
 */
size_t
vectors_read(pid_t tid, uint8_t *buf, size_t len)
{
	ssize_t got;
	uint32_t size;

	got = note_read(tid, NOTE_SVE, buf, len);
	if (got <= HEADER || (buf[FLAGS] & FLAG_SVE) == 0)
		return 0;
	/* got is the maximum size for this thread */
	memcpy(&size, buf, sizeof size);
	return size < (size_t)got ? size : (size_t)got;
}

/*
 * Save the SVE vectors of thread tid in k. On any system call, the kernel
 * discards all of them but their floating-point part (fp_user_discard of
 * arch/arm64/kernel/entry-common.c, or sve_user_discard). Return 0, or -1.
 */
int
extstate_read(pid_t tid, struct extstate *k)
{
	if (k->buf == NULL && (k->buf = malloc(MAX_VECTORS)) == NULL)
		return -1;
	k->len = vectors_read(tid, k->buf, MAX_VECTORS);
	return 0;
}

int
extstate_write(pid_t tid, const struct extstate *k)
{
	return k->len == 0 ? 0 : note_write(tid, NOTE_SVE, k->buf, k->len);
}

#endif
