/*
 * Namespaces of another process: read their numbers, and enter one for a moment
 * with setns(2).
 */
#include "proc.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static const struct {
	const char	*link;	/* name of the namespace's link in
				   /proc/PID/ns */
	int		 flag;	/* CLONE_NEW flag for setns(2) */
	const char	*what;
} kind[] = {
	[VISIT_CGROUP] = { "cgroup", CLONE_NEWCGROUP,
	    "its cgroup namespace" },
	[VISIT_IPC] = { "ipc", CLONE_NEWIPC, "its IPC namespace" },
	[VISIT_NET] = { "net", CLONE_NEWNET, "its network namespace" },
	[VISIT_UTS] = { "uts", CLONE_NEWUTS, "its UTS namespace" }
};

/*
 * Return the number of a namespace of process pid. link is the name of the
 * namespace in /proc/pid/ns. Return 0 if the link is not readable.
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
 * Move this thread to the namespace of kind k that process pid is in, unless
 * the thread is there already. Record in v how to return. Return 0; the caller
 * must then call visit_end(). Return -1 with errstr set on failure.
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
 * Move this thread back to the namespace that it was in before visit_begin().
 * Return 0, or -1 if that fails.
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
