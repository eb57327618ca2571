/*
 * Measure a process while it runs, from files below /proc and its cgroup.
 */
#include "full.h"
#include "proc.h"
#include "space.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Count a descriptor. This is a callback of proc_list().
 */
static int
number_count(void *count, long number)
{
	(void)number;
	++*(uint64_t *)count;
	return 0;
}

/*
 * Set *v to the share of the last ten seconds in which some tasks waited, in
 * hundredths of a percent. path names a pressure file, whose first line is
 * "some avg10=1.23 avg60=...". Return 0, or -1 with errstr set.
 */
static int
pressure_read(const char *path, uint64_t *v)
{
	struct buf b = { 0 };
	struct scan text;
	uint64_t part;
	int rc;

	if (full_readfile(AT_FDCWD, path, &b) == -1)
		rc = errstr_sys("%s", path);
	else {
		text = scan_begin(b.data, b.len);
		rc = scan_begins(&text, "some avg10=") &&
		    scan_number(&text, 10, v) && scan_byte(&text, '.') &&
		    scan_number(&text, 10, &part) ? 0 :
		    errstr_set("%s: is not a pressure file", path);
		if (rc == 0)
			*v = *v * 100 + part;	/* two digits */
	}
	buf_free(&b);
	return rc;
}

/*
 * Find the directory of the version 2 cgroup of process pid: cgroups is its
 * /proc/PID/cgroup, and mounts is our mountinfo. Set *dir, which the caller
 * frees. Return 1, 0 if there is none, or -1 with errstr set.
 */
static int
unified_find(struct scan cgroups, struct scan mounts, char **dir)
{
	struct cgroupline l;
	size_t top;

	while (cgroup_next(&cgroups, &l))
		if (scan_len(&l.list) == 0)
			return cgroup_locate(&mounts, "", l.path, dir, &top);
	return 0;
}

/*
 * Set *v to the pressure of the resource with this name in the cgroup of
 * process pid, as pressure_read() does.
 */
static int
pressure_measure(pid_t pid, const char *resource, uint64_t *v)
{
	struct bytes cgroups = { 0 }, mounts = { 0 };
	char *dir = NULL, *path = NULL;
	int rc = -1;

	if (proc_read(pid, 0, "cgroup", &cgroups) == 0 &&
	    proc_read(getpid(), 0, "mountinfo", &mounts) == 0)
		rc = unified_find(scan_begin(cgroups.data, cgroups.len),
		    scan_begin(mounts.data, mounts.len), &dir);
	else
		(void)errstr_sys("/proc/%d/cgroup", pid);
	if (rc == 0)
		rc = errstr_set("process %d has no cgroup of version 2 here, "
		    "so its pressure is unknown", pid);
	else if (rc == 1)
		rc = asprintf(&path, "%s/%s.pressure", dir, resource) == -1 ?
		    errstr_set("out of memory") : pressure_read(path, v);
	free(path);
	free(dir);
	free(cgroups.data);
	free(mounts.data);
	return rc;
}

/*
 * Set *v to the current value of m for process pid, and touch nothing of the
 * process. Return 0, 1 if the process has ended, or -1 with errstr set.
 */
int
proc_gauge(pid_t pid, enum gauge m, uint64_t *v)
{
	pid_t living = pid;
	struct task t;
	char name[40];
	long n;
	int rc;

	*v = 0;
	if (proc_stat(pid, 0, &t) == -1)
		return errno == ESRCH ? 1 : errstr_sys("/proc/%d/stat", pid);
	/* if the first thread has exited, it has no memory and descriptors */
	if (t.memkb == 0 && (living = proc_living(pid)) == 0)
		return 1;
	switch (m) {
	case GAUGE_CPU:
		*v = t.utime + t.stime;
		return 0;
	case GAUGE_RSS:
		if (living != pid && proc_stat(pid, living, &t) == -1)
			return 1;	/* it has just ended */
		*v = t.memkb * KB;
		return 0;
	case GAUGE_THREADS:
		n = proc_status(pid, 0, "Threads");
		*v = (uint64_t)n;
		return n == -1;
	case GAUGE_FDS:
		snprintf(name, sizeof name, "task/%d/fd", living);
		return proc_list(pid, name, number_count, v);
	default:
		rc = pressure_measure(pid, m == GAUGE_PSI_CPU ? "cpu" :
		    m == GAUGE_PSI_IO ? "io" : "memory", v);
		return rc == -1 && proc_ended(pid) ? 1 : rc;
	}
}
