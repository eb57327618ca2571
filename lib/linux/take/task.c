/*
 * Facts from /proc about a stopped thread: as a struct task, and as files of
 * the Linux record.
 */
#include "clock.h"
#include "linux/restore/open/open.h"
#include "linux/stop/stop.h"
#include "state/state.h"
#include "taking.h"

/*
 * Files and links of a process's record that can be read from its clone, which
 * inherits them (kernel/fork.c: copy_mm, copy_signal, copy_creds,
 * copy_namespaces). ownfiles.c has the others.
 */
static const char *const clone_files[] = {
	"cmdline", "environ", "auxv", "coredump_filter", "loginuid",
	"timerslack_ns", "uid_map", "gid_map", "attr/current", "personality"
};
static const char *const clone_links[] = {
	"ns/cgroup", "ns/ipc", "ns/net", "ns/user", "ns/uts"
};

#define NITEMS(v)	(sizeof(v) / sizeof *(v))

/*
 * Return the bits in the coredump_filter file of record l. They select the
 * contents of the process's cores (core(5)).
 */
static unsigned int
record_dumped(const struct filelist *l)
{
	const struct file *f;
	struct scan t;
	uint64_t bits;

	if ((f = filelist_find(l, "coredump_filter")) == NULL)
		return 0;
	t = scan_begin(f->data, f->len);
	return scan_number(&t, 16, &bits) ? (unsigned int)bits : 0;
}

/*
 * Read facts about process p, whose first thread is leader, into p->task.
 * Return 0, or -1 with errstr set.
 */
int
task_read(struct live *l, struct lproc *p, const struct lthread *leader)
{
	struct task *t = &p->task;

	if (proc_stat(p->pid, p->pid, t) == -1)
		return errstr_set("process %d exited", p->pid);
	t->tid = t->pid = p->pid;
	if (leader->state != '\0')
		t->state = leader->state;
	live_user(l, (uid_t)proc_status(p->pid, p->pid, "Uid"), t->user,
	    sizeof t->user);
	if (p->mmtid == 0) {
		mappings_free(p);
		return 0;
	}
	if (p->unopened != NULL)
		live_warn(l, "process %d: some of its open files are "
		    "missing: %s", p->pid, p->unopened);
	return mappings_read(p);
}

/*
 * Fill in t, which is empty, and the record of th, a thread of process p but
 * not its first. Use only files that were read before and during the stop,
 * since th may be running again. Correct its age to what it was when p was
 * recorded. Return false if th had ended before its stat was read. Also return
 * false, after warning the user, if its stat could not be read.
 */
bool
thread_gather(struct live *l, const struct lproc *p, struct lthread *th,
    struct task *t)
{
	const struct file *stat = filelist_find(&th->seen, "stat"),
	    *status = filelist_find(&th->seen, "status");
	uint64_t late;

	if (stat == NULL || task_stat(t, stat->data, stat->len) == -1) {
		if (th->seen.why != 0)
			live_warn(l, "thread %d of process %d is left out: its "
			    "%s could not be read: %s", th->tid, p->pid,
			    th->seen.lost, strerror(th->seen.why));
		return false;
	}
	t->tid = th->tid;
	t->pid = p->pid;
	if (th->state != '\0')
		t->state = th->state;
	late = now_ms() - p->when;
	t->age -= late < t->age ? late : t->age;
	live_user(l, status == NULL ? (uid_t)-1 : (uid_t)status_first(
	    status->data, status->len, "Uid", 10), t->user, sizeof t->user);
	filelist_text(&th->rec, "thread", "%d\n", p->pid);
	regs_general(th, &th->rec);
	filelist_join(&th->rec, &th->seen);
	return true;
}

/*
 * Return the number of nested PID namespaces in which we see the process of
 * record l. Set *num to the process ID in the innermost of these (see
 * pid_namespaces(7)).
 */
static size_t
record_innermost(const struct filelist *l, uint64_t *num)
{
	const struct file *f;

	f = filelist_find(l, "status");
	return f == NULL ? 0 : status_inner(f->data, f->len, "NSpid", num);
}

/*
 * If a process is in a PID namespace other than ours, record the process ID
 * that its parent has in that namespace, or 0 if the parent is outside. t is
 * the task of the process, and l its record.
 */
