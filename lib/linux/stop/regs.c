/*
 * Facts that ptrace(2) gives about a stopped thread: its registers, signal mask
 * and pending signals.
 */
#include "linux/machine/machine.h"
#include "rseq.h"
#include "stopping.h"

#include <sys/ptrace.h>
#include <sys/uio.h>

#include <elf.h>
#include <signal.h>

enum { REGSET_ROOM = 128 * 1024 };	/* size of a buffer for registers, in
					   bytes; NT_ARM_ZA takes about 64 KB */

static const char *const names[REGSET_MAX] = {
	[REGSET_PRSTATUS] = "regset/prstatus",
	[REGSET_FPREGS] = "regset/fpregs",
	[REGSET_XSTATE] = "regset/xstate",
};

/*
 * Return true if a process or a terminal sent signal si. The other signals are
 * from timers and files, whose state is recorded as well.
 */
static bool
is_sent(const siginfo_t *si)
{
	if (si->si_code == SI_KERNEL)
		return si->si_signo != SIGALRM && si->si_signo != SIGIO;
	return si->si_code <= 0 && si->si_code != SI_TIMER;
}

/*
 * Append the pending signals of thread tid, or those of its process if shared
 * is set, to b as an array of siginfo_t. Describe in *sent those that were sent
 * to it. Return 0, or -1 with errno set; EIO: there are more than MAX_PENDING.
 */
static int
pending_read(pid_t tid, bool shared, struct buf *b, struct sent *sent)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 16,
	    .flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0 };
	siginfo_t si[16];
	long i, n;

	*sent = (struct sent){ 0 };
	while ((n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, si)) > 0 &&
	    args.off < MAX_PENDING) {
		buf_add(b, si, (size_t)n * sizeof *si);
		args.off += (uint64_t)n;
		for (i = 0; i < n; i++)
			if (is_sent(&si[i])) {
				sent->set |= UINT64_C(1) <<
				    (si[i].si_signo - 1);
				sent->last = si[i].si_signo;
				sent->n++;
			}
	}
	if (n > 0)
		errno = EIO;
	return n == 0 ? 0 : -1;
}

/*
 * Record the pending signals of thread tid, or those of its process if shared
 * is set, in l as a file called name, an array of siginfo_t. If there are more
 * than MAX_PENDING, record the file as lost. Set *sent as pending_read() does.
 */
static void
record_pending(struct filelist *l, const char *name, pid_t tid, bool shared,
    struct sent *sent)
{
	struct buf b = { 0 };
	int rc;

	if ((rc = pending_read(tid, shared, &b, sent)) == -1)
		filelist_lose(l, name);
	if (b.failed || (rc == 0 && b.len > 0))
		filelist_buf(l, name, &b);
	else
		buf_free(&b);
}

/*
 * Return a signal that is pending for thread tid, or for its process if shared
 * is set, but was not yet when *before was set. Return SIGKILL if the thread
 * has ended, or 0 if there is no such signal.
 */
static int
pending_new(pid_t tid, bool shared, const struct sent *before)
{
	struct buf b = { 0 };
	struct sent now;
	int rc, e;

	rc = pending_read(tid, shared, &b, &now);
	e = errno;
	buf_free(&b);
	if (rc == -1 && e == ESRCH)
		return SIGKILL;
	if ((now.set & ~before->set) != 0)
		return __builtin_ctzll(now.set & ~before->set) + 1;
	return now.n > before->n ? now.last : 0;
}

/*
 * Read the general registers of thread t, which must be stopped, into room,
 * which has REGSET_ROOM bytes. Return their size in bytes, or -1 with errno
 * set.
 */
static ssize_t
general_read(const struct lthread *t, uint8_t *room)
{
	struct iovec iov = { room, REGSET_ROOM };

	return ptrace(PTRACE_GETREGSET, t->tid, (void *)NT_PRSTATUS, &iov) ==
	    -1 ? -1 : (ssize_t)iov.iov_len;
}

/*
 * Read len bytes at address addr in the memory of thread tid into buf. len is a
 * multiple of the word size. Return false if they cannot be read.
 */
static bool
peek(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	long w;
	size_t i;

	for (i = 0; i < len; i += sizeof w) {
		errno = 0;
		w = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)(addr + i),
		    NULL);
		if (errno != 0)
			return false;
		memcpy((char *)buf + i, &w, sizeof w);
	}
	return true;
}

/*
 * If thread tid is inside a restartable sequence (rseq(2)), move its program
 * counter to the abort handler. The kernel does that when the thread resumes,
 * but not if we make the thread run an injected call first. Return true if the
 * registers were changed.
 */
static bool
regs_abort(pid_t tid)
{
	uint8_t sequence[RSEQ_CS_SIZE];
	struct gregs r;
	struct rseqconf c;
	uint64_t cs, pc;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof c,
	    &c) != (long)sizeof c || c.area == 0 ||
	    !peek(tid, c.area + RSEQ_CS, &cs, sizeof cs) || cs == 0 ||
	    !peek(tid, cs, sequence, sizeof sequence) ||
	    gregs_read(tid, &r) == -1)
		return false;
	pc = gregs_pc(&r);
	if (!rseq_abort(sequence, &pc))
		return false;
	gregs_jump(&r, pc);
	return gregs_write(tid, &r) == 0;
}

