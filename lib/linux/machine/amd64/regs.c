/*
 * Read and write general registers of x86-64, also of its 32-bit processes:
 * PTRACE_GETREGS has one layout for both, struct user_regs_struct.
 */
#include "linux/machine/machine.h"

#ifdef __x86_64__

#include <sys/ptrace.h>
#include <sys/user.h>

#include <string.h>

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(struct gregs),
    "struct gregs has room for all registers");

static struct user_regs_struct
regs_of(const struct gregs *r)
{
	struct user_regs_struct u;

	memcpy(&u, r, sizeof u);
	return u;
}

int
gregs_read(pid_t tid, struct gregs *r)
{
	memset(r, 0, sizeof *r);
	return ptrace(PTRACE_GETREGS, tid, NULL, r) == -1 ? -1 : 0;
}

int
gregs_write(pid_t tid, const struct gregs *r)
{
	struct user_regs_struct u = regs_of(r);

	return ptrace(PTRACE_SETREGS, tid, NULL, &u) == -1 ? -1 : 0;
}

uint64_t
gregs_pc(const struct gregs *r)
{
	return regs_of(r).rip;
}

void
gregs_jump(struct gregs *r, uint64_t pc)
{
	struct user_regs_struct u = regs_of(r);

	u.rip = pc;
	memcpy(r, &u, sizeof u);
}

uint64_t
gregs_sp(const struct gregs *r)
{
	return regs_of(r).rsp;
}

#endif
