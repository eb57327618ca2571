/*
 * What it takes to start a thread again and can be told from outside:
 * snap(6), "State that restoring takes".
 */
#include "linux/stop/stop.h"
#include "taking.h"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What a thread may have of its own, though threads mostly share it: a bit of
 * a set each.
 */
enum { NKCMP = 2 };		/* kcmp(2) tells of the first ones */

static const char *const apart[] = { "files", "fs", "ns/cgroup", "ns/ipc",
	"ns/mnt", "ns/net", "ns/pid_for_children", "ns/time_for_children",
	"ns/uts" };

_Static_assert(sizeof apart / sizeof *apart == NKCMP + NSPACES,
    "lproc->spaces has one for each namespace");

/*
 * Return the number of a namespace that thread tid of process p is in; 0 if it
 * is not told.
 */
static uint64_t
space_number(struct lproc *p, pid_t tid, const char *name)
{
	char link[64], *s;
	ssize_t n;

	n = thread_link(p, tid, name, link, sizeof link - 1);
	link[n > 0 ? n : 0] = '\0';
	return (s = strchr(link, '[')) == NULL ? 0 : strtoull(s + 1, NULL, 10);
}

/*
 * Set space to the namespaces that thread tid of process p is in.
 */
void
spaces_read(struct lproc *p, pid_t tid, uint64_t space[NSPACES])
{
	size_t i;

	for (i = 0; i < NSPACES; i++)
		space[i] = space_number(p, tid, apart[NKCMP + i]);
}

/*
 * Return whether two threads have a thing of their own that kcmp(2) tells of.
 */
static bool
kcmp_differs(pid_t a, pid_t b, size_t i)
{
	static const int kind[NKCMP] = { KCMP_FILES, KCMP_FS };

	return syscall(SYS_kcmp, a, b, kind[i], 0L, 0L) > 0;
}

/*
 * Return what thread t of process p has of its own, where another one has the
 * number with and is in the namespaces space: unshare(2), setns(2).  What the
 * kernel does not tell they have together.
 */
unsigned int
thread_apart(struct lproc *p, const struct lthread *t, pid_t with,
    const uint64_t space[NSPACES])
{
	unsigned int set;
	uint64_t own;
	size_t i;

	set = 0;
	if (t->tid == with || with == 0)
		return set;
	for (i = 0; i < NKCMP; i++)
		if (kcmp_differs(with, t->tid, i))
			set |= 1U << i;
	for (i = 0; i < NSPACES; i++) {
		own = space_number(p, t->tid, apart[NKCMP + i]);
		if (own != 0 && space[i] != 0 && own != space[i])
			set |= 1U << (NKCMP + i);
	}
	return set;
}

/*
 * Return true if what the threads of process p that stayed had of their own
 * when they were asked they have now, in the stop: the one that leads p, with
 * which they were compared, has left nothing either.  It is in the same
 * namespaces, now in space; and who once leaves the files or directories of
 * others (unshare(2)) has them with none of these again, so one thread that
 * still has tells for all.
 */
bool
apart_holds(struct lproc *p, const uint64_t space[NSPACES])
{
	const struct lthread *t;
	size_t i;

	if (memcmp(space, p->spaces, sizeof p->spaces) != 0)
		return false;
	for (i = 0; i < NKCMP; i++)
		TAILQ_FOREACH(t, &p->threads, entry)
			if (t->stayed && !(t->apart >> i & 1)) {
				if (kcmp_differs(p->pid, t->tid, i))
					return false;
				break;
			}
	return true;
}

/*
 * Record in to what a thread has of its own: set, as thread_apart tells.
 */
void
apart_record(unsigned int set, struct filelist *to)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < NKCMP + NSPACES; i++)
		if (set >> i & 1)
			buf_printf(&b, "%s%s", b.len > 0 ? " " : "", apart[i]);
	if (b.len == 0)
		return;
	buf_puts(&b, "\n");
	filelist_buf(to, "apart", &b);
}

/*
 * Record in to where the rseq(2) of thread t is, which is stopped.
 */
static void
thread_rseq(const struct lthread *t, struct filelist *to)
{
	struct rseqconf c;

	errno = 0;
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, (void *)sizeof c,
	    &c) == (long)sizeof c && c.area != 0)
		filelist_text(to, "rseq", "%jx %u %x %x\n",
		    (uintmax_t)c.area, c.len, c.signature, c.flags);
	else if (errno != EIO)	/* nobody is told before Linux 5.13 */
		filelist_lose(to, "rseq");
}

/*
 * Look from outside at thread t, which stands still: at what others may change
 * at any time, and at what it alone does, by set_robust_list(2).  Any thread
 * may.
 */
void
outside_look(struct lthread *t)
{
	struct outside *o = &t->outside;
	struct sched_param sp = { 0 };

	o->policy = sched_getscheduler(t->tid);
	if (o->policy != -1 && sched_getparam(t->tid, &sp) == -1)
		o->policy = -1;
	o->priority = sp.sched_priority;
	errno = 0;
	if (o->policy != -1)
		o->nice = getpriority(PRIO_PROCESS, (id_t)t->tid);
	o->robust = syscall(SYS_get_robust_list, t->tid, &o->head,
	    &o->len) == 0;
}

/*
 * Record in to what was seen of thread t, which stands still, from outside, and
 * its rseq(2) if it is stopped by us.
 */
void
thread_outside(const struct lthread *t, struct filelist *to)
{
	const struct outside *o = &t->outside;

	if (o->policy != -1)
		filelist_text(to, "scheduling", "%d %d %d\n", o->policy,
		    o->priority, o->nice);
	if (o->robust)
		filelist_text(to, "robust_list", "%jx %zu\n",
		    (uintmax_t)(uintptr_t)o->head, o->len);
	if (t->hold == HOLD_STOPPED)
		thread_rseq(t, to);
}
