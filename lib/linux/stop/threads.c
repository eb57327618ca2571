/*
 * Seize, stop and release the threads of one process, in an order that lets no
 * system call of theirs fail.
 *
 * The kernel drops an ignored signal, mostly SIGCHLD, when it is sent, unless
 * the receiving thread is traced (sig_ignored of kernel/signal.c). Then the
 * signal is queued; and if that thread is stopped, another thread of the
 * process is woken for it, and finds nothing to handle. The system call of the
 * woken thread continues or, like epoll_wait(2), fails with EINTR, unless that
 * thread is traced: then we restart the call (regs.c). So the threads that
 * signals are sent to are seized last, stopped last and released first. These
 * are the first thread of the process, for kill(2), and threads with children,
 * for SIGCHLD.
 *
 * All threads of all processes are seized before the first is stopped. Until
 * then each takes its signals itself, and we see them (seize.c).
 */
#include "bisect.h"
#include "clock.h"
#include "rbtree.h"
#include "stopping.h"
#include "vec.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <elf.h>

enum {				/* time limits for threads to stop */
	AWAIT_US = 10000,
	STARVED_US = 3000000	/* limit for a thread that is only waiting for a
				   processor */
};

enum { SIGINFO = 128 };		/* size of a siginfo_t, in bytes */

CMP(lthread_cmp, struct lthread, tid)
TREE_GENERATE(tids, lthread, bytid, lthread_cmp)

/*
 * Add thread tid to the list of process p, which does not have it yet. The
 * first thread of the process goes to the head of the list. Return the thread,
 * or NULL with errstr set if memory runs out.
 */
struct lthread *
threads_add(struct lproc *p, pid_t tid)
{
	struct lthread *t;

	if ((t = mem_new(1, sizeof *t)) == NULL)
		return NULL;
	t->tid = tid;
	t->seencall.nr = -1;
	RB_INSERT(tids, &p->tids, t);
	if (tid == p->pid)
		TAILQ_INSERT_HEAD(&p->threads, t, entry);
	else
		TAILQ_INSERT_TAIL(&p->threads, t, entry);
	return t;
}

struct listing {
	struct lproc	*proc;
	bool		 look;
};

static int
list_thread(void *arg, long tid)
{
	struct listing *g = arg;
	struct lthread *t, key = { .tid = (pid_t)tid };

	if (RB_FIND(tids, &g->proc->tids, &key) != NULL)
		return 0;
	if ((t = threads_add(g->proc, (pid_t)tid)) == NULL)
		return -1;
	return g->look ? thread_look(g->proc, t) : 0;
}

/*
 * Add to the list of process p those of its threads that are not in it yet. If
 * look is true, read from each new thread the files that must be read before
 * the stop. Return 0; 1 if the process is gone; or -1 with errstr set if its
 * threads cannot be listed or looked at.
 */
int
threads_list(struct lproc *p, bool look)
{
	struct listing g = { p, look };

	return proc_list(p->pid, "task", list_thread, &g);
}

/*
 * If core note n is a siginfo or a register set, add its contents to l, the
 * files of a record.
 */
static void
note_record(const struct dumpnote *n, struct filelist *l)
{
	const struct regnote *set;

	if (n->type == NT_SIGINFO && n->len == SIGINFO)
		filelist_copy(l, "siginfo", n->data, n->len);
	for (set = isa.regset + 1; set->name != NULL; set++)
		if (set->note == (int)n->type)
			filelist_pack(l, set->name, n->data, n->len);
}

static void
thread_dumped(const struct lproc *p, struct lthread *t)
{
	struct buf b = { 0 };
	struct dumpthread d;
	struct dumpnote n;
	uint64_t inner;

	t->hold = HOLD_DUMPED;
	if (proc_inner(p->pid, t->tid, &inner) == 0)
		inner = (uint64_t)t->tid;
	if (!coredump_find(p->core, (pid_t)inner, &d))
		return;
	buf_add(&b, d.general.data, d.general.len);
	t->seen.failed |= b.failed;
	t->general = (struct bytes){ b.data, b.len };
	t->regs = true;
	filelist_copy(&t->seen, "sigmask", &d.blocked, sizeof d.blocked);
	if (d.signal != 0)
		filelist_text(&t->seen, "cursig", "%d\n", d.signal);
	while (coredump_note(p->core, &d, &n))
		note_record(&n, &t->seen);
}

