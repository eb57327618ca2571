/*
 * Other machines: the general and floating-point register sets are read without
 * knowing their layout, and interrupted calls are not restarted. Processes
 * cannot be made to run system calls (isa.injects), so the functions for that
 * are not defined.
 */
#include "linux/machine/machine.h"

#if !defined __x86_64__ && !defined __aarch64__

#include <elf.h>
#include <errno.h>
#include <string.h>

/* most functions ignore their parameters */
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

/*
 * Stubs for regs.c: general registers are neither read nor written on this
 * machine.
 */
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

/* Stubs for restart.c: interrupted calls are not restarted on this machine. */
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

#endif
