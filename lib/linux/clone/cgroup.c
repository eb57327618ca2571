/*
 * How much memory, and how many more processes, the limits of a cgroup and of
 * its ancestors allow: version 2 (Documentation/admin-guide/cgroup-v2.rst of
 * Linux) and version 1 (.../cgroup-v1/memory.rst, pids.rst).
 *
 * Inactive page cache counts as free, since the kernel drops it first when
 * memory is needed. memory.high counts as a limit: above it processes are
 * slowed down until they use less, which is as bad for a server.
 *
 * A cgroup whose directory is not below our mount point counts as one without
 * limits, because they cannot be read.
 */
#include "cloning.h"
#include "full.h"
#include "state/state.h"

#include <fcntl.h>

static const uint64_t NOLIMIT = UINT64_MAX;

static const char *const controllers[CGROUP_KINDS] = {
	[CGROUP_MEMORY] = "memory",
	[CGROUP_TASKS] = "pids"
};

static const struct {
	enum cgkind	 kind;
	bool		 v1;
	const char	*limit;	/* name of the file with the limit */
	const char	*key;	/* key of the line with the limit; NULL: the
				   first line */
	const char	*used;	/* name of the file with the current usage */
	const char	*cache;	/* key of the page cache in memory.stat;
				   NULL: none */
} limits[] = {
	{ CGROUP_MEMORY, true, "memory.limit_in_bytes", NULL,
	    "memory.usage_in_bytes", "total_inactive_file" },
	{ CGROUP_MEMORY, true, "memory.stat", "hierarchical_memory_limit",
	    "memory.usage_in_bytes", "total_inactive_file" },
	{ CGROUP_MEMORY, true, "memory.memsw.limit_in_bytes", NULL,
	    "memory.memsw.usage_in_bytes", "total_inactive_file" },
	{ CGROUP_MEMORY, false, "memory.max", NULL, "memory.current",
	    "inactive_file" },
	{ CGROUP_MEMORY, false, "memory.high", NULL, "memory.current",
	    "inactive_file" },
	{ CGROUP_TASKS, true, "pids.max", NULL, "pids.current", NULL },
	{ CGROUP_TASKS, false, "pids.max", NULL, "pids.current", NULL }
};

/*
 * Read a number from the file called name in directory dir, and return it. If
 * key is NULL, the number is at the start of the file, otherwise after key on
 * the line that begins with key. If there is no such number, return the
 * argument absent. Also return that if the file says that there is no limit:
 * "max" or, in version 1 of cgroups, the largest number of whole pages.
 */
static uint64_t
level_number(const char *dir, const char *name, const char *key,
    uint64_t absent)
{
	struct buf b = { 0 };
	struct scan t, line;
	uint64_t v;
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) == -1)
		return absent;
	v = absent;
	if (full_readfile(AT_FDCWD, path, &b) == 0) {
		t = scan_begin(b.data, b.len);
		if (!scan_key(&t, key == NULL ? "" : key, &line) ||
		    (key != NULL && !scan_byte(&line, ' ')) ||
		    !scan_number(&line, 10, &v) || v >= (uint64_t)1 << 62)
			v = absent;
	}
	buf_free(&b);
	free(path);
	return v;
}

/*
 * Return how much more cgroup c may use, in bytes or in processes and threads.
 * Set *limit to the limit that leaves the least. Both are UINT64_MAX if c has
 * no limit.
 */
uint64_t
cgroup_left(const struct cglevel *c, uint64_t *limit)
{
	uint64_t cache, least, left, most, used;
	size_t i;

	*limit = least = NOLIMIT;
	for (i = 0; i < sizeof limits / sizeof *limits; i++) {
		if (limits[i].kind != c->kind || limits[i].v1 != c->v1)
			continue;
		most = level_number(c->dir, limits[i].limit, limits[i].key,
		    NOLIMIT);
		if (most == NOLIMIT)
			continue;
		used = level_number(c->dir, limits[i].used, NULL, 0);
		cache = limits[i].cache == NULL ? 0 : level_number(c->dir,
		    "memory.stat", limits[i].cache, 0);
		used -= cache < used ? cache : used;
		left = used < most ? most - used : 0;
		if (left < least) {
			least = left;
			*limit = most;
		}
	}
	return least;
}

/*
 * Find the cgroup path of a process in text, the contents of its
 * /proc/PID/cgroup. If v1 is true, use the version 1 hierarchy of controller;
 * otherwise use version 2. Return true with *path set, or false if there is
 * none.
 */
static bool
membership_find(struct scan text, const char *controller, bool v1,
    struct scan *path)
{
	struct cgroupline l;

	while (cgroup_next(&text, &l))
		if (v1 ? cgroup_lists(l.list, controller) :
		    l.list.s == l.list.end) {
			*path = l.path;
			return true;
		}
	return false;
}

/*
 * Call fn for each cgroup that may limit this kind of resource for a process:
 * first for the cgroup of the process, then for each of its visible ancestors.
 * Stop when fn returns nonzero. membership is the text of the process's
 * /proc/PID/cgroup, and mounts is the text of our own mountinfo. Return the
 * last result of fn, 0 if there is no such cgroup, or -1 with errstr set.
 */
int
cgroup_levels(enum cgkind kind, struct scan membership, struct scan mounts,
    cglevel_fn fn, void *arg)
{
	const char *controller = controllers[kind];
	struct cglevel c = { .kind = kind };
	struct scan path;
	size_t len, top;
	char *dir;
	int rc;

	c.v1 = membership_find(membership, controller, true, &path);
	if (!c.v1 && !membership_find(membership, controller, false, &path))
		return 0;
	rc = cgroup_locate(&mounts, c.v1 ? controller : "", path, &dir, &top);
	if (rc != 1)
		return rc;
	c.dir = dir;
	len = strlen(dir);
	while (len > top && dir[len - 1] == '/')
		len--;
	for (;;) {
		dir[len] = '\0';
		if ((rc = fn(arg, &c)) != 0 || len <= top)
			break;
		while (len > top && dir[--len] != '/')
			continue;
	}
	free(dir);
	return rc;
}
