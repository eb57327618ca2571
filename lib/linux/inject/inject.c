/*
 * System calls that a stopped process is made to run, on x86-64.
 *
 * The calls are made with instructions that the process has.  What they take
 * and give is in memory that it is made to map first and to unmap last, and
 * so is what leads a thread back to where it was should we die meanwhile:
 * frame.c.  For the thread that leads the process, which maps and
 * unmaps that memory, it is on the dead part of its stack instead, below the
 * stack pointer and what the ABI lets functions use there.
 * run.c makes a thread run one, clone.c makes a clone, sigstop.c
 * sees to it that a stopped process stays as it is.
 */
#include "linux/proc/proc.h"
#include "run.h"
#include "state/state.h"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__

enum {
	/* arch/x86/include/asm: segment.h, and xen/interface_64.h */
	CS32 = 0x23, CS64 = 0x33, XEN_CS32 = 0xe023, XEN_CS64 = 0xe033,
	SECCOMP_NONE = 0,
	GET_USER_DISPATCH = 0x4211,	/* of linux/ptrace.h, since 6.4 */
	ARCH_PRCTL = 30,	/* arch/x86/include/uapi/asm */
	SHSTK_STATUS = 0x5005
};

/*
 * Return whether the thread is under seccomp(2); true also where that cannot be
 * known.
 */
static bool
is_filtered(const struct inject *in)
{
	long mode;

	mode = proc_status(in->pid, in->tid, "Seccomp");
	/* a kernel without it tells of none */
	return mode == -1 ? proc_status(getpid(), 0, "Seccomp") != -1 :
	    mode != SECCOMP_NONE;
}

/*
 * Know whether filters of seccomp(2) can be suspended for our calls: where
 * they can, they are, also if the thread has none yet, for another thread that
 * is not stopped may give it some.
 */
static int
seccomp_look(struct inject *in)
{
	in->suspend = 0;
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL,
	    (void *)(in->options | PTRACE_O_SUSPEND_SECCOMP)) == 0)
		in->suspend = PTRACE_O_SUSPEND_SECCOMP;
	else if (errno == ESRCH)
		return inject_refused(in, "options");
	else if (is_filtered(in))
		return errstr_set("it is under seccomp(2)");
	/* it is not let run before they are in force */
	return inject_options(in, 0);
}

/*
 * Return whether a thread hands system calls to itself, by SIGSYS (prctl(2),
 * PR_SET_SYSCALL_USER_DISPATCH).  So it would ours, and that comes first.
 */
static bool
is_dispatched(pid_t tid)
{
	struct {		/* ptrace_sud_config of linux/ptrace.h */
		uint64_t	 mode;
		uint64_t	 selector;
		uint64_t	 offset;
		uint64_t	 len;
	} sud = { 0 };

	return ptrace((enum __ptrace_request)GET_USER_DISPATCH, tid,
	    (void *)sizeof sud, &sud) == 0 && sud.mode != 0;
}

/*
 * Go on in a thread: what it had is kept.
 */
int
inject_thread_enter(struct inject *in, pid_t tid)
{
	uint64_t shadow = 0;

	in->tid = tid;
	in->options = PTRACE_O_TRACESYSGOOD;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &in->regs) == -1 ||
	    ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof in->mask,
	    &in->mask) == -1)
		return inject_refused(in, "registers");
	if (in->regs.cs == CS32 || in->regs.cs == XEN_CS32)
		return errstr_set("it is a 32-bit process");
	if (in->regs.cs != CS64 && in->regs.cs != XEN_CS64)
		return errstr_set("it runs in a code segment of its own");
	if (is_dispatched(tid))
		return errstr_set("it hands its system calls to itself "
		    "(PR_SET_SYSCALL_USER_DISPATCH)");
	/* the way back would not be on it */
	if (ptrace((enum __ptrace_request)ARCH_PRCTL, tid, &shadow,
	    SHSTK_STATUS) == 0 && shadow != 0)
		return errstr_set("it has a shadow stack");
	return seccomp_look(in) == -1 ? -1 : stops_note(in);
}

/*
 * Put back what the thread had; it is stopped, as it was.  Its registers come
 * last: until then it would get all else back by itself.
 */
static int
thread_leave(struct inject *in)
{
	if (in->gone)
		return inject_gone(in);
	if (in->lost || (in->entered && inject_halt(in) == -1))
		return -1;
	if (in->entered && (ptrace(PTRACE_SETSIGMASK, in->tid,
	    (void *)sizeof in->mask, &in->mask) == -1 ||
	    ptrace(PTRACE_SETREGS, in->tid, NULL, &in->regs) == -1))
		return inject_refused(in, "what it was");
	in->entered = false;
	in->ready = false;
	if (ptrace(PTRACE_SETOPTIONS, in->tid, NULL, NULL) == -1)
		return inject_refused(in, "options");
	return 0;
}

