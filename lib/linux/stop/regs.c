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
#include <stdlib.h>
#include <string.h>

enum { REGSET_ROOM = 64 * 1024 };	/* AMX takes some 11 K */

static const struct {
	int		 note;
	const char	*name;
} regset[REGSET_MAX] = {
	[REGSET_PRSTATUS] = { NT_PRSTATUS, "regset/prstatus" },
	[REGSET_FPREGS] = { NT_PRFPREG, "regset/fpregs" },
	[REGSET_XSTATE] = { NT_X86_XSTATE, "regset/xstate" },
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
 * Read the general registers of thread t, which is stopped, into room, of
 * REGSET_ROOM bytes.  Return how many they have, or -1 with errno.
 */
static ssize_t
general_read(const struct lthread *t, uint8_t *room)
{
	struct iovec iov = { room, REGSET_ROOM };

	return ptrace(PTRACE_GETREGSET, t->tid, (void *)NT_PRSTATUS, &iov) ==
	    -1 ? -1 : (ssize_t)iov.iov_len;
}

/*
 * Return true if a thread, whose general registers are in room, may have to go
 * on elsewhere than it would: restart.c.
 */
static bool
is_disturbed(const uint8_t *room, ssize_t len)
{
#ifdef __x86_64__
	struct user_regs_struct r;

	if (len != sizeof r)	/* of 32 bits */
		return true;
	memcpy(&r, room, sizeof r);
	return (int32_t)r.rax == -EINTR;
#else
	(void)room;
	(void)len;
	return false;
#endif
}

/*
 * Have thread t, which has just stopped, go on where it should: with restart
 * it was us who had it stop.  Keep its general registers, and whether they are
 * those that were remembered.
 */
void
regs_settle(struct lthread *t, bool restart)
{
	static uint8_t room[REGSET_ROOM];
	struct buf b = { 0 };
	ssize_t len;

	len = general_read(t, room);
	if (restart && is_disturbed(room, len)) {
		regs_restart(t->tid);
		len = general_read(t, room);
	}
	t->same = len > 0 && regs_equal(&t->before, room, (size_t)len);
	free(t->before.data);
	t->before = (struct bytes){ 0 };
	/* where it was before it is in no restartable sequence */
	if (!t->same && regs_abort(t->tid))
		len = general_read(t, room);
	free(t->general.data);
	t->general = (struct bytes){ 0 };
	t->regs = len > 0;
	if (len <= 0) {
		filelist_lose(&t->seen, regset[REGSET_PRSTATUS].name);
		return;
	}
	buf_add(&b, room, (size_t)len);
	t->seen.failed |= b.failed;
	t->general = (struct bytes){ b.data, b.len };
}

/*
 * Remember the general registers of thread t, which is stopped.
 */
void
regs_remember(struct lthread *t)
{
	free(t->before.data);
	t->before = t->general;
	t->general = (struct bytes){ 0 };
	t->regs = false;
}

/*
 * Add a register set of thread t to list to, packed.
 */
static void
regset_read(const struct lthread *t, enum regset set, struct filelist *to)
{
	static uint8_t room[REGSET_ROOM];
	struct iovec iov = { room, sizeof room };

	if (ptrace(PTRACE_GETREGSET, t->tid,
	    (void *)(uintptr_t)regset[set].note, &iov) == -1)
		filelist_lose(to, regset[set].name);
	else
		filelist_pack(to, regset[set].name, room, iov.iov_len);
}

/*
 * Read what of thread t, which is stopped, it alone changes, other than its
 * general registers, into list to: registers, and the mask of its signals.
 */
void
regs_more(const struct lthread *t, struct filelist *to)
{
	uint64_t mask;

	regset_read(t, REGSET_FPREGS, to);
	regset_read(t, REGSET_XSTATE, to);
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof mask, &mask) == 0)
		filelist_copy(to, "sigmask", &mask, sizeof mask);
	else
		filelist_lose(to, "sigmask");
}

/*
 * Record what else ptrace(2) gives of thread t, which is stopped: why it is,
 * and the signals that wait for it, or for its process, which those of another
 * thread, first, tell already; NULL: there is none.
 */
void
regs_record(struct lthread *t, const struct lthread *first)
{
	static const char name[] = "sigpending/process";
	const struct file *f;
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) == 0)
		filelist_copy(&t->seen, "siginfo", &si, sizeof si);
	else
		filelist_lose(&t->seen, "siginfo");
	record_pending(&t->seen, "sigpending/thread", t->tid, 0);
	if (first == NULL)
		record_pending(&t->seen, name, t->tid,
		    PTRACE_PEEKSIGINFO_SHARED);
	else if ((f = filelist_find(&first->seen, name)) != NULL)
		filelist_copy(&t->seen, name, f->data, f->len);
}

/*
 * Add the general registers of thread t, which gives them away, to list to.
 */
void
regs_general(struct lthread *t, struct filelist *to)
{
	if (t->general.data != NULL)
		filelist_add(to, regset[REGSET_PRSTATUS].name,
		    t->general.data, t->general.len);
	t->general = (struct bytes){ 0 };
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
		if (i != REGSET_PRSTATUS && file_unpack(f) == -1)
			return -1;
		reg[i].data = f->data;
		reg[i].len = f->len;
	}
	return 0;
}
