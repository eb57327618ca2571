/*
 * Record cgroups: their directories and the properties that configure them.
 * See cgroups(7) and, in the kernel's Documentation, admin-guide/cgroup-v2.rst
 * and cgroup-v1. Nothing is written.
 */
#include "full.h"
#include "spaces.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum {				/* limits on what is recorded */
	MAX_VALUE = 4096, /* maximum size of a property's value, in bytes */
	MAX_TEXT = 1024 * 1024, /* maximum size of the file
				   "cgroups/directories", in bytes */
	MAX_DEPTH = 32		/* maximum number of directory levels */
};

struct controller {
	const char	*name;	/* name of the controller; "": any hierarchy of
				   version 1 */
	const char	*property[12]; /* names of properties; the last is
					  NULL */
};

/*
 * in the order in which they must be set: memory limits before memory plus swap
 * limits, a cgroup's own limits before the controllers of its children
 */
static const struct controller version1[] = {
	{ "cpu", { "cpu.shares", "cpu.cfs_period_us", "cpu.cfs_quota_us",
	    "cpu.rt_period_us", "cpu.rt_runtime_us" } },
	{ "memory", { "memory.limit_in_bytes", "memory.memsw.limit_in_bytes",
	    "memory.swappiness", "memory.soft_limit_in_bytes",
	    "memory.move_charge_at_immigrate", "memory.oom_control",
	    "memory.use_hierarchy", "memory.kmem.limit_in_bytes",
	    "memory.kmem.tcp.limit_in_bytes" } },
	{ "cpuset", { "cpuset.cpus", "cpuset.mems", "cpuset.memory_migrate",
	    "cpuset.cpu_exclusive", "cpuset.mem_exclusive",
	    "cpuset.mem_hardwall", "cpuset.memory_spread_page",
	    "cpuset.memory_spread_slab", "cpuset.sched_load_balance",
	    "cpuset.sched_relax_domain_level" } },
	{ "blkio", { "blkio.weight" } },
	{ "net_cls", { "net_cls.classid" } },
	{ "net_prio", { "net_prio.ifpriomap" } },
	{ "pids", { "pids.max" } },
	{ "devices", { "devices.list" } },
	{ "", { "cgroup.clone_children", "notify_on_release", "cgroup.procs",
	    "tasks" } }
};

static const char *const version2[] = {
	"cpu.weight", "cpu.idle", "cpu.max", "cpu.max.burst", "cpuset.cpus",
	"cpuset.mems", "io.weight", "memory.min", "memory.low", "memory.high",
	"memory.max", "memory.swap.high", "memory.swap.max",
	"memory.zswap.max", "memory.oom.group", "pids.max",
	"hugetlb.64KB.max", "hugetlb.2MB.max", "hugetlb.32MB.max",
	"hugetlb.1GB.max", "cgroup.procs", "cgroup.subtree_control",
	"cgroup.max.descendants", "cgroup.max.depth", "cgroup.freeze",
	"cgroup.type"
};

/*
 * Report that a cgroup or a property of one cannot be read, and the reason,
 * which is in errno, as filelist_lose() does.
 */
void
cgroups_lose(struct cgrec *g)
{
	filelist_lose(g->rec, "cgroups/directories");
}

/*
 * Append the n bytes at s to b, with newlines and backslashes as octal escapes,
 * so that the result stays on one line.
 */
static void
value_put(struct buf *b, const char *s, size_t n)
{
	for (; n > 0; s++, n--)
		if (*s == '\n' || *s == '\\')
			buf_printf(b, "\\%03o", (unsigned int)*s);
		else
			buf_add(b, s, 1);
}

/*
 * Append to g the cgroup property called name: its mode, owner and value. The
 * directory of the cgroup is open as dir. cgroup.procs and tasks get no value.
 * Do nothing if the property cannot be read.
 */
static void
property_record(struct cgrec *g, int dir, const char *name)
{
	char v[MAX_VALUE];
	struct stat st;
	bool failed;
	size_t n;
	int fd;

	n = 0;
	if (strcmp(name, "tasks") == 0 || strcmp(name, "cgroup.procs") == 0) {
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1) {
			cgroups_lose(g);
			return;
		}
	} else {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		failed = fd == -1 || fstat(fd, &st) == -1;
		if (!failed) {
			n = full_pread(fd, v, sizeof v, 0);
			failed = n == sizeof v || errno != 0;
		}
		if (failed && n < sizeof v)
			cgroups_lose(g);
		fd_drop(fd);
		if (failed || memchr(v, '\0', n) != NULL)
			return;
		if (n > 0 && v[n - 1] == '\n')
			n--;
	}
	buf_printf(&g->text, "%s %o %u %u ", name, st.st_mode & 07777,
	    st.st_uid, st.st_gid);
	value_put(&g->text, v, n);
	buf_add(&g->text, "\n", 1);
}

