/*
 * Other machines: registers are read by their number, whatever they are; of a
 * thread that was stopped nothing is put right; and no process is made to make
 * system calls: what is for that is never used (isa.injects), and is here so
 * that all is linked.
 */
#include "linux/machine/machine.h"

#if !defined __x86_64__ && !defined __aarch64__

#include <elf.h>
#include <errno.h>
#include <string.h>

/* most of it does nothing with what it is given */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const struct regnote regset[] = {
	{ NT_PRSTATUS, "regset/prstatus", false, false },
	{ NT_PRFPREG, "regset/fpregs", false, false },
	{ 0, NULL, false, false }
};

const struct isa isa = { .regset = regset };

static int
unknown(void)
{
	errno = ENOSYS;
	return -1;
}

/* regs.c */
int
gregs_read(pid_t tid, struct gregs *r)
{
	return unknown();
}

int
gregs_write(pid_t tid, const struct gregs *r)
{
	return unknown();
}

uint64_t
gregs_pc(const struct gregs *r)
{
	return 0;
}

uint64_t
gregs_sp(const struct gregs *r)
{
	return 0;
}

void
gregs_jump(struct gregs *r, uint64_t pc)
{
}

/* restart.c */
bool
restart_counts(int64_t nr)
{
	return false;
}

bool
restart_due(const void *now, size_t len)
{
	return false;
}

bool
restart_call(pid_t tid, const struct seencall *seen)
{
	return false;
}

/* code.c */
bool
gadgets_call(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	return false;
}

bool
gadgets_back(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	return false;
}

void
gadgets_seek(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
}

/* call.c */
const char *
call_refused(pid_t tid, const struct gregs *r)
{
	return "on this machine that is not known how";
}

void
call_load(struct gregs *r, const struct gadgets *g, uint64_t sp, long nr,
    const uint64_t arg[6])
{
}

int
call_cancel(pid_t tid)
{
	return unknown();
}

int64_t
call_result(const struct gregs *r)
{
	return -ENOSYS;
}

int
call_pending(pid_t tid, long nr, uint64_t first)
{
	return unknown();
}

int
kept_read(pid_t tid, struct kept *k)
{
	return unknown();
}

int
kept_write(pid_t tid, const struct kept *k)
{
	return unknown();
}

/* again_, of restart.c */
struct again
again_look(pid_t tid, const struct gregs *r)
{
	return (struct again){ 0, false };
}

uint64_t
again_first(const struct gregs *r)
{
	return 0;
}

void
again_load(struct gregs *r, int code)
{
}

/* frame.c */
int
frame_build(uint8_t *buf, uint64_t at, const struct way *w, struct stacks *s)
{
	return unknown();
}

uint64_t
frame_exit(uint8_t *buf, uint64_t at, const struct way *w)
{
	return at;
}

#endif
