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

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t
map_size(void)
{
	return INJECT_ROOM + isa.frame;
}

/*
 * Write the return frame of the thread of in. If unmap is set, the frame first
 * unmaps our memory. Return 0, or -1 with errstr set.
 */
int
inject_frame(struct inject *in, bool unmap)
{
	struct frame w = { .tid = in->tid, .gadget = &in->gadget,
	    .regs = &in->regs, .seen = in->seen, .mask = in->mask };
	uint64_t at;
	int len;

	at = in->tid == in->pid ? in->unused : in->map + INJECT_ROOM;
	if (unmap) {
		memcpy(&w.mapped.iov_base, &in->map, sizeof in->map);
		w.mapped.iov_len = map_size();
	}
	if ((len = frame_build(in->buf, at, &w, &in->stack)) == -1)
		return inject_refused(in, "extended state");
	return inject_put(in->pid, in->buf, (size_t)len, at);
}

/*
 * Return an address for our mapping, in the middle of the largest free range of
 * the address space, away from mappings that grow; or 0 if there is none.
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
 * Find unused stack, instructions and a free address range in the process,
 * whose mappings are l. Return 0, or -1 with errstr set.
 */
static int
inject_survey(struct inject *in, const struct vmas *l)
{
	if (unusedstack_find(in, l) == -1 ||
	    gadgets_find(&in->gadget, in->pid, in->mem, l) == -1)
		return -1;
	in->hole = find_hole(l);
	return 0;
}

/*
 * Read the mappings of the process, and call inject_survey with them. Return 0,
 * or -1 with errstr set.
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
 * Make the process map memory for us. The address is chosen beforehand, so that
 * the return frame can unmap the memory from the start. Before Linux 4.17 the
 * kernel may choose another address; then the frame is written again. Return 0,
 * or -1 with errstr set.
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
	if (inject_frame(in, true) == -1 ||
	    inject_enter(in, isa.mmap, arg, 0) == -1) {
		/* after other errors the kernel may still map it */
		if (in->unexpected)
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
 * Make the main thread unmap our memory. This call is made even if the process
 * did something unexpected, so that it does not stay larger; like every call,
 * it is checked at its entry. Return 0, or -1 with errstr set.
 */
static int
inject_unmap(struct inject *in)
{
	const uint64_t arg[6] = { in->map, map_size() };
	int64_t ret;

	if (in->map == 0)
		return 0;
	if (inject_thread(in, in->leader) == -1)
		return -1;
	in->stack.call = in->stack.last;
	if (inject_make(in, &ret, SYS_munmap, arg) == -1)
		return -1;
	in->map = 0;
	return ret == 0 ? 0 : errstr_set("process %d: munmap: %s", in->pid,
	    strerror((int)-ret));
}

/*
 * Free in, which may be NULL, and what it owns. The process is not touched.
 */
static void
inject_free(struct inject *in)
{
	if (in == NULL)
		return;
	if (in->mem != -1)
		close(in->mem);
	free(in->saved);
	free(in->buf);
	free(in->stops);
	free(in->ext.buf);
	free(in);
}

/*
 * Return a new structure for running system calls in process pid, with no
 * thread set up. inject_free frees it. Return NULL with errstr set if injection
 * is not supported on this machine or the memory of pid cannot be read.
 */
static struct inject *
inject_new(pid_t pid)
{
	struct inject *in;

	if (!isa.injects) {
		errstr_set("system-call injection is not supported on this "
		    "architecture");
		return NULL;
	}
	if ((in = calloc(1, sizeof *in)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	in->pid = pid;
	in->saved = malloc(isa.frame);
	in->buf = malloc(isa.frame);
	in->mem = proc_open(pid, 0, "mem", O_RDONLY);
	if (in->saved == NULL || in->buf == NULL)
		errstr_set("out of memory");
	else if (in->mem == -1)
		errstr_sys("/proc/%d/mem", pid);
	else
		return in;
	inject_free(in);
	return NULL;
}

/*
 * Prepare to run system calls in process p. No thread of p may run
 * (lproc_stands), and p and its threads must exist until inject_end. Without
 * room there is little scratch memory, and only the main thread can run calls.
 * l has the mappings of p; NULL: read them. Return NULL with errstr set and p
 * unchanged if a thread is not stopped, it is a 32-bit process, its seccomp(2)
 * filters cannot be suspended, or this machine is not supported.
 */
struct inject *
inject_begin(const struct lproc *p, bool room, const struct vmas *l)
{
	struct inject *in;
	sigset_t all;

	if (lproc_stands(p) == -1 || (in = inject_new(p->pid)) == NULL)
		return NULL;
	in->leader = TAILQ_FIRST(&p->threads);
	in->tid = p->pid;
	in->until = now_ms() + ALL_MS;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &in->oldmask);
	if (inject_thread_enter(in, in->leader) == -1 ||
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
 * Run further calls of in in t, another stopped thread of the process. The
 * thread before it is restored. Return 0, or -1 with errstr set.
 */
int
inject_thread(struct inject *in, const struct lthread *t)
{
	if (t->tid == in->tid && in->ready)
		return 0;
	/* always enter the main thread: it has to be restored */
	if (t != in->leader && inject_may(in) == -1)
		return -1;
	if ((in->ready && inject_thread_leave(in) == -1) ||
	    inject_thread_enter(in, t) == -1 ||
	    inject_frame(in, t == in->leader) == -1)
		return -1;
	in->ready = true;
	return 0;
}

/*
 * Call step, which restores a part of the process, until it succeeds, at most
 * TRIES times. If it fails in the middle of a call, stop the thread before
 * trying again. Return 0, or -1.
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
 * Restore the original contents of the stack that we used. Return 0, or -1 with
 * errstr set.
 */
static int
unused_restore(struct inject *in)
{
	return in->unused == 0 ? 0 : inject_put(in->pid, in->saved, in->len,
	    in->unused);
}

/*
 * Restore the process. Return -1 if that fails or the process is gone. If a
 * thread could not be restored, its return frame is left in place.
 */
static int
inject_restore(struct inject *in)
{
	int rc;

	rc = restore_step(in, inject_unmap);
	if (restore_step(in, inject_thread_leave) == -1)
		return -1;
	stops_send(in);
	return restore_step(in, unused_restore) == -1 ? -1 : rc;
}

/*
 * Begin to restore the process, if it only has to be stopped for that;
 * inject_end waits for it.
 */
void
inject_ending(struct inject *in)
{
	if (in->entered && !in->gone && !in->lost && !in->unexpected &&
	    in->map == 0 && in->restart.code == 0)
		inject_halting(in);
}

/*
 * Restore the process of in and free in. rc is 0, or -1 if the caller failed.
 * Return 0, or -1 if rc is -1 or restoring failed, with the first error in
 * errstr. Then errno is ESRCH if the process has died, EPROTO if it did
 * something other than our calls and should be left alone, else 0.
 */
int
inject_end(struct inject *in, int rc)
{
	char why[256];
	int e;

	strlcpy(why, snap_errstr(), sizeof why);
	if (rc == -1 && in->entered)
		(void)inject_halt(in);	/* the thread may be within a call */
	if (inject_restore(in) == -1 && rc == 0)
		rc = -1;
	else if (rc == -1)
		errstr_set("%s", why);
	inject_resignal(in);
	pthread_sigmask(SIG_SETMASK, &in->oldmask, NULL);
	e = in->gone ? ESRCH : in->unexpected ? EPROTO : 0;
	inject_free(in);
	errno = e;
	return rc;
}
