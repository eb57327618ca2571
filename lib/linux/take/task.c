/*
 * What /proc tells of a stopped thread: as a struct task, and as the named
 * files of the Linux record.
 */
#include "linux/open/open.h"
#include "state/state.h"
#include "taking.h"
#include "vec.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* files that a record has of each thread, and those of a process only */
static const char *const thread_file[] = { "comm", "personality" };
static const char *const proc_files[] = {
	"cmdline", "environ", "auxv", "limits", "cgroup",
	"mountinfo", "timers", "coredump_filter", "oom_score_adj",
	"loginuid", "timerslack_ns", "uid_map", "gid_map"
};
static const char *const proc_links[] = {
	"exe", "cwd", "root", "ns/cgroup", "ns/ipc", "ns/mnt", "ns/net",
	"ns/pid", "ns/pid_for_children", "ns/time", "ns/time_for_children",
	"ns/user", "ns/uts"
};

#define NITEMS(v)	(sizeof(v) / sizeof *(v))

struct opening {
	struct task	*task;
	pid_t		 tid;
};

/*
 * Take down a descriptor.  Nothing is asked of a file server, which may be
 * dead, or stopped by us.
 */
static int
open_read(void *arg, long fd)
{
	struct opening *o = arg;
	struct task *t = o->task;
	struct openfile *f;
	struct fdinfo info;
	struct statx sx;
	struct bytes b;
	char name[PATH_MAX];

	if (VEC_ROOM(t->open, t->nopen) == -1)
		return -1;
	f = &t->open[t->nopen];
	memset(f, 0, sizeof *f);
	f->fd = (int)fd;
	snprintf(name, sizeof name, "fd/%ld", fd);
	if ((f->path = proc_link(o->tid, 0, name)) == NULL)
		return proc_islost(errno) ? errstr_sys("/proc/%d/%s", o->tid,
		    name) : 0;
	t->nopen++;
	snprintf(name, sizeof name, "/proc/%d/fd/%ld", o->tid, fd);
	if (statx(AT_FDCWD, name, AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
	    &sx) == 0) {
		f->dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
		f->ino = sx.stx_ino;
		f->blksize = sx.stx_blksize;
		f->dir = S_ISDIR(sx.stx_mode);
	}
	snprintf(name, sizeof name, "fdinfo/%ld", fd);
	if (proc_read(o->tid, 0, name, &b) == 0) {
		fdinfo_parse(&info, b.data, b.len);
		free(b.data);
		f->pos = (uint64_t)info.pos;
		f->flags = info.flags;
	}
	return 0;
}

static int
open_cmp(const void *a, const void *b)
{
	const struct openfile *x = a, *y = b;

	return x->fd < y->fd ? -1 : x->fd > y->fd;
}

/*
 * Return true if the mappings of now are those that there were before, and
 * copy to them what only smaps tells.
 */
static bool
vmas_stayed(struct vmas *now, const struct vmas *before)
{
	const struct vma *b;
	struct vma *v;
	size_t i;

	if (now->n != before->n)
		return false;
	for (i = 0; i < now->n; i++) {
		v = &now->v[i];
		b = &before->v[i];
		if (!vma_stayed(b, v) || strcmp(b->name, v->name) != 0)
			return false;
		v->flags = b->flags;
	}
	return true;
}

/*
 * Have smaps of before the stop for smaps of now, if it is, or if what it tells
 * can be told of the mappings of now.  Return 1 if so, else 0; -1 with errstr.
 */
static int
smaps_keep(struct lproc *p, struct task *t)
{
	struct buf b = { 0 };
	int rc;

	if (t->maps.data == NULL || p->smaps.data == NULL)
		return 0;
	if (vmas_parse(&t->vma, t->maps.data, t->maps.len) == -1)
		return -1;
	if (vmas_stayed(&t->vma, &p->before)) {
		t->smaps = p->smaps;
		memset(&p->smaps, 0, sizeof p->smaps);
		return 1;
	}
	vmas_free(&t->vma);
	rc = smaps_refit(&b, scan_begin(t->maps.data, t->maps.len),
	    scan_begin(p->smaps.data, p->smaps.len));
	if (rc == 1)
		rc = vmas_parse(&t->vma, b.data, b.len) == -1 ? -1 : 1;
	if (rc == 1)
		t->smaps = (struct bytes){ b.data, b.len };
	else
		buf_free(&b);
	return rc;
}

