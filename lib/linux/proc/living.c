/*
 * Processes whose first thread may have exited: find a thread that lives, and
 * read the mappings of the process there.
 */
#include "proc.h"

#include <stdlib.h>

struct living {			/* a thread that has not exited */
	pid_t		 pid;
	pid_t		 tid;	/* 0: none was found yet */
};

/*
 * If thread tid lives, record it, and end the search. This is a callback of
 * proc_list().
 */
static int
living_find(void *arg, long tid)
{
	struct living *l = arg;

	if (proc_died(l->pid, (pid_t)tid))
		return 0;
	l->tid = (pid_t)tid;
	return -1;
}

/*
 * Return the ID of a thread of process pid that has not exited, or 0 if there
 * is none. If the first thread has exited, /proc/PID shows no memory and no
 * descriptors.
 */
pid_t
proc_living(pid_t pid)
{
	struct living l = { .pid = pid };

	(void)proc_list(pid, "task", living_find, &l);
	return l.tid;
}

/*
 * Append the current mappings of process pid to l, from /proc/PID/maps or, if
 * its first thread has exited, from the same file of another thread. A mapping
 * that changes during the call may appear twice, because the kernel returns the
 * file in pieces. The caller frees l, even after a failure. Return 0, or -1
 * with errstr set.
 */
int
maps_read(pid_t pid, struct vmas *l)
{
	const size_t n = l->n;
	pid_t tid = 0;
	struct bytes b;
	int rc;

	do {
		if (proc_read(pid, tid, "maps", &b) == -1)
			return tid != 0 ? 0 : errstr_sys("/proc/%d/maps", pid);
		rc = vmas_parse(l, b.data, b.len);
		free(b.data);
	} while (rc == 0 && l->n == n && tid == 0 &&
	    (tid = proc_living(pid)) != 0);
	return rc;
}
