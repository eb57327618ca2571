/*
 * Make a stopped process run system calls.
 *
 * The calls use instructions that the process has. Their arguments and results
 * are in memory that the process maps first and unmaps last. So is the return
 * frame, which returns a thread to where it was if we die (machine.h). The main
 * thread maps and unmaps this memory, so its return frame is on an unused part
 * of its stack, below the stack pointer and the red zone of the ABI.
 *
 * enter.c prepares a thread, run.c makes it run a call, wait.c waits for it,
 * clone.c makes a clone, and sigstop.c keeps a stopped process stopped.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "run.h"
#include "state/state.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static size_t
map_size(void)
{
	return INJECT_ROOM + isa.frame;
}

/*
 * Write the return frame of the thread of inj: a signal frame from which it
 * continues its program if we die. If unmap is set, the frame first unmaps our
 * memory, unless a filter of seccomp(2) could kill the thread for that. Return
 * 0, or -1 with errstr set.
 */
static int
inject_frame(struct inject *inj, bool unmap)
{
	struct frame w = { .tid = inj->tid, .gadget = &inj->gadget,
	    .regs = &inj->regs, .seen = inj->seen, .mask = inj->mask };
	uint64_t at;
	int len;

	at = inj->tid == inj->pid ? inj->unused : inj->map + INJECT_ROOM;
	if (unmap && !inj->filtered) {
		memcpy(&w.mapped.iov_base, &inj->map, sizeof inj->map);
		w.mapped.iov_len = map_size();
	}
	if ((len = frame_build(inj->buf, at, &w, &inj->stack)) == -1)
		return inject_refused(inj, "extended state");
	return inject_put(inj->pid, inj->buf, (size_t)len, at);
}

/*
 * Return an address for our memory in the process, or 0 if there is none. It is
 * in the middle of the largest free range between the mappings in l, away from
 * mappings that grow.
 */
