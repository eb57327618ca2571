/*
 * What ptrace(2) gives of a stopped thread: its registers, signal mask,
 * pending signals.
 */
#include "live.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { REGSET_ROOM = 64 * 1024 };	/* AMX takes some 11 K */

static const struct {
	enum regset	 set;
	int		 note;
	const char	*name;
} regset[] = {
	{ REGSET_PRSTATUS, NT_PRSTATUS, "regset/prstatus" },
	{ REGSET_FPREGS, NT_PRFPREG, "regset/fpregs" },
	{ REGSET_XSTATE, NT_X86_XSTATE, "regset/xstate" },
};

static void
record_copy(struct filelist *l, const char *name, const void *data, size_t n)
{
	uint8_t *copy;

	if ((copy = malloc(n)) == NULL) {
		l->failed = true;
		return;
	}
	memcpy(copy, data, n);
	filelist_add(l, name, copy, n);
}

/*
 * Signals that wait to be delivered, as an array of siginfo.
 */
static void
record_pending(struct filelist *l, const char *name, pid_t tid,
    unsigned int flags)
{
	struct __ptrace_peeksiginfo_args args = { 0 };
	siginfo_t si[16];
	struct buf b = { 0 };
	long n;

	args.flags = flags;
	args.nr = 16;
	while ((n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, si)) > 0) {
		buf_add(&b, si, (size_t)n * sizeof *si);
		args.off += (uint64_t)n;
	}
	if (b.len > 0 && !b.failed)
		filelist_add(l, name, b.data, b.len);
	else
		buf_free(&b);
}

/*
 * Read a register set of a stopped thread, if it has it.
 */
static void
regset_read(pid_t tid, int note, struct bytes *b)
{
	struct iovec iov;

	if ((iov.iov_base = malloc(REGSET_ROOM)) == NULL)
		return;
	iov.iov_len = REGSET_ROOM;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)note, &iov) ==
	    -1 || (b->data = realloc(iov.iov_base, iov.iov_len)) == NULL) {
		free(iov.iov_base);
		return;
	}
	b->len = iov.iov_len;
}

/*
 * Read what ptrace gives of a stopped thread: its registers, and the files
 * of its record that come from there.  Only the thread that traces it can.
 */
void
regs_read(struct lthread *t)
{
	struct bytes *b;
	uint64_t mask;
	siginfo_t si;
	size_t i;

	for (i = 0; i < sizeof regset / sizeof *regset; i++) {
		b = &t->reg[regset[i].set];
		regset_read(t->tid, regset[i].note, b);
		if (b->data != NULL)
			record_copy(&t->seen, regset[i].name, b->data, b->len);
	}
	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) == 0)
		record_copy(&t->seen, "siginfo", &si, sizeof si);
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof mask, &mask) == 0)
		record_copy(&t->seen, "sigmask", &mask, sizeof mask);
	record_pending(&t->seen, "sigpending/thread", t->tid, 0);
	record_pending(&t->seen, "sigpending/process", t->tid,
	    PTRACE_PEEKSIGINFO_SHARED);
}

#ifdef __x86_64__
/*
 * System calls that give up with EINTR when a thread is stopped, although
 * no signal is delivered: signal(7), "Interruption of system calls and
 * library functions by stop signals", and what waits on a socket with a
 * timeout.  Their numbers are those of arch/x86/entry/syscalls.
 */
static bool
gives_up(uint64_t nr)
{
	static const uint16_t call[] = {
		0,	/* read: a socket with SO_RCVTIMEO */
		1,	/* write: a socket with SO_SNDTIMEO */
		19,	/* readv */
		20,	/* writev */
		42,	/* connect: the kernel waits on for what it began */
		43,	/* accept */
		44,	/* sendto */
		45,	/* recvfrom */
		46,	/* sendmsg */
		47,	/* recvmsg */
		65,	/* semop */
		69,	/* msgsnd */
		70,	/* msgrcv */
		128,	/* rt_sigtimedwait */
		208,	/* io_getevents */
		220,	/* semtimedop */
		232,	/* epoll_wait */
		281,	/* epoll_pwait */
		288,	/* accept4 */
		299,	/* recvmmsg */
		307,	/* sendmmsg */
		333,	/* io_pgetevents */
		426,	/* io_uring_enter */
		441,	/* epoll_pwait2 */
	};
	size_t i;

	for (i = 0; i < sizeof call / sizeof *call; i++)
		if (call[i] == nr)
			return true;
	return false;
}

/*
 * A thread whose system call gave up because we stopped it makes the call
 * again: the kernel is told what it tells itself in its other calls,
 * -ERESTARTNOHAND (include/linux/errno.h).  If a signal is to be handled
 * first, the call fails with EINTR after all, as it should.
 */
void
regs_restart(pid_t tid)
{
	enum { ERESTARTNOHAND = 514 };
	struct user_regs_struct r;
	struct iovec iov = { &r, sizeof r };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS,
	    &iov) == -1 || iov.iov_len != sizeof r)
		return;
	if ((int64_t)r.rax != -EINTR || !gives_up(r.orig_rax))
		return;
	r.rax = (uint64_t)-(int64_t)ERESTARTNOHAND;
	(void)ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS,
	    &iov);
}
#else
void
regs_restart(pid_t tid)
{
	(void)tid;
}
#endif
