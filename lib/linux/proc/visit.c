/*
 * Namespaces of another process: their numbers, and going to one for a moment,
 * setns(2).
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
 * Return the number of a namespace of process pid, by its link below
 * /proc/PID/ns; 0 where that cannot be seen.
 */
uint64_t
ns_number(pid_t pid, const char *link)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, link);
	return stat(path, &st) == -1 ? 0 : st.st_ino;
}

/*
 * Have this thread go to the namespace of kind k that process pid is in, if it
 * is in another; v is to come back with.  Return 0: visit_end is called then;
 * or -1 with errstr.
 */
int
visit_begin(struct visit *v, enum visit_kind k, pid_t pid)
{
	struct stat here, there;
	char link[32];
	int ns, rc;

	v->kind = k;
	snprintf(link, sizeof link, "ns/%s", kind[k].link);
	v->own = proc_open(getpid(), gettid(), link, O_RDONLY);
	ns = proc_open(pid, 0, link, O_RDONLY);
	if (v->own == -1 || ns == -1 || fstat(v->own, &here) == -1 ||
	    fstat(ns, &there) == -1)
		rc = -1;
	else
		rc = here.st_ino == there.st_ino ? 1 :
		    setns(ns, kind[k].flag);
	if (rc == -1)
		errstr_sys("%s", kind[k].what);
	fd_drop(ns);
	if (rc != 0) {
		fd_drop(v->own);
		v->own = -1;
	}
	return rc == -1 ? -1 : 0;
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
