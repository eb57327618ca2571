/*
 * Record the cgroups of processes, and the roots of their cgroup namespaces.
 *
 * Other processes are in these cgroups as well and may change them. They are
 * recorded as they are shortly after the stop, each once in a snapshot.
 */
#include "spaces.h"

#include <sys/syscall.h>

#include <linux/mount.h>

#include <fcntl.h>
#include <unistd.h>

enum { MAX_DIRS = 256 };	/* maximum number of directories recorded with
				   one process */

/*
 * Record in g the cgroup at path. dir is the path of the cgroup's directory.
 * The first top bytes of dir are the mount point; this function truncates dir
 * to these. Return false if the cgroup cannot be opened.
 */
static bool
dir_record(struct cgrec *g, const char *path, char *dir, size_t top)
{
	char below[PATH_MAX];
	bool done;
	int fd;

	strlcpy(below, dir + top, sizeof below);
	dir[top] = '\0';
	if ((fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return false;
	done = cgroupdir_record(g, fd, path, below);
	close(fd);
	return done;
}

/*
 * Mount an existing cgroup hierarchy where no process sees it, and open its
 * root. list has the controllers of the hierarchy, or is "" for version 2.
 * Closing the descriptor unmounts the hierarchy. Return the descriptor, or -1.
 */
static int
hierarchy_open(const char *list)
{
	char name[64];
	size_t n;
	int fs, rc;

	fs = (int)syscall(SYS_fsopen, *list == '\0' ? "cgroup2" : "cgroup",
	    FSOPEN_CLOEXEC);
	if (fs == -1)
		return -1;
	rc = strncmp(list, "name=", 5) == 0 ? (int)syscall(SYS_fsconfig, fs,
	    FSCONFIG_SET_FLAG, "none", NULL, 0) : 0;
	for (; *list != '\0' && rc == 0; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		snprintf(name, sizeof name, "%.*s", (int)n, list);
		rc = strncmp(name, "name=", 5) == 0 ?
		    (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "name",
		    name + 5, 0) : (int)syscall(SYS_fsconfig, fs,
		    FSCONFIG_SET_FLAG, name, NULL, 0);
	}
	if (rc == 0)
		return unseen_mount(fs, 0);
	close(fs);
	return -1;
}

/*
 * Record the cgroup of g->line. Use the first mount that has its directory, or
 * a mount of our own. The root cgroup is skipped: it always exists, and has no
 * properties that matter.
 */
static void
line_record(struct cgrec *g)
{
	const struct cgroupline *line = g->line;
	char list[256], first[64], path[PATH_MAX], *dir;
	struct scan t;
	size_t top;
	int n, fd;
	bool done;

	n = (int)(line->path.end - line->path.s);
	if (n < 2 || n >= PATH_MAX || memmem(line->path.s, (size_t)n, "/..",
	    3) != NULL)
		return;
	snprintf(path, sizeof path, "%.*s", n, line->path.s);
	snprintf(list, sizeof list, "%.*s", (int)(line->list.end -
	    line->list.s), line->list.s);
	snprintf(first, sizeof first, "%.*s", (int)strcspn(list, ","), list);
	t = scan_begin(g->mounts.data, g->mounts.len);
	while (cgroup_locate(&t, first, line->path, &dir, &top) == 1) {
		done = dir_record(g, path, dir, top);
		free(dir);
		if (done)
			return;
	}
	if ((fd = hierarchy_open(list)) == -1) {
		cgroups_lose(g);
		return;
	}
	if (!cgroupdir_record(g, fd, path, path))
		cgroups_lose(g);
	close(fd);
}

/*
 * Record the cgroups of a process or thread, unless l has already recorded
 * them. rec is the record of the process or thread, and the cgroup file in rec
 * lists the cgroups.
 */
static void
directories_record(struct live *l, struct filelist *rec)
{
	struct cgrec g = { .l = l, .rec = rec, .left = MAX_DIRS };
	const struct file *f;
	struct cgroupline line;
	struct scan t;

	if ((f = filelist_find(rec, "cgroup")) == NULL || f->data == NULL ||
	    !cell_once(live_cell(l, "cgroups %.*s", (int)f->len,
	    (const char *)f->data)))
		return;
	if (proc_read(getpid(), 0, "mountinfo", &g.mounts) == -1) {
		cgroups_lose(&g);
		return;
	}
	g.line = &line;
	for (t = scan_begin(f->data, f->len); cgroup_next(&t, &line);)
		line_record(&g);
	if (g.text.len > 0)
		filelist_buf(rec, "cgroups/directories", &g.text);
	free(g.mounts.data);
}

/*
 * Add the cgroups that a process is in to its record rec, unless l has already
 * recorded them. If *own is empty, and the process is in a cgroup other than
 * the root, set *own to the text of the cgroup file in rec. The caller frees
 * this text.
 */
void
cgroups_record(struct live *l, struct filelist *rec, struct bytes *own)
{
	const struct file *f;
	struct cgroupline line;
	struct buf b = { 0 };
	struct scan t;

	directories_record(l, rec);
	if (own->data != NULL || (f = filelist_find(rec, "cgroup")) == NULL)
		return;
	for (t = scan_begin(f->data, f->len); cgroup_next(&t, &line);)
		if (line.path.end - line.path.s > 1) {
			buf_add(&b, f->data, f->len);
			break;
		}
	*own = (struct bytes){ .data = b.data, .len = b.len };
}

/*
 * Add the cgroups of thread tid of process pid to rec, the record of the
 * thread, if they differ from own, the cgroups of the process. They may differ
 * in version 1, and in threaded cgroups of version 2.
 */
void
cgroups_thread(struct live *l, struct filelist *rec, const struct bytes *own,
    pid_t pid, pid_t tid)
{
	struct bytes b;

	/* a thread that has ended is recorded as if in the cgroups of its
	   process */
	if (proc_read(pid, tid, "cgroup", &b) == -1)
		return;
	if (b.len == 0 || (b.len == own->len && memcmp(b.data, own->data,
	    b.len) == 0)) {
		free(b.data);
		return;
	}
	filelist_add(rec, "cgroup", b.data, b.len);
	directories_record(l, rec);
}

/*
 * Append to text a line for each cgroup hierarchy in which the root of another
 * cgroup namespace can be determined. The line has the controllers of the
 * hierarchy and the path of the root. outside and inside are the contents of
 * /proc/PID/cgroup of a process in that namespace: outside was read in our
 * namespace, inside in the other one.
 */
static void
roots_put(struct buf *text, const struct bytes *outside,
    const struct bytes *inside)
{
	struct scan t = scan_begin(outside->data, outside->len), u;
	struct cgroupline out, in;
	size_t n, len, list;

	while (cgroup_next(&t, &out)) {
		list = scan_len(&out.list);
		u = scan_begin(inside->data, inside->len);
		while (cgroup_next(&u, &in))
			if (scan_len(&in.list) == list &&
			    memcmp(in.list.s, out.list.s, list) == 0)
				break;
		n = scan_len(&in.path);
		len = scan_len(&out.path);
		n = n == 1 ? 0 : n; /* path "/": the process is in the root */
		if (n > len || memcmp(out.path.end - n, in.path.s, n) != 0 ||
		    memmem(out.path.s, len, "/..", 3) != NULL)
			continue;
		buf_printf(text, "%.*s %.*s\n", list == 0 ? 1 : (int)list,
		    list == 0 ? "-" : out.list.s, len == n ? 1 :
		    (int)(len - n), len == n ? "/" : out.path.s);
	}
}

/*
 * Add the roots of the cgroup namespace of process pid to rec, the record of
 * the process. The namespace must not be ours: this thread enters it and comes
 * back. Record nothing if the thread may not enter.
 */
void
cgroups_roots(struct live *l, struct filelist *rec, pid_t pid)
{
	struct bytes outside = { 0 }, inside = { 0 };
	struct buf text = { 0 };
	struct visit v;

	if (proc_read(pid, 0, "cgroup", &outside) == 0 &&
	    visit_begin(&v, VISIT_CGROUP, pid) == 0) {
		(void)proc_read(pid, 0, "cgroup", &inside);
		if (visit_end(&v) == -1)
			live_warn(l, "process %d: cannot leave its cgroup "
			    "namespace (cgroups of later processes are "
			    "recorded as seen from there): %s", pid,
			    strerror(errno));
		roots_put(&text, &outside, &inside);
	}
	if (text.len > 0)
		filelist_buf(rec, "cgroups/roots", &text);
	free(outside.data);
	free(inside.data);
}