/*
 * Read the mappings.  Where smaps was read before the stop, it is not read
 * again, if that can be avoided: the kernel looks at each page for it.
 */
static int
task_readmaps(struct lproc *p, struct task *t)
{
	int rc;

	(void)proc_read(p->mmtid, 0, "maps", &t->maps);
	if ((rc = smaps_keep(p, t)) != 0)
		return rc == -1 ? -1 : 0;
	if (proc_read(p->mmtid, 0, "smaps", &t->smaps) == -1 &&
	    proc_read(p->mmtid, 0, "maps", &t->smaps) == -1) {
		if (errno == ESRCH || errno == ENOENT)
			return errstr_set("process %d exited", p->pid);
		return errstr_sys("/proc/%d/maps", p->mmtid);
	}
	return vmas_parse(&t->vma, t->smaps.data, t->smaps.len);
}

/*
 * Return which mappings process p wants to have in its cores, as its
 * coredump_filter has it: core(5).
 */
static unsigned int
task_dumped(const struct lproc *p)
{
	struct bytes b;
	char text[16];

	if (proc_read(p->mmtid, 0, "coredump_filter", &b) == -1)
		return 0;
	snprintf(text, sizeof text, "%.*s", (int)(b.len < 15 ? b.len : 15),
	    b.data == NULL ? "" : (const char *)b.data);
	free(b.data);
	return (unsigned int)strtoul(text, NULL, 16);
}

/*
 * Read what only a whole process has: mappings, descriptors, mounts.
 */
static int
task_readproc(struct live *l, struct lproc *p, struct task *t)
{
	struct opening o = { t, p->mmtid };

	if (proc_list(p->mmtid, "fd", open_read, &o) == -1)
		live_warn(l, "process %d: some of its open files are "
		    "missing: %s", p->pid, snap_errstr());
	if (t->nopen > 1)
		qsort(t->open, t->nopen, sizeof *t->open, open_cmp);
	if ((t->cwd = proc_link(p->mmtid, 0, "cwd")) == NULL &&
	    proc_islost(errno))
		live_warn(l, "process %d: its directory is missing: %s",
		    p->pid, strerror(errno));
	p->dumped = task_dumped(p);
	if (proc_read(p->mmtid, 0, "mountinfo", &t->mounts) == -1 &&
	    proc_islost(errno))
		live_warn(l, "process %d: its mounts are missing: %s", p->pid,
		    strerror(errno));
	return task_readmaps(p, t);
}

/*
 * Read into t what /proc and ptrace(2) tell of thread th: of process p too,
 * for the one that leads it.  Return 0, or -1 with errstr.
 */
int
task_read(struct live *l, struct lproc *p, struct lthread *th, struct task *t)
{
	long uid;

	memset(t, 0, sizeof *t);
	if (proc_stat(p->pid, th->tid, t) == -1)
		return errstr_set("process %d exited", p->pid);
	t->tid = th->tid;
	t->pid = p->pid;
	if (th->state != '\0')
		t->state = th->state;
	uid = proc_status(p->pid, th->tid, "Uid");
	live_user(l, (uid_t)uid, t->user, sizeof t->user);
	memcpy(t->reg, th->reg, sizeof t->reg);
	memset(th->reg, 0, sizeof th->reg);
	if (th->tid == p->pid && p->mmtid != 0 && task_readproc(l, p, t) == -1)
		return -1;
	return 0;
}

/*
 * Return in how many pid namespaces we see a process, and set *num to its
 * number in the innermost of them: pid_namespaces(7).
 */
