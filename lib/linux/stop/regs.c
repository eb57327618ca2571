/*
 * What ptrace(2) gives of a stopped thread: its registers, signal mask,
 * pending signals.
 */
#include "packed.h"
#include "stopping.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <elf.h>
#include <errno.h>
#include <signal.h>
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

/*
 * Record signals that wait to be delivered to a thread, as an array of
 * siginfo; flags are those of PTRACE_PEEKSIGINFO.
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
	if (n == -1)
		filelist_lose(l, name);
	if (b.failed || (n == 0 && b.len > 0))
		filelist_buf(l, name, &b);
	else
		buf_free(&b);
}

/*
 * Remember the general registers of thread t, which is stopped.
 */
void
regs_remember(struct lthread *t)
{
	struct user_regs_struct r;
	struct iovec iov = { &r, sizeof r };
	struct buf b = { 0 };

	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)NT_PRSTATUS, &iov) == -1)
		return;
	buf_add(&b, &r, iov.iov_len);
	t->before = (struct bytes){ b.data, b.len };
}

/*
 * Return true if general registers, of len bytes, are those that were
 * remembered; false also where none were.  Who waits for a time goes on to do
 * so in another system call, restart_syscall(2), when it was stopped.
 */
static bool
regs_equal(const struct bytes *before, const void *regs, size_t len)
{
#ifdef __x86_64__
	enum { ERESTART_RESTARTBLOCK = 516, NR_RESTART_SYSCALL = 219 };
	struct user_regs_struct a, b;

	if (before->len != sizeof a || len != sizeof b)
		return false;
	memcpy(&a, before->data, sizeof a);
	memcpy(&b, regs, sizeof b);
	if ((int64_t)a.rax == -ERESTART_RESTARTBLOCK &&
	    b.orig_rax == NR_RESTART_SYSCALL)
		a.orig_rax = b.orig_rax;
	return memcmp(&a, &b, sizeof a) == 0;
#else
	return before->data != NULL && before->len == len &&
	    memcmp(before->data, regs, len) == 0;
#endif
}

/*
 * Read the register sets of a stopped thread.
 */
static void
regsets_read(struct lthread *t)
{
	static uint8_t room[REGSET_ROOM];
	struct iovec iov;
	size_t i;

	for (i = 0; i < sizeof regset / sizeof *regset; i++) {
		iov.iov_base = room;
		iov.iov_len = sizeof room;
		if (ptrace(PTRACE_GETREGSET, t->tid,
		    (void *)(uintptr_t)regset[i].note, &iov) == -1) {
			filelist_lose(&t->seen, regset[i].name);
			continue;
		}
		if (regset[i].set == REGSET_PRSTATUS) {
			t->regs = true;
			t->same = regs_equal(&t->before, room, iov.iov_len);
		}
		filelist_pack(&t->seen, regset[i].name, room, iov.iov_len);
	}
}

/*
 * Have the register sets of thread t whole in its record, and set reg, which
 * borrows from there, to them.  One that the record does not have is NULL.
 * Return 0, or -1 with errstr.
 */
int
regs_unpack(struct lthread *t, struct bytes reg[REGSET_MAX])
{
	struct file *f;
	size_t i;

	for (i = 0; i < sizeof regset / sizeof *regset; i++) {
		if ((f = filelist_find(&t->rec, regset[i].name)) == NULL)
			continue;
		if (file_unpack(f) == -1)
			return -1;
		reg[regset[i].set].data = f->data;
		reg[regset[i].set].len = f->len;
	}
	return 0;
}

/*
 * Read what ptrace(2) gives of thread t, which is stopped: its registers, and
 * the files of its record that come from there.  Only the thread that traces t
 * can.
 */
void
regs_read(struct lthread *t)
{
	uint64_t mask;
	siginfo_t si;

	regsets_read(t);
	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) == 0)
		filelist_copy(&t->seen, "siginfo", &si, sizeof si);
	else
		filelist_lose(&t->seen, "siginfo");
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof mask, &mask) == 0)
		filelist_copy(&t->seen, "sigmask", &mask, sizeof mask);
	else
		filelist_lose(&t->seen, "sigmask");
	record_pending(&t->seen, "sigpending/thread", t->tid, 0);
	record_pending(&t->seen, "sigpending/process", t->tid,
	    PTRACE_PEEKSIGINFO_SHARED);
}

