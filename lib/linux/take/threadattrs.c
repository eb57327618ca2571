/*
 * Attributes of a thread that are needed to restore it and can be read without
 * running code in it: snap-linux(6).
 */
#include "linux/stop/stop.h"
#include "taking.h"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <sched.h>
#include <unistd.h>

/*
 * Resources that threads usually share, but may have separately after
 * unshare(2) or setns(2).
 */
enum { NKCMP = 2 };		/* number of resources that kcmp(2) compares:
				   the first elements of "apart" */

static const char *const apart[] = { "files", "fs", "ns/cgroup", "ns/ipc",
	"ns/mnt", "ns/net", "ns/pid_for_children", "ns/time_for_children",
	"ns/uts" };

_Static_assert(sizeof apart / sizeof *apart == NKCMP + NSPACES,
    "a number for each namespace");

/*
 * Set space to the numbers of the namespaces of thread tid.
 */
void
spaces_read(pid_t tid, uint64_t space[NSPACES])
{
	size_t i;

	for (i = 0; i < NSPACES; i++)
		space[i] = ns_number(tid, apart[NKCMP + i] + strlen("ns/"));
}

/*
 * Add to list l the resources that thread t does not share with another thread
 * of its process. other is the ID of that thread, and space has its namespaces.
 * A resource that cannot be compared counts as shared.
 */
void
thread_apart(const struct lthread *t, pid_t other,
    const uint64_t space[NSPACES], struct filelist *l)
{
	static const int kind[NKCMP] = { KCMP_FILES, KCMP_FS };
	struct buf b = { 0 };
	uint64_t own;
	size_t i;
	bool has;

	for (i = 0; i < NKCMP + NSPACES; i++) {
		if (i < NKCMP)
			has = syscall(SYS_kcmp, other, t->tid, kind[i], 0L,
			    0L) > 0;
		else {
			own = ns_number(t->tid, apart[i] + strlen("ns/"));
			has = own != 0 && space[i - NKCMP] != 0 &&
			    own != space[i - NKCMP];
		}
		if (has)
			buf_printf(&b, "%s%s", b.len > 0 ? " " : "", apart[i]);
	}
	if (b.len == 0)
		return;
	buf_puts(&b, "\n");
	filelist_buf(l, "apart", &b);
}

/*
 * Record the rseq(2) area of thread t, which is stopped, in list l. Before
 * Linux 5.13, the request that reads it does not exist and fails with EIO.
 */
static void
thread_rseq(const struct lthread *t, struct filelist *l)
{
	enum { TRIES = 2 };
	struct rseqconf c;
	long n = -1;
	int i;

	for (i = 0; n == -1 && i < TRIES; i++)
		n = ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid,
		    (void *)sizeof c, &c);
	if (n == (long)sizeof c && c.area != 0)
		filelist_text(l, "rseq", "%jx %u %x %x\n",
		    (uintmax_t)c.area, c.len, c.signature, c.flags);
	else if (n == -1 && errno != EIO)
		filelist_lose(l, "rseq");
}

/*
 * Record the scheduling attributes and the robust list of thread t in list l. t
 * must stand still. If we have stopped it, also record its rseq(2) area.
 */
void
thread_attrs(const struct lthread *t, struct filelist *l)
{
	struct sched_param sp = { 0 };
	void *head;
	size_t len;
	int policy;

	policy = sched_getscheduler(t->tid);
	if (policy != -1 && sched_getparam(t->tid, &sp) == 0)
		filelist_text(l, "scheduling", "%d %d %d\n", policy,
		    sp.sched_priority, getpriority(PRIO_PROCESS,
		    (id_t)t->tid));
	if (syscall(SYS_get_robust_list, t->tid, &head, &len) == 0)
		filelist_text(l, "robust_list", "%jx %zu\n",
		    (uintmax_t)(uintptr_t)head, len);
	if (t->hold == HOLD_STOPPED)
		thread_rseq(t, l);
}
