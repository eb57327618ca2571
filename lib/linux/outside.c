/*
 * What it takes to start a thread again and can be told from outside, while
 * it is stopped: snap(6), "State that restoring takes".
 */
#include "live.h"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/*
 * Add to what was seen of a stopped thread what can be told from outside.
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
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, (void *)sizeof c,
	    &c) == (long)sizeof c && c.area != 0)
		filelist_text(&t->seen, "rseq", "%jx %u %x %x\n",
		    (uintmax_t)c.area, c.len, c.signature, c.flags);
}
