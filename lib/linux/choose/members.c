/*
 * List the processes in a control group and in the groups below it, from the
 * files in its directory: cgroup.procs, or cgroup.threads for a threaded group
 * of version 2, whose cgroup.procs cannot be read (cgroups(7)).
 */
#include "choose.h"
#include "full.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	LEVELS = 128, /* maximum depth of nested cgroups; each level takes a
			 descriptor */
	GROUPS = 20000		/* maximum number of cgroups visited: processes
				   are stopped during the walk */
};

struct walk {
	choose_fn	 fn;
	void		*arg;
	unsigned int	 n;	/* number of cgroups visited so far */
};

/*
 * Return true if error number e means that the group is gone.
 */
static bool
group_isgone(int e)
{
	return e == ENOENT || e == ENODEV || e == ESRCH;
}

/*
 * Call the callback of w for each process in the group whose directory is open
 * as dir. Skip process ID 0, which stands for a process outside our PID
 * namespace.
 */
static int
group_record(struct walk *w, int dir)
{
	struct buf b = { 0 };
	struct scan t, line;
	uint64_t pid;
	bool threads;
	int rc;

	rc = full_readfile(dir, "cgroup.procs", &b);
	threads = rc == -1 && errno == EOPNOTSUPP;
	if (threads)
		rc = full_readfile(dir, "cgroup.threads", &b);
	if (rc == -1)
		rc = group_isgone(errno) ? 0 : errstr_sys("cgroup.procs");
	for (t = scan_begin(b.data, b.len); rc == 0 && scan_line(&t, &line);) {
		if (!scan_number(&line, 10, &pid) || pid == 0)
			continue;
		if (threads)
			pid = (uint64_t)proc_leader((pid_t)pid);
		if (pid <= PID_MAX_LIMIT)
			rc = w->fn(w->arg, (pid_t)pid);
	}
	buf_free(&b);
	return rc;
}

/*
 * Call the callback of w for each process in the group whose directory is open
 * as fd, and in all groups below that group. level is the depth of the group,
 * from 1. Close fd.
 */
static int
group_walk(struct walk *w, int fd, unsigned int level)
{
	struct dirent *e;
	DIR *d;
	int rc, sub;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return errstr_sys("cgroup");
	}
	rc = ++w->n > GROUPS ? errstr_set("more than %d cgroups "
	    "to search", GROUPS) : group_record(w, fd);
	while (rc == 0 && (e = readdir(d)) != NULL) {
		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (sub == -1)
			rc = group_isgone(errno) ? 0 : errstr_sys("cgroup %s",
			    e->d_name);
		else if (level == LEVELS) {
			close(sub);
			rc = errstr_set("cgroup %s: nested more than %d levels "
			    "deep", e->d_name, LEVELS);
		} else
			rc = group_walk(w, sub, level + 1);
	}
	closedir(d);
	return rc;
}

/*
 * Call fn(arg, pid) for each process in and below the groups c->v[from] and
 * later. Stop when fn returns -1. fn may be called more than once for a
 * process. A group that no longer exists counts as empty. Return 0, or -1 with
 * errstr set.
 */
int
cgroups_list(const struct cgroups *c, size_t from, choose_fn fn, void *arg)
{
	struct walk w = { fn, arg, 0 };
	size_t i;
	int fd, rc;

	for (rc = 0, i = from; rc == 0 && i < c->n; i++) {
		fd = open(c->v[i].dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd != -1)
			rc = group_walk(&w, fd, 1);
		else if (!group_isgone(errno))
			rc = errstr_sys("%s", c->v[i].dir);
	}
	return rc;
}

/*
 * Call fn(arg, pid) for each process in and below the groups last added to c.
 * user limits the processes as it does for proc_named(). The string name is
 * what messages call these groups. Return 0, or -1 with errstr set on failure
 * or if there is no such process.
 */
int
cgroups_choose(const struct cgroups *c, const char *name, const uid_t *user,
    choose_fn fn, void *arg)
{
	struct chosen g = { whose_begin(user), fn, arg, 0, 0 };

	if (cgroups_list(c, c->last, chosen_found, &g) == -1)
		return -1;
	return g.found > 0 ? 0 : chosen_none(&g, "is in", name);
}

/*
 * Call fn(arg, pid) for each process in and below the cgroup called name,
 * except this process and kernel threads. Stop when fn returns -1. fn may be
 * called more than once for a process. user limits the processes as it does for
 * proc_named(). Return 0, or -1 with errstr set on failure or if there is no
 * such process.
 */
int
proc_grouped(const char *name, const uid_t *user, choose_fn fn, void *arg)
{
	struct cgroups *c = NULL;
	int rc;

	rc = cgroups_add(&c, name);
	if (rc == 0)
		rc = cgroups_choose(c, name, user, fn, arg);
	cgroups_free(c);
	return rc;
}
