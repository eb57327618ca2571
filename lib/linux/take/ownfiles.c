/*
 * Files of a process's record that are read in /proc during the stop. Any
 * thread of ours may do that, so several threads read several processes at
 * once.
 */
#include "bisect.h"
#include "linux/file/file.h"
#include "linux/restore/open/open.h"
#include "state/state.h"
#include "taking.h"
#include "vec.h"
#include "worker.h"

#include <sys/fanotify.h>

#include <fcntl.h>

/*
 * Files and links that must be read from the process, because its clone
 * differs. A clone has no timers, is made in the namespaces for children, and
 * gets its oom_score_adj and a file size limit from us (clone/clonepair.c).
 * Others may rename the target of a link, or move the clone to another cgroup.
 */
static const char *const files[] = {
	"timers", "oom_score_adj", "cgroup", "limits"
};
static const char *const links[] = {
	"exe", "cwd", "root", "ns/mnt", "ns/pid", "ns/pid_for_children",
	"ns/time", "ns/time_for_children"
};

/*
 * Add descriptor fd to the task of arg, a struct lproc. Add the link and fdinfo
 * of the descriptor to member fds of arg. If the path of its file is too long
 * for the kernel, add no link. Ask no file server, since it may be dead, or
 * stopped by us. Skip a descriptor that no longer exists.
 */
static int
open_read(void *arg, long fd)
{
	struct lproc *p = arg;
	struct task *t = &p->task;
	struct openfile *f;
	struct fdinfo info;
	struct statx sx = { 0 };
	struct bytes b;
	char name[PATH_MAX];

	if (VEC_ROOM(t->open, t->nopen) == -1)
		return -1;
	f = &t->open[t->nopen];
	memset(f, 0, sizeof *f);
	f->fd = (int)fd;
	snprintf(name, sizeof name, "fd/%ld", fd);
	f->path = proc_link(p->mmtid, 0, name);
	if (f->path == NULL && errno == ENAMETOOLONG)
		f->path = strdup("");
	if (f->path == NULL)
		return proc_islost(errno) ? errstr_sys("/proc/%d/%s", p->mmtid,
		    name) : 0;
	t->nopen++;
	if (*f->path == '\0')
		filelist_lose(&p->fds, name);
	else
		filelist_copy(&p->fds, name, f->path, strlen(f->path));
	if (fd_see(p->mmtid, fd, &sx) == 0) {
		f->dev = statx_dev(&sx);
		f->ino = sx.stx_ino;
		f->blksize = sx.stx_blksize;
		f->mode = sx.stx_mode;
	} else
		filelist_lose(&p->fds, name);
	snprintf(name, sizeof name, "fdinfo/%ld", fd);
	if (proc_fdinfo(p->mmtid, f->fd, f->path, sx.stx_mode,
	    sx.stx_rdev_major, &b) == 0) {
		fdinfo_parse(&info, b.data, b.len);
		filelist_add(&p->fds, name, b.data, b.len);
		f->pos = (uint64_t)info.pos;
		f->flags = info.flags;
	} else
		filelist_lose(&p->fds, name);
	return 0;
}

CMP(open_cmp, struct openfile, fd)

/*
 * Read the parts of the record of process p that its clone does not have:
 * files, links, descriptors and maps. All threads of p must stand still.
 */
static void
proc_peek(struct lproc *p)
{
	const pid_t pid = p->mmtid != 0 ? p->mmtid : p->pid;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++)
		filelist_read(&p->files, pid, 0, files[i]);
	if (p->mmtid == 0)
		return;
	for (i = 0; i < sizeof links / sizeof *links; i++)
		filelist_link(&p->links, pid, links[i]);
	if (proc_list(pid, "fd", open_read, p) == -1)
		p->unopened = strdup(snap_errstr());
	SORT(p->task.open, p->task.nopen, open_cmp);
	mappings_peek(p);
}

static void *
peek_work(void *arg)
{
	struct lproc *p;

	while ((p = turns_next(arg)) != NULL)
		proc_peek(p);
	return NULL;
}

/*
 * Return true if info, the fdinfo of a fanotify group, has a mark with
 * permission events (fanotify_mark(2)). If it cannot be read, info is NULL:
 * return true then.
 */
static bool
asks_permission(const struct file *info)
{
	enum { ASKS = FAN_OPEN_PERM | FAN_ACCESS_PERM | FAN_OPEN_EXEC_PERM |
	    0x100000 };		/* FAN_PRE_ACCESS, new in Linux 6.14 */
	struct scan t, line;
	uint64_t mask;
	const char *s;

	if (info == NULL)
		return true;
	t = scan_begin(info->data, info->len);
	while (scan_key(&t, "fanotify ", &line)) {
		s = memmem(line.s, scan_len(&line), " mask:", 6);
		if (s == NULL)
			continue;
		line.s = s + 6;
		if (scan_number(&line, 16, &mask) && mask & ASKS)
			return true;
	}
	return false;
}

/*
 * Return true if process p decides, with fanotify(7), which files may be
 * opened.
 */
static bool
is_judge(const struct lproc *p)
{
	const struct openfile *f;
	char name[32];

	for (f = p->task.open; f < p->task.open + p->task.nopen; f++) {
		if (strcmp(f->path, "anon_inode:[fanotify]") != 0)
			continue;
		snprintf(name, sizeof name, "fdinfo/%d", f->fd);
		if (asks_permission(filelist_find(&p->fds, name)))
			return true;
	}
	return false;
}

/*
 * Read the parts of the records of all processes of set l that their clones do
 * not have. Use up to four threads. If one of the processes decides which files
 * may be opened, open none from now on, and warn the user.
 */
void
procs_peek(struct live *l)
{
	enum { WORKERS = 4 };
	struct lproc *p;
	struct turns t;

	workers_run(turns_begin(l, &t, WORKERS), peek_work, &t);
	if ((p = LSEEK(&l->procs, is_judge(x))) != NULL)
		live_warn(l, "process %d decides which files may be opened "
		    "(fanotify(7)): snap opens none, and saves only resident "
		    "pages of mapped files", p->pid);
	files_refuse(p != NULL);
	spool_inmemory(p != NULL);
	localfs_forget();
}
