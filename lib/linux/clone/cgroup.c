/*
 * The memory and the room for processes that a cgroup has left, and each cgroup
 * that it is in: version 2 (Documentation/admin-guide/cgroup-v2.rst of Linux)
 * and version 1 (.../cgroup-v1/memory.rst, pids.rst).
 *
 *			version 2		version 1
 *	limits		memory.max,		memory.limit_in_bytes,
 *			memory.high		hierarchical_memory_limit,
 *						memory.memsw.limit_in_bytes
 *	used		memory.current		memory.usage_in_bytes,
 *						memory.memsw.usage_in_bytes
 *	of that cache	inactive_file		total_inactive_file
 *
 * Of processes and threads, these are pids.max and pids.current in both.
 * hierarchical_memory_limit and what is named cache are lines of memory.stat.
 * Cache that was not used lately goes first when memory is wanted, and nobody
 * misses it: it counts as left.  At memory.high processes are slowed down
 * until they use less, which is as bad as a limit for who serves others.
 *
 * A cgroup whose limits are not to be seen, for its directory is not below
 * our mount point, counts as one without.
 */
#include "cgroup.h"
#include "state/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t NOLIMIT = UINT64_MAX;

/*
 * The text of a file in a directory; the caller frees it.  NULL: there is
 * none.
 */
static char *
level_text(const char *dir, const char *name)
{
	enum { MOST = 65536 };
	char *path, *text;
	ssize_t n;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) == -1)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd == -1)
		return NULL;
	n = (text = malloc(MOST)) == NULL ? -1 : read(fd, text, MOST - 1);
	close(fd);
	if (n == -1) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/*
 * The number behind a key that begins a line, or without a key the first;
 * none, where there is none, or "max".  Version 1 has as "none" what is left
 * of the largest number when whole pages are counted.
 */
static uint64_t
text_number(const char *text, const char *key, uint64_t none)
{
	const char *s;
	uint64_t v;
	char *end;
	size_t n;

	n = key == NULL ? 0 : strlen(key);
	for (s = text; n > 0 && s != NULL && (strncmp(s, key, n) != 0 ||
	    s[n] != ' '); s = *s == '\0' ? NULL : s)
		s = strchr(s, '\n') == NULL ? NULL : strchr(s, '\n') + 1;
	if (s == NULL)
		return none;
	v = strtoull(s + n, &end, 10);
	return end == s + n || v >= (uint64_t)1 << 62 ? none : v;
}

static uint64_t
level_number(const char *dir, const char *name, const char *key, uint64_t none)
{
	char *text;
	uint64_t v;

	if ((text = level_text(dir, name)) == NULL)
		return none;
	v = text_number(text, key, none);
	free(text);
	return v;
}

/*
 * Lessen what is left of a level to what this limit leaves.
 */
static void
level_lessen(struct cglevel *l, uint64_t limit, uint64_t used, uint64_t cache)
{
	uint64_t left;

	if (limit == NOLIMIT)
		return;
	used -= cache < used ? cache : used;
	left = used < limit ? limit - used : 0;
	if (l->left == NOLIMIT || left < l->left) {
		l->left = left;
		l->limit = limit;
	}
}

static void
level_read1(struct cglevel *l)
{
	const char *d = l->dir;
	uint64_t cache, used;

	cache = level_number(d, "memory.stat", "total_inactive_file", 0);
	used = level_number(d, "memory.usage_in_bytes", NULL, 0);
	level_lessen(l, level_number(d, "memory.limit_in_bytes", NULL, NOLIMIT),
	    used, cache);
	level_lessen(l, level_number(d, "memory.stat",
	    "hierarchical_memory_limit", NOLIMIT), used, cache);
	used = level_number(d, "memory.memsw.usage_in_bytes", NULL, 0);
	level_lessen(l, level_number(d, "memory.memsw.limit_in_bytes", NULL,
	    NOLIMIT), used, cache);
}