static size_t
pid_innermost(pid_t pid, uint64_t *num)
{
	struct bytes b;
	size_t n;

	if (proc_read(pid, 0, "status", &b) == -1)
		return 0;
	n = status_inner(b.data, b.len, "NSpid", num);
	free(b.data);
	return n;
}

/*
 * Record what a process in another pid namespace sees as its parent; one
 * outside it is 0 to it.
 */
static void
record_parent(const struct lproc *p, const struct task *t, struct filelist *l)
{
	uint64_t own, parent;
	size_t depth;

	if ((depth = pid_innermost(p->pid, &own)) < 2)
		return;
	if (t->ppid == 0 || pid_innermost(t->ppid, &parent) != depth)
		parent = 0;
	filelist_text(l, "nsppid", "%" PRIu64 "\n", parent);
}

/*
 * Record where process p belongs: its number in its own pid namespace, if it
 * is in one, and the unit, the container and the pod that its cgroup, which
 * the record has, tells of.
 */
static void
record_place(const struct lproc *p, struct filelist *l)
{
	struct place pl = { 0 };
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->file[i].name, "cgroup") == 0)
			place_cgroup(&pl, l->file[i].data, l->file[i].len);
	if (pid_innermost(p->pid, &pl.pid) > 1)
		filelist_text(l, "nspid", "%" PRIu64 "\n", pl.pid);
	if (*pl.unit != '\0')
		filelist_text(l, "unit", "%s\n", pl.unit);
	if (*pl.container != '\0')
		filelist_text(l, "container", "%s\n", pl.container);
	if (*pl.pod != '\0')
		filelist_text(l, "pod", "%s\n", pl.pod);
}

static void
record_open(struct lproc *p, const struct task *t, struct filelist *l)
{
	char name[64];
	size_t i;

	for (i = 0; i < t->nopen; i++) {
		snprintf(name, sizeof name, "fd/%d", t->open[i].fd);
		filelist_link(l, p->mmtid, 0, name);
		snprintf(name, sizeof name, "fdinfo/%d", t->open[i].fd);
		filelist_read(l, p->mmtid, 0, name);
	}
}

/*
 * Gather the Linux record of thread th of process p.  It takes over what task
 * t and th have read already.
 */
void
task_record(struct live *l, struct snap *s, struct lproc *p,
    struct lthread *th, struct task *t, struct filelist *to)
{
	enum step before;
	struct file *f;
	size_t i;

	if (th->tid != p->pid)
		filelist_text(to, "thread", "%d\n", p->pid);
	to->failed |= th->seen.failed;
	if ((to->why = th->seen.why) != 0)
		strlcpy(to->lost, th->seen.lost, sizeof to->lost);
	for (i = 0; i < th->seen.n; i++) {
		f = &th->seen.file[i];
		filelist_add(to, f->name, f->data, f->len);
		f->data = NULL;
	}
	for (i = 0; i < NITEMS(thread_file); i++)
		filelist_read(to, p->pid, th->tid, thread_file[i]);
	if (th->tid != p->pid)
		return;
	for (i = 0; i < NITEMS(proc_files); i++)
		filelist_read(to, p->mmtid != 0 ? p->mmtid : p->pid, 0,
		    proc_files[i]);
	record_parent(p, t, to);
	record_place(p, to);
	if (p->mmtid == 0)
		return;
	if (t->maps.data != NULL)
		filelist_add(to, "maps", t->maps.data, t->maps.len);
	else
		filelist_read(to, p->mmtid, 0, "maps");
	t->maps.data = NULL;
	filelist_add(to, "smaps", t->smaps.data, t->smaps.len);
	t->smaps.data = NULL;
	for (i = 0; i < NITEMS(proc_links); i++)
		filelist_link(to, p->mmtid, 0, proc_links[i]);
	before = step_begin(&l->steps, STEP_FILES);
	record_open(p, t, to);
	files_record(l, s, p, t, to);
	(void)step_begin(&l->steps, before);
}