static size_t
map_size(void)
{
	return INJECT_ROOM + frame_size();
}

/*
 * Put what leads the thread back to where that is for it, and, if unmap, have
 * it unmap our memory on its way.
 */
int
inject_frame(struct inject *in, bool unmap)
{
	struct way w = { .tid = in->tid, .gadget = &in->gadget,
	    .regs = &in->regs, .mask = in->mask,
	    .bare = in->alone != NULL };
	uint64_t at;
	int len;

	at = in->tid == in->pid || in->alone != NULL ? in->dead :
	    in->map + INJECT_ROOM;
	if (unmap) {
		memcpy(&w.mapped.iov_base, &in->map, sizeof in->map);
		w.mapped.iov_len = map_size();
	}
	if ((len = frame_build(in->buf, at, &w, &in->stack)) == -1)
		return inject_refused(in, "extended state");
	return inject_put(in->pid, in->buf, (size_t)len, at);
}

/*
 * Where there is room for us in the address space: in the middle of the
 * largest hole, away from what grows.  0 if there is none.
 */
static uint64_t
find_hole(const struct vmas *l)
{
	/* [vsyscall] is above */
	const uint64_t most = UINT64_C(1) << 47;
	uint64_t end, hole, size;
	size_t i;

	hole = 0;
	size = map_size();
	for (i = 1; i < l->n && l->v[i].start < most; i++) {
		end = l->v[i - 1].end;
		if (l->v[i].start - end >= size) {
			size = l->v[i].start - end;
			hole = end + (size - map_size()) / 2;
		}
	}
	return hole - hole % (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Find what the process, which has the mappings l, has of what is needed.
 */
static int
inject_survey(struct inject *in, const struct vmas *l)
{
	if (dead_find(in, l) == -1 ||
	    gadgets_find(&in->gadget, in->pid, in->mem, l) == -1)
		return -1;
	in->hole = find_hole(l);
	return 0;
}

/*
 * Read which mappings it has, and do the same.
 */
static int
inject_look(struct inject *in)
{
	struct vmas l = { 0 };
	struct bytes b;
	int rc;

	if (proc_read(in->pid, in->tid, "maps", &b) == -1)
		return errstr_sys("/proc/%d/maps", in->pid);
	rc = vmas_parse(&l, b.data, b.len);
	free(b.data);
	if (rc == 0)
		rc = inject_survey(in, &l);
	vmas_free(&l);
	return rc;
}

/*
 * Have the process map memory for us.  Where it will be is known, so that the
 * thread would unmap it from the beginning.  Before Linux 4.17, it may be
 * elsewhere.
 */
static int
inject_map(struct inject *in)
{
	const uint64_t arg[6] = { in->hole, map_size(), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, UINT64_MAX, 0 };
	int64_t ret;

	if (in->hole == 0)
		return errstr_set("no room in its address space");
	in->map = in->hole;
	if (inject_frame(in, true) == -1 || inject_enter(in, SYS_mmap, arg, 0) ==
	    -1) {
		/* by another error it may be made on the way out */
		if (in->odd)
			in->map = 0;
		return -1;
	}
	if (inject_leave(in) == -1 || inject_result(in, &ret) == -1)
		return -1;
	in->map = ret < 0 && ret > -4096 ? 0 : (uint64_t)ret;
	if (in->map == 0)
		return errstr_set("no memory for its system calls: %s",
		    strerror((int)-ret));
	return in->map == in->hole ? 0 : inject_frame(in, true);
}

/*
 * Have it unmap that again.  The thread that leads it does, for which the dead
 * part of its stack is.  It is the one call that is also made in a process
 * that was odd: it should not be left larger, and this is not made either
 * unless it is what it is to be.
 */
static int
inject_unmap(struct inject *in)
{
	const uint64_t arg[6] = { in->map, map_size() };
	int64_t ret;

	if (in->map == 0)
		return 0;
	if (inject_thread(in, in->pid) == -1)
		return -1;
	in->stack.call = in->stack.last;
	if (inject_make(in, &ret, SYS_munmap, arg) == -1)
		return -1;
	in->map = 0;
	return ret == 0 ? 0 : errstr_set("process %d: munmap: %s", in->pid,
	    strerror((int)-ret));
}

/*
 * Be ready to run system calls in process pid, whose leading thread, and
 * whichever else is to run some, is stopped.  NULL, with the reason, where
 * that cannot be: in a 32-bit process, under seccomp(2) if we may not
 * suspend it, on other machines than x86-64; it is as it was then.  Without
 * room there is no scratch memory, and only the leading thread can be used.
 * l is what it has mapped; NULL: that is read.
 */
struct inject *
inject_begin(pid_t pid, bool room, const struct vmas *l)
{
	struct inject *in;
	sigset_t all;

	if ((in = calloc(1, sizeof *in)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	in->pid = pid;
	in->tid = pid;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &in->ours);
	in->was = malloc(frame_size());
	in->buf = malloc(frame_size());
	in->mem = proc_open(pid, 0, "mem", O_RDONLY);
	if (in->was == NULL || in->buf == NULL) {
		errstr_set("out of memory");
		goto fail;
	}
	if (in->mem == -1) {
		errstr_sys("/proc/%d/mem", pid);
		goto fail;
	}
	if (inject_thread_enter(in, pid) == -1 ||
	    (l != NULL ? inject_survey(in, l) : inject_look(in)) == -1)
		goto fail;
	in->ready = true;
	if ((room ? inject_map(in) : inject_frame(in, false)) == -1)
		goto fail;
	return in;
fail:
	(void)inject_end(in, -1);
	return NULL;
}

/*
 * Go on in another thread of the process, which is stopped, too.  The first
 * one is as it was.
 */
int
inject_thread(struct inject *in, pid_t tid)
{
	if (tid == in->tid && in->ready)
		return 0;
	if (tid != in->pid && inject_trust(in) == -1)
		return -1;
	if ((in->ready && thread_leave(in) == -1) ||
	    inject_thread_enter(in, tid) == -1 || inject_frame(in, tid == in->pid) == -1)
		return -1;
	in->ready = true;
	return 0;
}

/*
 * Do a step of what has the process as it was, which ends if it fails in the
 * middle of a call; not for ever.
 */
static int
restore_step(struct inject *in, int (*step)(struct inject *))
{
	enum { TRIES = 4 };
	int i;

	for (i = 0; i < TRIES && !in->gone && !in->lost; i++)
		if ((i == 0 || !in->entered || inject_halt(in) == 0) &&
		    step(in) == 0)
			return 0;
	return -1;
}

/*
 * Put back what was on the dead part of the stack.
 */
static int
dead_restore(struct inject *in)
{
	return in->dead == 0 ? 0 : inject_put(in->pid, in->was, in->len,
	    in->dead);
}

/*
 * Have the process as it was.  -1 if that does not work, or it is gone.  What
 * leads a thread back stays where that one could not be given what it had.
 */
static int
inject_restore(struct inject *in)
{
	int rc;

	rc = restore_step(in, inject_unmap);
	if (restore_step(in, thread_leave) == -1)
		return -1;
	stops_send(in);
	return restore_step(in, dead_restore) == -1 ? -1 : rc;
}

/*
 * Have the process as it was; rc is 0, or -1 if what was asked of it failed:
 * as inject_end.
 */
int
inject_finish(struct inject *in, int rc)
{
	char why[256];

	strlcpy(why, snap_errstr(), sizeof why);
	if (rc == -1 && in->entered)
		(void)inject_halt(in);	/* it may be within a call */
	if (inject_restore(in) == -1 && rc == 0)
		rc = -1;
	else if (rc == -1)
		errstr_set("%s", why);
	pthread_sigmask(SIG_SETMASK, &in->ours, NULL);
	errno = in->gone ? ESRCH : in->odd ? EPROTO : 0;
	return rc;
}

/*
 * Free what is ours.
 */
void
inject_free(struct inject *in)
{
	if (in == NULL)
		return;
	if (in->mem != -1)
		close(in->mem);
	if (in->alone != NULL && in->pagemap != -1)
		close(in->pagemap);
	free(in->was);
	free(in->buf);
	free(in->stops);
	free(in);
}

/*
 * Have the process as it was, and free what is ours; rc is 0, or -1 if what
 * was asked of it failed.  Return -1 if that or this did, with the first
 * error; then errno is ESRCH if it has died, EPROTO if it did what it was not
 * made to do, so that it should be left alone, else 0.
 */
int
inject_end(struct inject *in, int rc)
{
	int e;

	rc = inject_finish(in, rc);
	e = errno;
	inject_free(in);
	errno = e;
	return rc;
}

#else

struct inject *
inject_begin(pid_t pid, bool room, const struct vmas *l)
{
	(void)pid;
	(void)room;
	(void)l;
	errstr_set("on this machine that is not known how");
	return NULL;
}

void
inject_learn(pid_t pid, const struct vmas *l)
{
	(void)pid;
	(void)l;
}

#endif
