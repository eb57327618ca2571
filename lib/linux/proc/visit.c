/*
 * Going to a namespace of another process for a moment: setns(2).
 */
#include "proc.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
	const char	*link;	/* below /proc/PID/ns */
	int		 flag;	/* of setns(2) */
	const char	*what;
} kind[] = {
	[VISIT_CGROUP] = { "cgroup", CLONE_NEWCGROUP,
	    "its cgroup namespace" },
	[VISIT_IPC] = { "ipc", CLONE_NEWIPC, "its IPC namespace" },
	[VISIT_NET] = { "net", CLONE_NEWNET, "its network namespace" },
	[VISIT_UTS] = { "uts", CLONE_NEWUTS, "its UTS namespace" }
};

/*
 * Have this thread go to the namespace of kind k that is open as ns, if it is
 * in another; v is to come back with.  Return 0: visit_end is called then; or
 * -1 with errstr.
 */
int
visit_begin(struct visit *v, enum visit_kind k, int ns)
{
	struct stat here, there;
	char path[40];

	v->kind = k;
	snprintf(path, sizeof path, "/proc/thread-self/ns/%s", kind[k].link);
	v->own = open(path, O_RDONLY | O_CLOEXEC);
	if (v->own == -1 || fstat(v->own, &here) == -1 ||
	    fstat(ns, &there) == -1)
		goto fail;
	if (here.st_ino == there.st_ino) {
		close(v->own);
		v->own = -1;
		return 0;
	}
	if (setns(ns, kind[k].flag) == 0)
		return 0;
fail:
	errstr_sys("%s", kind[k].what);
	fd_drop(v->own);
	return -1;
}

/*
 * Have this thread come back from where visit_begin led it with v.  Return 0,
 * or -1 if it is still there.
 */
int
visit_end(struct visit *v)
{
	int rc;

	if (v->own == -1)
		return 0;
	rc = setns(v->own, kind[v->kind].flag);
	close(v->own);
	return rc;
}