/*
 * Take the registers of all threads of process p, which is dumping core, from
 * the notes of the core. The threads cannot be traced. They do not run until
 * the kernel has written the core. Return 1 if there were new threads,
 * otherwise 0.
 */
static int
threads_dumped(struct lproc *p)
{
	struct lthread *t;
	int any;

	any = 0;
	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_NONE) {
			thread_dumped(p, t);
			any = 1;
		}
	return any;
}

/*
 * Return true if process p is dumping core. Mark its traced threads HOLD_BUSY,
 * so that nobody interrupts them. An interrupt would end the dump: the write to
 * the pipe of the core handler would fail with EINTR. If all threads of p are
 * seized, a dump can begin only after we have passed on the signal that causes
 * it.
 */
bool
threads_dumping(struct lproc *p)
{
	struct lthread *t;

	if (proc_status(p->pid, 0, "CoreDumping") != 1)
		return false;
	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_SEIZED || t->hold == HOLD_INTERRUPTED)
			t->hold = HOLD_BUSY;
	(void)errstr_set("process %d is dumping core", p->pid);
	return true;
}

/*
 * If the first thread of process p has ended after it was seized, while others
 * live, mark it HOLD_GONE: it cannot stop, and waitpid(2) reports its end only
 * after theirs. late_release() then lets the parent of p reap it.
 */
void
threads_leaderless(struct lproc *p)
{
	struct lthread *t = lproc_leader(p);

	if (t == NULL || t->hold != HOLD_INTERRUPTED ||
	    proc_state(p->pid, p->pid) != 'Z')
		return;
	thread_poll(p, t);	/* all threads may have ended */
	if (t->hold == HOLD_INTERRUPTED) {
		t->hold = HOLD_GONE;
		late_add(t->tid);
	}
}

/*
 * Seize those threads of process p that are not seized yet: become their
 * tracer, while they keep running. Return 1 if there were any, or 0 if not.
 * Return SEIZE_WAITS if the process is inside execve(2), so that the rest must
 * be seized later. Return -1 with errstr set if the process cannot be captured.
 */
int
threads_seize(struct lproc *p)
{
	struct lthread *t;
	int any, rank, rc;

	if (p->core != NULL)
		return threads_dumped(p);
	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_NONE && thread_judge(p, t) == -1)
			return -1;
	for (any = rank = 0; rank < RANK_MAX; rank++)
		TAILQ_FOREACH(t, &p->threads, entry) {
			if ((int)t->rank != rank || t->hold != HOLD_NONE)
				continue;
			thread_relook(p, t);
			if ((rc = thread_seize(p, t)) != 0)
				return rc;
			any = 1;
		}
	return any != 0 && threads_dumping(p) ? -1 : any;
}

/*
 * Attempts to seize the threads of process p have timed out, and there will be
 * no more. If one has succeeded all the same (attach.c), interrupt its thread,
 * so that threads_release() releases it.
 */
void
threads_giveup(struct lproc *p)
{
	struct lthread *t;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_NONE &&
		    thread_ptrace(PTRACE_INTERRUPT, t->tid, 0) == 0)
			t->hold = HOLD_INTERRUPTED;
}

/*
 * Interrupt all seized threads of process p. If there are any, set p->since,
 * the time when the stop of p began, unless it is already set.
 */
void
threads_stop(struct lproc *p)
{
	struct lthread *t;
	int rank;

	for (rank = 0; rank < RANK_MAX; rank++)
		TAILQ_FOREACH(t, &p->threads, entry) {
			if ((int)t->rank != rank || (t->hold != HOLD_SEIZED &&
			    t->hold != HOLD_INTERRUPTED &&
			    t->hold != HOLD_STOPPED))
				continue;
			if (p->since == 0)
				p->since = now_ns();
			if (t->hold == HOLD_SEIZED)
				thread_stop(p, t);
		}
}

