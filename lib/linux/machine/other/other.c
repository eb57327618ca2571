/*
 * Other machines: registers are read by their number, whatever they are, and
 * no process is made to make system calls, nor has anything put right.  Of what
 * else machine.h has, nothing is used where isa.injects is false.
 */
#include "linux/machine/machine.h"

#if !defined __x86_64__ && !defined __aarch64__

#include <elf.h>
#include <errno.h>
#include <string.h>

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

int
gregs_read(pid_t tid, struct gregs *r)
{
	(void)tid;
	memset(r, 0, sizeof *r);
	return unknown();
}

int
gregs_write(pid_t tid, const struct gregs *r)
{
	(void)tid;
	(void)r;
	return unknown();
}

uint64_t
gregs_pc(const struct gregs *r)
{
	(void)r;
	return 0;
}

void
gregs_jump(struct gregs *r, uint64_t pc)
{
	(void)r;
	(void)pc;
}

uint64_t
gregs_sp(const struct gregs *r)
{
	(void)r;
	return 0;
}

uint64_t
gregs_tls(const struct gregs *r)
{
	(void)r;
	return 0;
}

const char *
call_refused(pid_t tid, const struct gregs *r)
{
	(void)tid;
	(void)r;
	return "on this machine that is not known how";
}

void
call_load(struct gregs *r, const struct gadgets *g, uint64_t sp, long nr,
    const uint64_t arg[6])
{
	(void)r;
	(void)g;
	(void)sp;
	(void)nr;
	(void)arg;
}

int
call_cancel(pid_t tid)
{
	(void)tid;
	return unknown();
}

int64_t
call_result(const struct gregs *r)
{
	(void)r;
	return -ENOSYS;
}

int
call_pending(pid_t tid, long nr, uint64_t first)
{
	(void)tid;
	(void)nr;
	(void)first;
	return unknown();
}

int
kept_read(pid_t tid, struct kept *k)
{
	(void)tid;
	(void)k;
	return unknown();
}

int
kept_write(pid_t tid, const struct kept *k)
{
	(void)tid;
	(void)k;
	return unknown();
}

bool
gadgets_call(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	(void)g;
	(void)buf;
	(void)len;
	(void)at;
	return false;
}

bool
gadgets_back(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	return gadgets_call(g, buf, len, at);
}

void
gadgets_seek(struct gadgets *g, const uint8_t *buf, size_t len, uint64_t at)
{
	(void)gadgets_call(g, buf, len, at);
}

int
frame_build(uint8_t *buf, uint64_t at, const struct way *w, struct stacks *s)
{
	(void)buf;
	(void)at;
	(void)w;
	(void)s;
	return unknown();
}

uint64_t
frame_exit(uint8_t *buf, uint64_t at, const struct way *w)
{
	(void)buf;
	(void)w;
	return at;
}

bool
restart_same(const void *before, size_t nbefore, const void *now, size_t nnow)
{
	return before != NULL && nbefore == nnow &&
	    memcmp(before, now, nnow) == 0;
}

bool
restart_due(const void *now, size_t len)
{
	(void)now;
	(void)len;
	return false;
}

bool
restart_counts(int64_t nr)
{
	(void)nr;
	return false;
}

bool
restart_call(pid_t tid, const struct seencall *seen)
{
	(void)tid;
	(void)seen;
	return false;
}

uint64_t
stack_begin(int mem, const struct gregs *r, uint64_t lower)
{
	(void)mem;
	(void)r;
	(void)lower;
	return 0;
}

struct again
again_look(pid_t tid, const struct gregs *r)
{
	(void)tid;
	(void)r;
	return (struct again){ 0, false };
}

uint64_t
again_first(const struct gregs *r)
{
	(void)r;
	return 0;
}

void
again_load(struct gregs *r, int code)
{
	(void)r;
	(void)code;
}

#endif
