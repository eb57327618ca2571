/*
 * What is known of a process before it is traced.
 */
#include "linux/proc/proc.h"
#include "state/state.h"
#include "trace.h"

#include <stdlib.h>

/*
 * Return the process that thread tid belongs to; -1 with errstr, if there is
 * none, or if it has nothing to trace.
 */
pid_t
traced_process(pid_t tid)
{
	struct task t;
	long pid;

	if (proc_stat(tid, 0, &t) == -1)
		return errstr_set("No such process");
	if (t.kernel)
		return errstr_set("a thread of the kernel has no page faults");
	if (t.state == 'Z' || t.state == 'X')
		return errstr_set("a zombie has no page faults");
	return (pid = proc_status(tid, 0, "Tgid")) > 0 ? (pid_t)pid : tid;
}

/*
 * Add the mappings that process pid has now to l, as /proc/PID/maps tells them:
 * it comes in pieces, and may have one twice.  Return 0, or -1 with errstr.
 * The caller frees l, after a failure too.
 */
int
traced_maps(pid_t pid, struct vmas *l)
{
	struct bytes b;
	int rc;

	if (proc_read(pid, 0, "maps", &b) == -1)
		return errstr_sys("%d", pid);
	rc = vmas_parse(l, b.data, b.len);
	free(b.data);
	return rc;
}
