/*
 * The cgroups that processes are in, as directories with properties: cgroups(7)
 * and, in Documentation of Linux, admin-guide/cgroup-v2.rst and cgroup-v1.
 * Only those are read that make a cgroup what it is; nothing is written.
 *
 * They belong to others as well, and change: what is told is what they are
 * shortly after the stop, once in a snapshot.  What is not below one of our
 * mount points is not told.
 */
#include "full.h"
#include "spaces.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {				/* most that is read */
	VALUE_MOST = 4096,	/* bytes of a property, */
	DIRS_MOST = 256,	/* directories with one process, */
	TEXT_MOST = 1024 * 1024, /* bytes of what is told of these, */
	DEPTH_MOST = 32		/* directories below each other */
};

struct controller {
	const char	*name;	/* "": of every hierarchy of version 1 */
	const char	*property[12]; /* NULL behind them */
};

/* in the order in which they can be set: limits of memory before those of it
   and swap, those of a cgroup before what it lets its children have */
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

struct telling {
	struct live	*l;	/* borrowed, as the next */
	const struct cgroupline *line; /* the hierarchy */
	struct bytes	 mounts; /* owned; mountinfo; of no length: not read */
	struct buf	 text;	/* owned */
	size_t		 left;	/* of DIRS_MOST */
};

/*
 * Add to b a value, on one line.
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
 * Tell of a property of the cgroup whose directory is open as dir, if it has
 * such.  Those that list processes have no value.
 */
