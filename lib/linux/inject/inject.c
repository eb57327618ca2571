/*
 * System calls that a stopped process is made to run.
 *
 * The calls are made with instructions that the process has.  What they take
 * and give is in memory that it is made to map first and to unmap last, and
 * so is what leads a thread back to where it was should we die meanwhile:
 * machine.h.  For the thread that leads the process, which maps and
 * unmaps that memory, it is on the dead part of its stack instead, below the
 * stack pointer and what the ABI lets functions use there.
 * enter.c goes into a thread, run.c makes it run one, wait.c waits for it,
 * clone.c makes a clone, sigstop.c sees to it that a stopped process stays as
 * it is.
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
 * Put what leads the thread of in back to where that is for it, and, if unmap,
 * have it unmap our memory on its way.  Return 0, or -1 with errstr.
 */
int
inject_frame(struct inject *in, bool unmap)
{
	struct way w = { .tid = in->tid, .gadget = &in->gadget,
	    .regs = &in->regs, .seen = in->seen, .mask = in->mask };
	uint64_t at;
	int len;

	at = in->tid == in->pid ? in->dead : in->map + INJECT_ROOM;
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
	if (inject_frame(in, true) == -1 ||
	    inject_enter(in, isa.mmap, arg, 0) == -1) {
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
 * Free in, or NULL: what is ours of it.
 */
static void
inject_free(struct inject *in)
{
	if (in == NULL)
		return;
	if (in->mem != -1)
		close(in->mem);
	free(in->was);
	free(in->buf);
	free(in->stops);
	free(in->kept.buf);
	free(in);
}

/*
 * Return what runs system calls in process pid, without a thread of it;
 * inject_free frees it.  NULL with errstr on a machine of which it is not known
 * how, or where the memory of pid cannot be read.
 */
static struct inject *
inject_new(pid_t pid)
{
	struct inject *in;

	if (!isa.injects) {
		errstr_set("on this machine that is not known how");
		return NULL;
	}
	if ((in = calloc(1, sizeof *in)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	in->pid = pid;
	in->was = malloc(isa.frame);
	in->buf = malloc(isa.frame);
	in->mem = proc_open(pid, 0, "mem", O_RDONLY);
	if (in->was == NULL || in->buf == NULL)
		errstr_set("out of memory");
	else if (in->mem == -1)
		errstr_sys("/proc/%d/mem", pid);
	else
		return in;
	inject_free(in);
	return NULL;
}

/*
 * Be ready to run system calls in process p, of which no thread runs
 * (lproc_stands); p and its threads are in use until inject_end.  Without room
 * there is no scratch memory, and only the first thread can be used.  l is what
 * p has mapped; NULL: that is read.  Return what is used for that; or NULL with
 * errstr, and p is as it was, where that cannot be: a thread is not stopped, it
 * is a 32-bit process, it is under seccomp(2) and we may not suspend that, or
 * it is not known how on this machine.
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
	pthread_sigmask(SIG_SETMASK, &all, &in->ours);
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
 * Go on with in in thread t of the process, another one, which is stopped.  The
 * first one is as it was.  Return 0, or -1 with errstr.
 */
int
inject_thread(struct inject *in, const struct lthread *t)
{
	if (t->tid == in->tid && in->ready)
		return 0;
	/* the one that leads has to go back whatever was */
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
	if (restore_step(in, inject_thread_leave) == -1)
		return -1;
	stops_send(in);
	return restore_step(in, dead_restore) == -1 ? -1 : rc;
}

/*
 * Begin to have the process as it was, if it needs only to stop for that:
 * inject_end waits for it.
 */
void
inject_ending(struct inject *in)
{
	if (in->entered && !in->gone && !in->lost && !in->odd &&
	    in->map == 0 && in->again.code == 0)
		inject_halting(in);
}

/*
 * Have the process of in as it was, and free what is ours; rc is 0, or -1 if
 * what was asked of it failed.  Return 0; or -1 if that or this did, with the
 * first error; then errno is ESRCH if it has died, EPROTO if it did what it was
 * not made to do, so that it should be left alone, else 0.
 */
int
inject_end(struct inject *in, int rc)
{
	char why[256];
	int e;

	strlcpy(why, snap_errstr(), sizeof why);
	if (rc == -1 && in->entered)
		(void)inject_halt(in);	/* it may be within a call */
	if (inject_restore(in) == -1 && rc == 0)
		rc = -1;
	else if (rc == -1)
		errstr_set("%s", why);
	inject_retell(in);
	pthread_sigmask(SIG_SETMASK, &in->ours, NULL);
	e = in->gone ? ESRCH : in->odd ? EPROTO : 0;
	inject_free(in);
	errno = e;
	return rc;
}
