/*
 * Parse the cgroup file of a process, and find the directories of its control
 * groups (cgroups(7)) in mountinfo.
 */
#include "state.h"

/*
 * Parse the next line of text, from /proc/PID/cgroup, into *l:
 *
 *	ID:CONTROLLERS:PATH
 *
 * The controllers are empty in version 2. Return false at the end.
 */
bool
cgroup_next(struct scan *text, struct cgroupline *l)
{
	struct scan line;
	uint64_t id;

	while (scan_line(text, &line)) {
		if (!scan_number(&line, 10, &id) || !scan_byte(&line, ':'))
			continue;
		(void)scan_until(&line, ':', &l->list);
		if (!scan_byte(&line, ':'))
			continue;
		l->path = line;
		(void)scan_ends(&l->path, " (deleted)");
		return true;
	}
	return false;
}

/*
 * Return true if s is an element of list, a list of controllers or options that
 * are separated by commas.
 */
bool
cgroup_lists(struct scan list, const char *s)
{
	struct scan word;

	do
		if (scan_until(&list, ',', &word) && scan_is(&word, s))
			return true;
	while (scan_byte(&list, ','));
	return false;
}

/*
 * Return the rank of line l of /proc/PID/cgroup, a number below CGROUP_RANKS.
 * The lower the rank, the more the line's path shows of the process's unit and
 * container. The path of version 2 shows everything. In version 1, systemd and
 * container managers have a hierarchy of their own. They also use the
 * hierarchies of controllers that few other programs use.
 */
unsigned int
cgroup_rank(const struct cgroupline *l)
{
	if (l->list.s == l->list.end)
		return 0;
	if (cgroup_lists(l->list, "name=systemd"))
		return 1;
	if (cgroup_lists(l->list, "pids"))
		return 2;
	return cgroup_lists(l->list, "memory") ? 3 : CGROUP_RANKS - 1;
}

/*
 * Return true if the cgroup at path is visible below mount m. Set *below to its
 * path below the mount. A path that contains "/.." is outside of our cgroup
 * namespace: cgroup_namespaces(7).
 */
static bool
mount_shows(const struct mountinfo *m, struct scan path, struct scan *below)
{
	size_t n, len;

	len = scan_len(&path);
	n = scan_is(&m->root, "/") ? 0 : scan_len(&m->root);
	if (n > len || memcmp(path.s, m->root.s, n) != 0 ||
	    (n < len && path.s[n] != '/') ||
	    memmem(path.s, len, "/..", 3) != NULL)
		return false;
	below->s = path.s + n;
	below->end = path.end;
	return true;
}

/*
 * Find the next mount in text, a mountinfo, in which the cgroup at path is
 * visible. It must be a mount of the hierarchy with this controller. A
 * controller of "" stands for version 2, and NULL for any hierarchy. Set *dir
 * to the directory of the cgroup, with octal escapes; the caller frees it. Set
 * *top to the length of the mount point, with which *dir begins. Return 1 on
 * success, 0 if there is no such mount, or -1 with errstr set.
 */
int
cgroup_locate(struct scan *text, const char *controller, struct scan path,
    char **dir, size_t *top)
{
	struct mountinfo m;
	struct scan below;
	bool v2;

	while (mountinfo_next(text, &m)) {
		v2 = scan_is(&m.type, "cgroup2");
		if ((!v2 && !scan_is(&m.type, "cgroup")) ||
		    (controller != NULL && (v2 ? *controller != '\0' :
		    !cgroup_lists(m.opts, controller))) ||
		    !mount_shows(&m, path, &below))
			continue;
		*top = scan_len(&m.point);
		return asprintf(dir, "%.*s%.*s", (int)*top, m.point.s,
		    (int)scan_len(&below), below.s) == -1 ?
		    errstr_set("out of memory") : 1;
	}
	return 0;
}