static void
level_read2(struct cglevel *l)
{
	const char *d = l->dir;
	uint64_t cache, used;

	cache = level_number(d, "memory.stat", "inactive_file", 0);
	used = level_number(d, "memory.current", NULL, 0);
	level_lessen(l, level_number(d, "memory.max", NULL, NOLIMIT), used,
	    cache);
	level_lessen(l, level_number(d, "memory.high", NULL, NOLIMIT), used,
	    cache);
}

static void
level_readtasks(struct cglevel *l)
{
	level_lessen(l, level_number(l->dir, "pids.max", NULL, NOLIMIT),
	    level_number(l->dir, "pids.current", NULL, 0), 0);
}

static const struct {
	const char	*controller;
	void		(*read1)(struct cglevel *);
	void		(*read2)(struct cglevel *);
} kinds[CGROUP_KINDS] = {
	[CGROUP_MEMORY] = { "memory", level_read1, level_read2 },
	[CGROUP_TASKS] = { "pids", level_readtasks, level_readtasks }
};

/*
 * Call fn for a cgroup, and for each that it is in up to the highest that can
 * be seen, as long as it returns 0.
 */
int
cgroup_levels(const struct cgroup *c, cglevel_fn fn, void *arg)
{
	struct cglevel l = { 0 };
	size_t len;
	char *dir;
	int rc;

	if (c->dir == NULL)
		return 0;
	if ((dir = strdup(c->dir)) == NULL)
		return errstr_set("out of memory");
	l.dir = dir;
	len = strlen(dir);
	while (len > c->top && dir[len - 1] == '/')
		len--;
	for (;;) {
		dir[len] = '\0';
		l.limit = l.left = NOLIMIT;
		(c->v1 ? kinds[c->kind].read1 : kinds[c->kind].read2)(&l);
		if ((rc = fn(arg, &l)) != 0 || len <= c->top)
			break;
		while (len > c->top && dir[--len] != '/')
			continue;
	}
	free(dir);
	return rc;
}

/*
 * Set *path to where a process is in the hierarchy of a controller, of version
 * 1, or in that of version 2, by the text of its /proc/PID/cgroup.  Return
 * false if that is not told.
 */
static bool
membership_find(const char *text, const char *controller, bool v1,
    struct scan *path)
{
	struct scan t = scan_begin(text, strlen(text));
	struct cgroupline l;

	while (cgroup_next(&t, &l))
		if (v1 ? cgroup_lists(l.list, controller) :
		    l.list.s == l.list.end) {
			*path = l.path;
			return true;
		}
	return false;
}

/*
 * Find the cgroup of a kind that a process is in, from the texts of its
 * /proc/PID/cgroup and of our mountinfo; without a directory where there is
 * none, or it cannot be seen.
 */
int
cgroup_find(struct cgroup *c, enum cgkind kind, const char *membership,
    const char *mountinfo)
{
	const char *controller = kinds[kind].controller;
	struct scan t = scan_begin(mountinfo, strlen(mountinfo));
	struct scan path, below;
	struct cgroupmount m;

	memset(c, 0, sizeof *c);
	c->kind = kind;
	c->v1 = membership_find(membership, controller, true, &path);
	if (!c->v1 && !membership_find(membership, controller, false, &path))
		return 0;
	while (c->dir == NULL && cgroupmount_next(&t, &m)) {
		/* the options of version 1 name what it is for */
		if (m.v2 == c->v1 || (c->v1 && !cgroup_lists(m.opts,
		    controller)) || !cgroupmount_shows(&m, path, &below))
			continue;
		c->top = (size_t)(m.point.end - m.point.s);
		if (asprintf(&c->dir, "%.*s%.*s", (int)c->top, m.point.s,
		    (int)(below.end - below.s), below.s) == -1) {
			c->dir = NULL;
			return errstr_set("out of memory");
		}
	}
	return 0;
}

void
cgroup_free(struct cgroup *c)
{
	free(c->dir);
	c->dir = NULL;
}