static void
record_parent(const struct task *t, struct filelist *l)
{
	uint64_t own, parent;
	size_t depth;

	if ((depth = record_innermost(l, &own)) < 2)
		return;
	if (t->ppid == 0 || proc_inner(t->ppid, 0, &parent) != depth)
		parent = 0;
	filelist_text(l, "nsppid", "%" PRIu64 "\n", parent);
}

/*
 * Record the unit, the container, and the pod that the cgroup path of the
 * process of record l names. If the process is in a PID namespace other than
 * ours, also record its process ID in that namespace.
 */
static void
record_place(struct filelist *l)
{
	const struct file *f;
	struct place pl = { 0 };

	if ((f = filelist_find(l, "cgroup")) != NULL)
		place_cgroup(&pl, f->data, f->len);
	if (record_innermost(l, &pl.pid) > 1)
		filelist_text(l, "nspid", "%" PRIu64 "\n", pl.pid);
	if (*pl.unit != '\0')
		filelist_text(l, "unit", "%s\n", pl.unit);
	if (*pl.container != '\0')
		filelist_text(l, "container", "%s\n", pl.container);
	if (*pl.pod != '\0')
		filelist_text(l, "pod", "%s\n", pl.pod);
}

/*
 * Build the Linux record of process p, whose first thread is leader, from what
 * was read already. task_finish() adds the rest.
 */
void
task_record(struct live *l, struct snap *s, struct lproc *p,
    struct lthread *leader)
{
	struct filelist *to = &leader->rec;
	struct task *t = &p->task;
	const struct file *f;
	enum step before;
	uint64_t pid;

	regs_general(leader, to);
	filelist_join(to, &leader->seen);
	filelist_join(to, &p->files);
	record_parent(t, to);
	if (p->mmtid == 0)
		return;
	if (t->maps.data != NULL)
		filelist_add(to, "maps", t->maps.data, t->maps.len);
	else
		filelist_read(to, p->mmtid, 0, "maps");
	t->maps.data = NULL;
	filelist_add(to, "smaps", t->smaps.data, t->smaps.len);
	t->smaps.data = NULL;
	filelist_join(to, &p->links);
	if ((f = filelist_find(to, "cwd")) != NULL)
		t->cwd = strndup((const char *)f->data, f->len);
	mounted_read(l, p);
	sysv_record(l, p, t, to);
	if (record_innermost(to, &pid) > 1 && !l->opts.no_inject &&
	    p->core == NULL)
		mntspace_record(l, p, to);
	before = step_begin(&l->steps, STEP_FILES);
	filelist_join(to, &p->fds);
	files_record(l, s, p, to);
	(void)step_begin(&l->steps, before);
}

/*
 * Add to rec, the record of process p, those files and links that are the same
 * for its clone. Read them from the clone. If p has no clone, read them from p
 * itself, which must be stopped.
 */
void
task_own(const struct lproc *p, struct filelist *rec)
{
	const pid_t pid = p->mmtid != 0 ? p->mmtid : p->pid;
	size_t i;

	for (i = 0; i < NITEMS(clone_files); i++)
		filelist_read(rec, pid, 0, clone_files[i]);
	for (i = 0; p->mmtid != 0 && i < NITEMS(clone_links); i++)
		filelist_link(rec, pid, clone_links[i]);
}

/*
 * Add the last parts to rec, the record of process p, and to its task. Read
 * them from the clone of p. If p has no clone, read them from p itself, which
 * must be stopped. If p is read from the clone of another process, task_own()
 * must have been called before p was released.
 */
void
task_finish(struct live *l, struct lproc *p, struct filelist *rec)
{
	if (p->head == NULL)
		task_own(p, rec);
	record_place(rec);
	p->dumped = record_dumped(rec);
	if (p->mmtid == 0)
		return;
	namespaces_record(l, rec, p);
	if (p->core == NULL)
		cgroups_record(l, rec, &p->cgroup);
	if (p->mounts == NULL)
		return;
	p->task.mounts = *p->mounts;
	filelist_copy(rec, "mountinfo", p->mounts->data, p->mounts->len);
}