/*
 * Poll the threads of process p that are traced and have not stopped. Resume
 * those that were about to receive a signal. Return the number of threads that
 * were interrupted and have not stopped yet.
 */
size_t
threads_poll(struct lproc *p)
{
	struct lthread *t;
	size_t left = 0;

	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_SEIZED || t->hold == HOLD_INTERRUPTED ||
		    t->hold == HOLD_BUSY)
			thread_poll(p, t);
	/* after execve(2), polling one thread may interrupt another */
	TAILQ_FOREACH(t, &p->threads, entry)
		left += t->hold == HOLD_INTERRUPTED;
	return left;
}

/*
 * Return true if all threads of process p that were interrupted and have not
 * stopped are in uninterruptible sleep now.
 */
bool
threads_asleep(const struct lproc *p)
{
	return LSEEK(&p->threads, x->hold == HOLD_INTERRUPTED &&
	    proc_state(p->pid, x->tid) != 'D') == NULL;
}

/*
 * Return true if a thread of process p was interrupted but has not stopped only
 * because it waits for a processor. Its state is then running or interruptible
 * sleep, and it stops as soon as it gets a processor.
 */
static bool
threads_starve(const struct lproc *p)
{
	char state;

	return LSEEK(&p->threads, x->hold == HOLD_INTERRUPTED &&
	    ((state = proc_state(p->pid, x->tid)) == 'R' || state == 'S')) !=
	    NULL;
}

/*
 * Wait until the interrupted threads of process p have stopped. Wait up to 10
 * ms, or up to 3 seconds as long as some are only waiting for a processor. If a
 * thread stops after we gave up, its system call is not restarted (see regs.c).
 */
void
threads_await(struct lproc *p)
{
	long nap, waited;

	for (nap = 20, waited = 0; threads_poll(p) > 0 &&
	    (waited <= AWAIT_US || (waited <= STARVED_US &&
	    threads_starve(p)));
	    waited += nap, nap += nap < 5000 ? nap / 4 : 0)
		nap_us(nap);
}

/*
 * Release those threads of process p that have stopped. Return true if one of
 * them could not be released; we must then wait until it has ended.
 */
static bool
threads_part(struct lproc *p)
{
	struct lthread *t;
	bool left;
	int rank;

	left = false;
	for (rank = RANK_MAX; rank-- > 0;)
		TAILQ_FOREACH(t, &p->threads, entry) {
			if ((int)t->rank != rank)
				continue;
			if (t->hold == HOLD_STOPPED) {
				thread_release(t);
				left |= t->hold == HOLD_INTERRUPTED;
			}
			if (t->hold != HOLD_INTERRUPTED && t->hold != HOLD_BUSY)
				t->hold = HOLD_NONE;
		}
	return left;
}

/*
 * Return true if thread t is likely to have made a child since it was judged:
 * it ran, or it waited for a child. To ask for the children of each thread
 * would take too long in the stop. 32-bit processes have other numbers of
 * calls.
 */
static bool
thread_forks(const struct lthread *t)
{
	const int64_t nr = t->seencall.nr;

	return t->rank == RANK_RUNS || (t->rank == RANK_IDLE && (nr == -1 ||
	    nr == SYS_wait4 || nr == SYS_waitid));
}

/*
 * Release the threads of process p. Set p->held to the time in microseconds for
 * which it was stopped. late_release() releases a thread that does not stop in
 * time, as the kernel does when our process ends.
 */
void
threads_release(struct lproc *p)
{
	struct lthread *t;

	threads_await(p);
	TAILQ_FOREACH(t, &p->threads, entry)
		if (thread_forks(t) && t->hold == HOLD_STOPPED &&
		    thread_haschild(p->pid, t->tid))
			t->rank = RANK_SIGNALED;
	if (threads_part(p)) {
		threads_await(p);
		(void)threads_part(p);
	}
	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_INTERRUPTED || t->hold == HOLD_BUSY)
			late_add(t->tid);
	if (p->since != 0)
		p->held = (now_ns() - p->since) / 1000;
	p->since = 0;
}