static void
properties_record(struct cgrec *g, int dir)
{
	const struct controller *c;
	size_t i;

	if (g->line->list.s == g->line->list.end) {
		for (i = 0; i < sizeof version2 / sizeof *version2; i++)
			property_record(g, dir, version2[i]);
		return;
	}
	for (c = version1; c < version1 + sizeof version1 / sizeof *version1;
	    c++)
		for (i = 0; c->property[i] != NULL && (*c->name == '\0' ||
		    cgroup_lists(g->line->list, c->name)); i++)
			property_record(g, dir, c->property[i]);
}

/*
 * Begin the record of the cgroup at path: append its "directory" line to g. The
 * directory of the cgroup is open as dir. Return false if the cgroup is already
 * recorded, or if a limit is reached.
 */
static bool
dir_begin(struct cgrec *g, int dir, const char *path)
{
	const struct scan *list = &g->line->list;
	const int n = (int)(list->end - list->s);
	struct stat st;

	if (g->left == 0 || g->text.len > MAX_TEXT)
		return false;
	if (fstat(dir, &st) == -1) {
		cgroups_lose(g);
		return false;
	}
	if (!cell_once(live_cell(g->l, "cgroup %.*s %s", n, list->s, path)))
		return false;
	g->left--;
	buf_printf(&g->text, "directory %.*s %o %u %u %s\n", n == 0 ? 1 : n,
	    n == 0 ? "-" : list->s, st.st_mode & 07777, st.st_uid, st.st_gid,
	    path);
	return true;
}

/*
 * Record in g the cgroup at path, whose directory is open as dir, and the
 * cgroups below it. Close dir. path is in a buffer of PATH_MAX bytes. depth is
 * the number of levels that this cgroup is below the first one.
 */
static void
dirs_record(struct cgrec *g, int dir, char *path, unsigned int depth)
{
	const size_t len = strlen(path);
	struct dirent *e;
	DIR *d;
	int fd;

	if (dir_begin(g, dir, path))
		properties_record(g, dir);
	d = depth == MAX_DEPTH ? NULL : fdopendir(dir);
	if (d == NULL) {
		if (depth < MAX_DEPTH)
			cgroups_lose(g);
		close(dir);
		return;
	}
	while (g->left > 0 && (e = readdir(d)) != NULL) {
		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 || len + 1 +
		    strlen(e->d_name) >= PATH_MAX)
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1) {
			cgroups_lose(g);
			continue;
		}
		path[len] = '/';
		strlcpy(path + len + 1, e->d_name, PATH_MAX - len - 1);
		dirs_record(g, fd, path, depth + 1);
		path[len] = '\0';
	}
	closedir(d);
}

/*
 * Record in g the cgroup.subtree_control of each version 2 cgroup between the
 * directory open as point and the cgroup at path, both excluded. rest is the
 * part of path below that directory, with its leading slash.
 */
static void
above_record(struct cgrec *g, int point, const char *path,
    const char *rest)
{
	char up[PATH_MAX];
	size_t n;
	int dir;

	for (n = 1; rest[n] != '\0'; n++) {
		if (rest[n] != '/')
			continue;
		snprintf(up, sizeof up, "%.*s", (int)n - 1, rest + 1);
		dir = openat(point, up, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir == -1) {
			cgroups_lose(g);
			return;
		}
		snprintf(up, sizeof up, "%.*s", (int)(strlen(path) -
		    strlen(rest + n)), path);
		if (dir_begin(g, dir, up))
			property_record(g, dir, "cgroup.subtree_control");
		close(dir);
	}
}

/*
 * Record in g the cgroup at path and the cgroups below it. The directory of
 * this cgroup or of an ancestor is open as point. In version 2, also record the
 * cgroups between the two. rest is the part of path below that directory:
 * empty, or with a leading slash. Return false if the cgroup cannot be opened.
 */
bool
cgroupdir_record(struct cgrec *g, int point, const char *path,
    const char *rest)
{
	char own[PATH_MAX];
	int dir;

	dir = openat(point, *rest == '\0' ? "." : rest + 1, O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return false;
	if (g->line->list.s == g->line->list.end && *rest != '\0')
		above_record(g, point, path, rest);
	strlcpy(own, path, sizeof own);
	dirs_record(g, dir, own, 0);
	return true;
}