/*
 * Prepare thread t, which has just stopped, to resume correctly, and keep its
 * general registers. If restart is true, our interrupt stopped t; the
 * interrupted system call, if there is one, is then restarted.
 */
void
regs_settle(struct lthread *t, bool restart)
{
	static uint8_t room[REGSET_ROOM];
	struct buf b = { 0 };
	ssize_t len;
	bool again;

	len = general_read(t, room);
	again = restart && len > 0 && restart_due(room, (size_t)len) &&
	    restart_call(t->tid, &t->seencall);
	if (again)
		len = general_read(t, room);
	else
		t->seencall.sleeps = 0;
	if (regs_abort(t->tid))
		len = general_read(t, room);
	regs_forget(t);
	t->regs = len > 0;
	if (len <= 0) {
		filelist_lose(&t->seen, names[REGSET_PRSTATUS]);
		return;
	}
	buf_add(&b, room, (size_t)len);
	t->seen.failed |= b.failed;
	t->general = (struct bytes){ b.data, b.len };
}

/*
 * Pack the register set of thread t that rn describes, and add it to list l. If
 * the set fills the whole buffer, record it as lost: the kernel may have
 * truncated it.
 */
static void
regset_read(const struct lthread *t, const struct regnote *rn,
    struct filelist *l)
{
	static uint8_t room[REGSET_ROOM];
	struct iovec iov = { room, sizeof room };
	uint32_t len;
	bool has;

	has = ptrace(PTRACE_GETREGSET, t->tid,
	    (void *)(uintptr_t)rn->note, &iov) == 0;
	if (has && rn->sized && iov.iov_len >= sizeof len) {
		memcpy(&len, room, sizeof len);
		if (len < iov.iov_len)
			iov.iov_len = len;
	}
	if (has && iov.iov_len < sizeof room)
		filelist_pack(l, rn->name, room, iov.iov_len);
	else if (has || !rn->maybe)
		filelist_lose(l, rn->name);
}

/*
 * Free the general registers kept for thread t, since it has ended or resumed.
 */
void
regs_forget(struct lthread *t)
{
	free(t->general.data);
	t->general = (struct bytes){ 0 };
}

/*
 * Read the signal mask of thread t, which is stopped, and its registers except
 * the general ones. Add them to list l.
 */
void
regs_more(const struct lthread *t, struct filelist *l)
{
	const struct regnote *set;
	uint64_t mask;

	for (set = isa.regset + 1; set->name != NULL; set++)
		regset_read(t, set, l);
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof mask, &mask) == 0)
		filelist_copy(l, "sigmask", &mask, sizeof mask);
	else
		filelist_lose(l, "sigmask");
}

/*
 * Add to the record of thread t why t is stopped, and the pending signals of t
 * and of its process. If first is not NULL, it is another thread of the
 * process: copy the signals of the process from the record of first instead of
 * reading them.
 */
void
regs_record(struct lthread *t, const struct lthread *first)
{
	static const char pending[] = "sigpending/process";
	const struct file *f;
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) == 0)
		filelist_copy(&t->seen, "siginfo", &si, sizeof si);
	else
		filelist_lose(&t->seen, "siginfo");
	record_pending(&t->seen, "sigpending/thread", t->tid, false,
	    &t->sent[0]);
	if (first == NULL) {
		record_pending(&t->seen, pending, t->tid, true, &t->sent[1]);
		return;
	}
	t->sent[1] = first->sent[1];
	if ((f = filelist_find(&first->seen, pending)) != NULL)
		filelist_copy(&t->seen, pending, f->data, f->len);
}

/*
 * Return a signal that was sent to the stopped thread t or to its process since
 * regs_record(), SIGKILL if t was killed, or 0 if there is none. Signals from
 * timers and files do not count.
 */
int
regs_signal(const struct lthread *t)
{
	int sig;

	sig = pending_new(t->tid, false, &t->sent[0]);
	return sig != 0 ? sig : pending_new(t->tid, true, &t->sent[1]);
}

/*
 * Move the general registers of thread t to list l.
 */
void
regs_general(struct lthread *t, struct filelist *l)
{
	if (t->general.data != NULL)
		filelist_add(l, names[REGSET_PRSTATUS],
		    t->general.data, t->general.len);
	t->general = (struct bytes){ 0 };
}

/*
 * Unpack all register sets in the record of thread t. For each set that has an
 * index in reg, set that element of reg to the unpacked bytes, which the record
 * still owns. Elements for missing sets stay unchanged. Return 0, or -1 with
 * errstr set.
 */
int
regs_unpack(struct lthread *t, struct bytes reg[REGSET_MAX])
{
	const struct file *f;
	size_t i;

	for (i = 0; i < t->rec.n; i++) {
		f = &t->rec.file[i];
		if (strncmp(f->name, "regset/", 7) == 0 &&
		    strcmp(f->name, names[REGSET_PRSTATUS]) != 0 &&
		    file_unpack(&t->rec.file[i]) == -1)
			return -1;
	}
	for (i = 0; i < sizeof names / sizeof *names; i++)
		if ((f = filelist_find(&t->rec, names[i])) != NULL)
			reg[i] = (struct bytes){ f->data, f->len };
	return 0;
}
