/*
 * A system call of arm64 that a thread is made to make.
 */
#include "arm64.h"
#include "restart.h"

#ifdef __aarch64__

#include <sys/syscall.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {				/* of what NT_ARM_SVE and its like begin with,
				   struct user_sve_header of
				   arch/arm64/include/uapi/asm/ptrace.h */
	FLAGS = 12,		/* offset */
	FLAG_SVE = 1		/* vectors follow */
};

/*
 * Return true if a thread is in streaming mode: else NT_ARM_SSVE is there, too,
 * but has no vectors of that.
 */
static bool
is_streaming(pid_t tid)
{
	uint8_t header[HEADER];

	return note_read(tid, NOTE_SSVE, header, sizeof header) ==
	    sizeof header && (header[FLAGS] & FLAG_SVE) != 0;
}

/*
 * Return true if a thread has a matrix: else NT_ARM_ZA ends behind what it
 * begins with, its size.
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
	/* the way back would not be on it */
	if (note_read(tid, NOTE_GCS, gcs, sizeof gcs) == sizeof gcs &&
	    gcs[0] != 0)
		return "it has a shadow stack";
	/* a call ends streaming mode */
	if (is_streaming(tid) || has_matrix(tid))
		return "it computes with matrices (SME)";
	return NULL;
}

/*
 * What makes the call returns to rt_sigreturn(2).
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

/*
 * The number of the call is -1 then.
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
 * Who has to repeat a call is put before it by the kernel: do_signal of
 * arch/arm64/kernel/signal.c.
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
 * Return true if a call waits for a time, and goes on with what is left of it
 * as restart_syscall(2).
 */
bool
call_waits(uint64_t nr)
{
	return nr == SYS_futex || nr == SYS_nanosleep ||
	    nr == SYS_clock_nanosleep;
}

/*
 * Read the vectors of a thread as NT_ARM_SVE has them into buf, of len bytes.
 * Return how many bytes these take; 0 if it uses none that are longer than
 * those of its floating point registers.
 */
size_t
vectors_read(pid_t tid, uint8_t *buf, size_t len)
{
	ssize_t got;
	uint32_t size;

	got = note_read(tid, NOTE_SVE, buf, len);
	if (got <= HEADER || (buf[FLAGS] & FLAG_SVE) == 0)
		return 0;
	/* got is the length of the longest that there may be */
	memcpy(&size, buf, sizeof size);
	return size < (size_t)got ? size : (size_t)got;
}

/*
 * Keep the long vectors of a thread, which the kernel cuts off in any system
 * call (fp_user_discard of arch/arm64/kernel/entry-common.c, or
 * sve_user_discard).
 */
int
kept_read(pid_t tid, struct kept *k)
{
	if (k->buf == NULL && (k->buf = malloc(MAX_VECTORS)) == NULL)
		return -1;
	k->len = vectors_read(tid, k->buf, MAX_VECTORS);
	return 0;
}

int
kept_write(pid_t tid, const struct kept *k)
{
	return k->len == 0 ? 0 : note_write(tid, NOTE_SVE, k->buf, k->len);
}

#endif