static uint64_t
find_hole(const struct vmas *l)
{
	uint64_t end, hole, size;
	size_t i;

	hole = 0;
	size = map_size();
	for (i = 1; i < l->n && l->v[i].start < isa.top; i++) {
		end = l->v[i - 1].end;
		if (l->v[i].start - end >= size) {
			size = l->v[i].start - end;
			hole = end + (size - map_size()) / 2;
		}
	}
	return hole - hole % (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Find unused stack, instructions, and a free address range for calls injected
 * into the process of inj. l has the mappings of the process.
 */
static int
inject_survey(struct inject *inj, const struct vmas *l)
{
	if (unusedstack_find(inj, l) == -1 ||
	    gadgets_find(&inj->gadget, inj->pid, inj->mem, l) == -1)
		return -1;
	inj->hole = find_hole(l);
	return 0;
}

/*
 * Read the mappings of the process of inj, and call inject_survey() with them.
 */
static int
inject_look(struct inject *inj)
{
	struct vmas l = { 0 };
	int rc;

	rc = maps_read(inj->pid, &l) == -1 ? -1 : inject_survey(inj, &l);
	vmas_free(&l);
	return rc;
}

/*
 * Make the process of inj map memory for us. The address is chosen in advance,
 * so that the return frame (used if we die) can unmap the memory. Before Linux
 * 4.17 the kernel may choose another address; the frame is then written again.
 */
static int
inject_map(struct inject *inj)
{
	const uint64_t arg[6] = { inj->hole, map_size(), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, UINT64_MAX, 0 };
	int64_t ret;

	if (inj->hole == 0)
		return errstr_set("no room for scratch memory in its "
		    "address space");
	inj->map = inj->hole;
	if (inject_frame(inj, true) == -1 ||
	    inject_enter(inj, isa.mmap, arg, 0) == -1) {
		/* after other errors the kernel may still map it */
		if (inj->unexpected)
			inj->map = 0;
		return -1;
	}
	if (inject_callend(inj, &ret) == -1)
		return -1;
	inj->map = ret < 0 && ret > -4096 ? 0 : (uint64_t)ret;
	if (inj->map == 0)
		return errstr_set("cannot map memory for injected calls: "
		    "%s", strerror((int)-ret));
	return inj->map == inj->hole ? 0 : inject_frame(inj, true);
}

/*
 * Make the main thread unmap our memory. This is done even if the process did
 * something unexpected, so that our memory does not stay mapped; like every
 * call, this one is checked at its entry.
 */
static int
inject_unmap(struct inject *inj)
{
	const uint64_t arg[6] = { inj->map, map_size() };
	int64_t ret;

	if (inj->map == 0)
		return 0;
	if (inject_thread(inj, inj->leader) == -1 ||
	    inject_make(inj, &ret, SYS_munmap, arg) == -1)
		return -1;
	inj->map = 0;
	inj->stack.call = inj->stack.last;
	return ret == 0 ? 0 : errstr_set("process %d: munmap: %s", inj->pid,
	    strerror((int)-ret));
}

/*
 * Free inj, which may be NULL, and what it owns. The process is not touched.
 */
static void
inject_free(struct inject *inj)
{
	if (inj == NULL)
		return;
	fd_drop(inj->mem);
	free(inj->saved);
	free(inj->buf);
	free(inj->stops);
	free(inj->ext.buf);
	free(inj);
}

/*
 * Return a new structure for running system calls in process pid. No thread is
 * set up yet. inject_free() frees it. Return NULL with errstr set if injection
 * is not supported on this machine, or if the memory of pid cannot be read.
 */
static struct inject *
inject_new(pid_t pid)
{
	struct inject *inj;

	if (!isa.injects) {
		errstr_set("system-call injection is not supported on this "
		    "architecture");
		return NULL;
	}
	if ((inj = mem_new(1, sizeof *inj)) == NULL)
		return NULL;
	inj->pid = pid;
	inj->saved = malloc(isa.frame);
	inj->buf = malloc(isa.frame);
	inj->mem = proc_open(pid, 0, "mem", O_RDONLY);
	if (inj->saved == NULL || inj->buf == NULL)
		errstr_set("out of memory");
	else if (inj->mem == -1)
		errstr_sys("/proc/%d/mem", pid);
	else
		return inj;
	inject_free(inj);
	return NULL;
}

/*
 * Prepare to run system calls in process p. Each thread of p must be stopped or
 * have ended (lproc_stands()). p and its threads must exist until inject_end().
 * l has the mappings of p; if l is NULL, they are read. If room is false, there
 * is little scratch memory, and only the main thread can run calls. On failure,
 * leave p unchanged, and return NULL with errstr set.
 *
 * The function fails if a thread is not stopped, if p is a 32-bit process, if
 * its seccomp(2) filters cannot be suspended, or if this machine is not
 * supported.
 */
struct inject *
inject_begin(const struct lproc *p, bool room, const struct vmas *l)
{
	struct inject *inj;
	sigset_t all;

	if (lproc_stands(p) == -1 || (inj = inject_new(p->pid)) == NULL)
		return NULL;
	inj->leader = TAILQ_FIRST(&p->threads);
	inj->tid = p->pid;
	inj->until = now_ms() + ALL_MS;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &inj->oldmask);
	if (inject_thread_enter(inj, inj->leader) == 0 &&
	    (l != NULL ? inject_survey(inj, l) : inject_look(inj)) == 0) {
		inj->ready = true;
		if ((room ? inject_map(inj) : inject_frame(inj, false)) == 0)
			return inj;
	}
	(void)inject_end(inj, -1);
	return NULL;
}

/*
 * Run the next calls of inj in t, another stopped thread of the process. The
 * thread used before is restored first. Return 0, or -1 with errstr set.
 */
int
inject_thread(struct inject *inj, const struct lthread *t)
{
	if (t->tid == inj->tid && inj->ready)
		return 0;
	/* always enter the main thread: it has to be restored */
	if (t != inj->leader && inject_may(inj) == -1)
		return -1;
	if ((inj->ready && inject_thread_leave(inj) == -1) ||
	    inject_thread_enter(inj, t) == -1 ||
	    inject_frame(inj, t == inj->leader) == -1)
		return -1;
	inj->ready = true;
	return 0;
}

/*
 * Call step(), which restores a part of the process, until it succeeds. Give up
 * after TRIES attempts. If step() fails in the middle of a call, stop the
 * thread before the next attempt. Return 0, or -1.
 */
static int
restore_step(struct inject *inj, int (*step)(struct inject *))
{
	enum { TRIES = 4 };
	int i;

	for (i = 0; i < TRIES && !inj->gone && !inj->lost; i++)
		if ((i == 0 || !inj->entered || inject_halt(inj) == 0) &&
		    step(inj) == 0)
			return 0;
	return -1;
}

/*
 * Restore the original contents of the stack that we used in the process of
 * inj.
 */
static int
unused_restore(struct inject *inj)
{
	return inj->unused == 0 ? 0 : inject_put(inj->pid, inj->saved, inj->len,
	    inj->unused);
}

/*
 * Restore the process of inj to its state before our calls. If a thread cannot
 * be restored, leave its return frame in place; the thread then continues its
 * program from that frame. Return 0, or -1 if a part could not be restored or
 * the process is gone.
 */
static int
inject_restore(struct inject *inj)
{
	int rc;

	rc = restore_step(inj, inject_unmap);
	if (restore_step(inj, inject_thread_leave) == -1)
		return -1;
	stops_send(inj);
	return restore_step(inj, unused_restore) == -1 ? -1 : rc;
}

/*
 * If stopping the thread of inj is all that is needed before the process can be
 * restored, begin to stop it, without waiting. inject_end() waits, and reports
 * errors.
 */
void
inject_ending(struct inject *inj)
{
	if (inj->entered && !inj->gone && !inj->lost && !inj->unexpected &&
	    inj->map == 0 && inj->restart.code == 0)
		inj->halting = ptrace(PTRACE_INTERRUPT, inj->tid, NULL,
		    NULL) == 0 &&
		    ptrace(PTRACE_CONT, inj->tid, NULL, NULL) == 0;
}

/*
 * Restore the process of inj, and free inj. rc is 0, or -1 if the caller
 * failed. Return 0 if rc is 0 and restoring succeeded, else -1 with the first
 * error in errstr. errno is then ESRCH if the process has died, EPROTO if it
 * did something other than our calls and should be left alone, EAGAIN if it did
 * not run, as in a frozen cgroup, else 0.
 */
int
inject_end(struct inject *inj, int rc)
{
	char why[256];
	int e;

	strlcpy(why, snap_errstr(), sizeof why);
	if (rc == -1 && inj->entered)
		(void)inject_halt(inj);	/* the thread may be within a call of
					   ours */
	if (inject_restore(inj) == -1 && rc == 0)
		rc = -1;
	else if (rc == -1)
		errstr_set("%s", why);
	inject_resignal(inj);
	pthread_sigmask(SIG_SETMASK, &inj->oldmask, NULL);
	e = inj->gone ? ESRCH : inj->unexpected ? EPROTO :
	    inj->frozen ? EAGAIN : 0;
	inject_free(inj);
	errno = e;
	return rc;
}