static void
property_tell(struct telling *g, int dir, const char *name)
{
	char v[VALUE_MOST];
	struct stat st;
	bool failed;
	size_t n;
	int fd;

	n = 0;
	if (strcmp(name, "tasks") == 0 || strcmp(name, "cgroup.procs") == 0) {
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			return;
	} else {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1)
			return;
		failed = fstat(fd, &st) == -1;
		n = full_pread(fd, v, sizeof v, 0);
		failed |= n == sizeof v || errno != 0;
		close(fd);
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
properties_tell(struct telling *g, int dir)
{
	const struct controller *c;
	size_t i;

	if (g->line->list.s == g->line->list.end) {
		for (i = 0; i < sizeof version2 / sizeof *version2; i++)
			property_tell(g, dir, version2[i]);
		return;
	}
	for (c = version1; c < version1 + sizeof version1 / sizeof *version1;
	    c++)
		for (i = 0; c->property[i] != NULL && (*c->name == '\0' ||
		    cgroup_lists(g->line->list, c->name)); i++)
			property_tell(g, dir, c->property[i]);
}

/*
 * Begin to tell of a cgroup, whose directory is open, if no record did and
 * there is room for it.  Return whether that is so.
 */
static bool
dir_begin(struct telling *g, int dir, const char *path)
{
	const struct scan *list = &g->line->list;
	const int n = (int)(list->end - list->s);
	struct stat st;
	char *key;
	bool told;

	if (g->left == 0 || g->text.len > TEXT_MOST || fstat(dir, &st) == -1 ||
	    asprintf(&key, "cgroup %.*s %s", n, list->s, path) == -1)
		return false;
	told = space_told(g->l, key);
	free(key);
	if (told)
		return false;
	g->left--;
	buf_printf(&g->text, "directory %.*s %o %u %u %s\n", n == 0 ? 1 : n,
	    n == 0 ? "-" : list->s, st.st_mode & 07777, st.st_uid, st.st_gid,
	    path);
	return true;
}

/*
 * Tell of a cgroup, whose directory is open as dir, which is closed, and of
 * those below it.  path is its own, with room for PATH_MAX bytes.
 */
static void
dir_tell(struct telling *g, int dir, char *path, unsigned int depth)
{
	const size_t len = strlen(path);
	struct dirent *e;
	DIR *d;
	int fd;

	if (dir_begin(g, dir, path))
		properties_tell(g, dir);
	if (depth == DEPTH_MOST || (d = fdopendir(dir)) == NULL) {
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
		if (fd == -1)
			continue;
		path[len] = '/';
		strlcpy(path + len + 1, e->d_name, PATH_MAX - len - 1);
		dir_tell(g, fd, path, depth + 1);
		path[len] = '\0';
	}
	closedir(d);
}

/*
 * Tell which controllers those cgroups that one of version 2 is in let their
 * children have: of each whose directory is below the mount point, where path
 * goes on as below.
 */
static void
above_tell(struct telling *g, int point, const char *path, const char *below)
{
	char up[PATH_MAX];
	size_t n;
	int dir;

	for (n = 1; below[n] != '\0'; n++) {
		if (below[n] != '/')
			continue;
		snprintf(up, sizeof up, "%.*s", (int)n - 1, below + 1);
		dir = openat(point, up, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir == -1)
			return;
		snprintf(up, sizeof up, "%.*s", (int)(strlen(path) -
		    strlen(below + n)), path);
		if (dir_begin(g, dir, up))
			property_tell(g, dir, "cgroup.subtree_control");
		close(dir);
	}
}

/*
 * Tell of the cgroup of a path, if mount m shows it.  Return whether it does.
 */
static bool
mount_tell(struct telling *g, const struct cgroupmount *m)
{
	const struct scan *p = &g->line->path;
	char path[PATH_MAX], below[PATH_MAX];
	struct scan rest;
	int point, dir;

	if (!cgroupmount_shows(m, *p, &rest) ||
	    p->end - p->s >= PATH_MAX)
		return false;
	snprintf(path, sizeof path, "%.*s", (int)(m->point.end - m->point.s),
	    m->point.s);
	point = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (point == -1)
		return false;
	snprintf(path, sizeof path, "%.*s", (int)(p->end - p->s), p->s);
	snprintf(below, sizeof below, "%.*s", (int)(rest.end - rest.s), rest.s);
	dir = openat(point, *below == '\0' ? "." : below + 1, O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	if (dir != -1 && m->v2 && *below != '\0')
		above_tell(g, point, path, below);
	close(point);
	if (dir != -1)
		dir_tell(g, dir, path, 0);
	return dir != -1;
}

/*
 * Tell of the cgroup of g->line, as the first mount that shows it has it.  The
 * root of a hierarchy is always there, and has no properties to speak of.
 */
static void
line_tell(struct telling *g)
{
	const struct cgroupline *line = g->line;
	struct cgroupmount m;
	struct scan t;
	char first[64];

	if (line->path.end - line->path.s < 2 || (g->mounts.data == NULL &&
	    proc_read(getpid(), 0, "mountinfo", &g->mounts) == -1))
		return;
	snprintf(first, sizeof first, "%.*s", (int)(line->list.end -
	    line->list.s), line->list.s);
	first[strcspn(first, ",")] = '\0';
	t = scan_begin(g->mounts.data, g->mounts.len);
	while (cgroupmount_next(&t, &m))
		if ((m.v2 ? *first == '\0' : *first != '\0' &&
		    cgroup_lists(m.opts, first)) && mount_tell(g, &m))
			break;
}

/*
 * Add to a record, which has the cgroups of a process, what they are, as far as
 * no record of set l tells of them.
 */
static void
directories_tell(struct live *l, struct filelist *rec)
{
	struct telling g = { .l = l, .left = DIRS_MOST };
	const struct file *f;
	struct cgroupline line;
	struct scan t;
	char *all;
	bool told;

	if ((f = filelist_find(rec, "cgroup")) == NULL || f->data == NULL ||
	    asprintf(&all, "cgroups %.*s", (int)f->len,
	    (const char *)f->data) == -1)
		return;
	told = space_told(l, all);
	free(all);
	if (told)
		return;
	g.line = &line;
	for (t = scan_begin(f->data, f->len); cgroup_next(&t, &line);)
		line_tell(&g);
	if (g.text.len > 0)
		filelist_buf(rec, "cgroups/directories", &g.text);
	free(g.mounts.data);
}

/*
 * Add to text a line for each hierarchy of which a namespace has another root
 * than we see: its controllers, and the path of that.  outside and inside are
 * where a process is in all of them, as seen from here and from there.
 */
static void
roots_put(struct buf *text, const struct bytes *outside,
    const struct bytes *inside)
{
	struct scan t = scan_begin(outside->data, outside->len), u;
	struct cgroupline out, in;
	size_t n, len, list;

	while (cgroup_next(&t, &out)) {
		list = (size_t)(out.list.end - out.list.s);
		u = scan_begin(inside->data, inside->len);
		while (cgroup_next(&u, &in))
			if ((size_t)(in.list.end - in.list.s) == list &&
			    memcmp(in.list.s, out.list.s, list) == 0)
				break;
		n = (size_t)(in.path.end - in.path.s);
		len = (size_t)(out.path.end - out.path.s);
		n = n == 1 ? 0 : n;	/* it is the root itself */
		if (n > len || memcmp(out.path.end - n, in.path.s, n) != 0 ||
		    memmem(out.path.s, len, "/..", 3) != NULL)
			continue;
		buf_printf(text, "%.*s %.*s\n", list == 0 ? 1 : (int)list,
		    list == 0 ? "-" : out.list.s, len == n ? 1 :
		    (int)(len - n), len == n ? "/" : out.path.s);
	}
}

/*
 * Add to the record of process pid where its cgroup namespace has its roots,
 * if it is not ours and no record of set l tells it: this thread goes there
 * for a moment.  Where it may not, nothing is told.
 */
static void
roots_tell(struct live *l, struct filelist *rec, pid_t pid)
{
	struct bytes outside = { 0 }, inside = { 0 };
	struct buf text = { 0 };
	const struct file *f;
	char link[64];
	int ns, own;

	f = filelist_find(rec, "ns/cgroup");
	snprintf(link, sizeof link, "%.*s", f == NULL ? 0 : (int)f->len,
	    f == NULL ? "" : (const char *)f->data);
	if (*link == '\0' || space_told(l, link))
		return;
	ns = proc_open(pid, 0, "ns/cgroup", O_RDONLY);
	own = open("/proc/thread-self/ns/cgroup", O_RDONLY | O_CLOEXEC);
	if (ns != -1 && own != -1 && proc_read(pid, 0, "cgroup", &outside) ==
	    0 && setns(ns, CLONE_NEWCGROUP) == 0) {
		(void)proc_read(pid, 0, "cgroup", &inside);
		if (setns(own, CLONE_NEWCGROUP) == -1)
			live_warn(l, "process %d: the cgroups of those behind "
			    "it are told as it sees them: %s", pid,
			    strerror(errno));
		roots_put(&text, &outside, &inside);
	}
	if (text.len > 0)
		filelist_buf(rec, "cgroups/roots", &text);
	free(outside.data);
	free(inside.data);
	if (ns != -1)
		close(ns);
	if (own != -1)
		close(own);
}

/*
 * Add to a record, which has the cgroups and namespaces of process pid, what
 * these cgroups are, and where its cgroup namespace begins, if other tells that
 * it is not ours; each where no other record of set l has it.
 */
void
cgroups_tell(struct live *l, struct filelist *rec, pid_t pid, bool other)
{
	directories_tell(l, rec);
	if (other)
		roots_tell(l, rec, pid);
}
