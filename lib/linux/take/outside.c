/*
 * What it takes to start a thread again and can be told from outside, while
 * it is stopped: snap(6), "State that restoring takes".
 */
#include "linux/stop/stop.h"
#include "taking.h"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Return true if two threads are in different namespaces of a kind.  Where the
 * kernel does not tell, they are not.
 */
static bool
ns_differs(pid_t pid, pid_t a, pid_t b, const char *kind)
{
	char path[PATH_MAX];
	struct stat st[2];
	pid_t tid[2] = { a, b };
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "/proc/%d/task/%d/ns/%s", pid,
		    tid[i], kind);
		if (stat(path, &st[i]) == -1)
			return false;
	}
	return st[0].st_dev != st[1].st_dev || st[0].st_ino != st[1].st_ino;
}

/*
 * Record in to what thread t of process p has of its own, though threads
 * mostly share it, here with one of that number: unshare(2), setns(2).
 */
void
thread_apart(const struct lproc *p, const struct lthread *t, pid_t with,
    struct filelist *to)
{
	static const struct {
		const char *name;
		int kind;
	} share[] = {
		{ "files", KCMP_FILES }, { "fs", KCMP_FS }
	};
	static const char *const ns[] = { "cgroup", "ipc", "mnt", "net",
	    "pid_for_children", "time_for_children", "uts" };
	struct buf b = { 0 };
	size_t i;

	if (t->tid == with || with == 0)
		return;
	for (i = 0; i < sizeof share / sizeof *share; i++)
		if (syscall(SYS_kcmp, with, t->tid, share[i].kind, 0L,
		    0L) > 0)
			buf_printf(&b, "%s%s", b.len > 0 ? " " : "",
			    share[i].name);
	for (i = 0; i < sizeof ns / sizeof *ns; i++)
		if (ns_differs(p->pid, with, t->tid, ns[i]))
			buf_printf(&b, "%sns/%s", b.len > 0 ? " " : "", ns[i]);
	if (b.len > 0)
		buf_puts(&b, "\n");
	if (b.len > 0 || b.failed)
		filelist_buf(to, "apart", &b);
}

/*
 * Add to what was seen of thread t, which is stopped, what can be told from
 * outside.
 */
void
thread_outside(struct lthread *t)
{
	struct sched_param sp = { 0 };
	struct rseqconf c;
	size_t len;
	void *head;
	int policy;

	policy = sched_getscheduler(t->tid);
	errno = 0;
	if (policy != -1 && sched_getparam(t->tid, &sp) == 0)
		filelist_text(&t->seen, "scheduling", "%d %d %d\n", policy,
		    sp.sched_priority, getpriority(PRIO_PROCESS,
		    (id_t)t->tid));
	if (syscall(SYS_get_robust_list, t->tid, &head, &len) == 0)
		filelist_text(&t->seen, "robust_list", "%jx %zu\n",
		    (uintmax_t)(uintptr_t)head, len);
	errno = 0;
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, (void *)sizeof c,
	    &c) == (long)sizeof c && c.area != 0)
		filelist_text(&t->seen, "rseq", "%jx %u %x %x\n",
		    (uintmax_t)c.area, c.len, c.signature, c.flags);
	else
		filelist_lose(&t->seen, "rseq");
}