#ifdef __x86_64__
/*
 * System calls that give up with EINTR when a thread is stopped, although
 * no signal is delivered: signal(7), "Interruption of system calls and
 * library functions by stop signals", and what waits on a socket with a
 * timeout.  Their numbers are those of arch/x86/entry/syscalls, for 64 and
 * for 32 bits; -1 where there is none.
 */
static const struct {
	int16_t	 nr64;
	int16_t	 nr32;
} gives_up[] = {
	{ 0, 3 },		/* read: a socket with SO_RCVTIMEO */
	{ 1, 4 },		/* write: a socket with SO_SNDTIMEO */
	{ 19, 145 },		/* readv */
	{ 20, 146 },		/* writev */
	{ 42, 362 },		/* connect: goes on with what it began */
	{ 43, 102 },		/* accept; socketcall */
	{ 44, 369 },		/* sendto */
	{ 45, 371 },		/* recvfrom */
	{ 46, 370 },		/* sendmsg */
	{ 47, 372 },		/* recvmsg */
	{ 65, 117 },		/* semop; ipc */
	{ 69, 400 },		/* msgsnd */
	{ 70, 401 },		/* msgrcv */
	{ 128, 177 },		/* rt_sigtimedwait */
	{ -1, 421 },		/* rt_sigtimedwait_time64 */
	{ 208, 247 },		/* io_getevents */
	{ 220, 420 },		/* semtimedop; semtimedop_time64 */
	{ 232, 256 },		/* epoll_wait */
	{ 281, 319 },		/* epoll_pwait */
	{ 288, 364 },		/* accept4 */
	{ 299, 337 },		/* recvmmsg */
	{ -1, 417 },		/* recvmmsg_time64 */
	{ 307, 345 },		/* sendmmsg */
	{ 333, 385 },		/* io_pgetevents */
	{ -1, 416 },		/* io_pgetevents_time64 */
	{ 426, 426 },		/* io_uring_enter */
	{ 441, 441 },		/* epoll_pwait2 */
};

/*
 * A thread whose system call gave up because we stopped it makes the call
 * again: the kernel is told what it tells itself in its other calls,
 * -ERESTARTNOHAND (include/linux/errno.h).  If a signal is to be handled
 * first, the call fails with EINTR after all, as it should.
 */
void
regs_restart(pid_t tid)
{
	enum { ERESTARTNOHAND = 514, CS32 = 0x23 };
	struct user_regs_struct r;
	size_t i;
	int nr;

	/* unlike PTRACE_GETREGSET, this has one form for 64 and 32 bits */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1 ||
	    (int32_t)r.rax != -EINTR)
		return;
	for (i = 0; i < sizeof gives_up / sizeof *gives_up; i++) {
		nr = r.cs == CS32 ? gives_up[i].nr32 : gives_up[i].nr64;
		if (nr == -1 || (int32_t)r.orig_rax != nr)
			continue;
		r.rax = (uint64_t)-(int64_t)ERESTARTNOHAND;
		(void)ptrace(PTRACE_SETREGS, tid, NULL, &r);
		return;
	}
}

/*
 * Read a word of the memory of a thread into *v.  Return false if there is
 * none.
 */
static bool
peek(pid_t tid, uint64_t at, uint64_t *v)
{
	long w;

	errno = 0;
	w = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)at, NULL);
	*v = (uint64_t)w;
	return errno == 0;
}

/*
 * A thread that stands in a restartable sequence goes on at its abort handler,
 * for it was interrupted: rseq(2), struct rseq_cs of <linux/rseq.h>.  The
 * kernel would send it there; but that it is in one is forgotten when it is
 * made to run something else.
 */
void
regs_abort(pid_t tid)
{
	enum { RSEQ_CS = 8, START = 8, LENGTH = 16, ABORT = 24 };
	struct user_regs_struct r;
	struct rseqconf c;
	uint64_t cs, start, len, handler;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof c,
	    &c) != (long)sizeof c || c.area == 0 ||
	    !peek(tid, c.area + RSEQ_CS, &cs) || cs == 0 ||
	    !peek(tid, cs + START, &start) || !peek(tid, cs + LENGTH, &len) ||
	    !peek(tid, cs + ABORT, &handler) ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &r) == -1 ||
	    r.rip - start >= len)
		return;
	r.rip = handler;
	(void)ptrace(PTRACE_SETREGS, tid, NULL, &r);
}
#else
void
regs_restart(pid_t tid)
{
	(void)tid;
}

void
regs_abort(pid_t tid)
{
	(void)tid;
}
#endif
